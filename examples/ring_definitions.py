"""The definitions of a recording (kinds 1 to 15 of common/FORMAT.md): what events refer to, and what describes the
process. See ring_records.py."""
from collections import namedtuple

UNKNOWN_ORDINAL = 2**64 - 1
RESOURCES = {1: "device", 2: "context", 3: "stream", 4: "event", 5: "thread"}

Shape = namedtuple("Shape", "name grid block registers_per_thread static_shared_bytes dynamic_shared_bytes "
                            "local_bytes_per_thread launch_type cluster")
Identity = namedtuple("Identity", "source rank local_rank world_size device communicator time_mono_ns")
Device = namedtuple("Device", "device name memory_bytes multiprocessors compute_major compute_minor pci_bus_id uuid "
                              "memory_bandwidth_kbps core_clock_khz l2_bytes threads_per_warp max_threads_per_block "
                              "max_warps_per_multiprocessor max_blocks_per_multiprocessor max_registers_per_block "
                              "max_registers_per_multiprocessor max_shared_bytes_per_block "
                              "max_shared_bytes_per_multiprocessor copy_engines")
Context = namedtuple("Context", "context device null_stream")
Stream = namedtuple("Stream", "context stream flag priority")
ResourceName = namedtuple("ResourceName", "resource name id context handle")
Category = namedtuple("Category", "domain category name")
Communicator = namedtuple("Communicator", "communicator rank ranks device parent color key epoch time_mono_ns")
Frame = namedtuple("Frame", "what name file line instance")
Object = namedtuple("Object", "path build_id")  # in hex; None: unknown
ModuleName = namedtuple("ModuleName", "name instance root")
GraphNode = namedtuple("GraphNode", "node captured_node range domain nccl_name nccl_class communicator bytes ordinal "
                                    "epoch reduction_op peer tid")


def text(raw):
    return raw.split(b"\0", 1)[0].decode("utf-8", "backslashreplace")


def define_api(r, at, f):
    r.api[f[2], f[4]] = text(f[5])


def define_thread(r, at, f):
    r.threads[f[3]] = text(f[4])


def define_identity(r, at, f):
    r.identities.append(Identity(f[2], *f[4:8], *f[9:]))


def define_device(r, at, f):
    r.devices[f[3]] = Device(f[3], text(f[9]), *f[4:8], text(f[10]), f[11], *f[12:24])


def define_context(r, at, f):
    r.contexts[f[3]] = Context(f[3], f[4], f[2])


def define_stream(r, at, f):
    r.streams[f[3], f[4]] = Stream(f[3], f[4], f[2], f[5])


def define_resource_name(r, at, f):
    r.resource_names.append(ResourceName(RESOURCES.get(f[2], f[2]), r.string(f[4], at), *f[5:]))


def define_category(r, at, f):
    domain = r.string(f[3], at)
    r.categories[domain, f[4]] = Category(domain, f[4], r.string(f[5], at))


def define_communicator(r, at, f):
    r.communicators.append(Communicator(f[6], *f[3:6], *f[7:11], f[12]))


def define_graph_node(r, at, f):
    if f[6]:  # a clone: only the two numbers are set
        r.graph_nodes[f[5]] = GraphNode(f[5], f[6], *[None] * 11)
        return
    has, known = f[3], f[2] != 0
    r.graph_nodes[f[5]] = GraphNode(
        f[5], f[6], r.string(f[7], at), r.string(f[8], at), r.string(f[9], at) if known else None, f[2],
        f[11] if has & 1 else None, f[12] if has & 2 else None,
        f[13] if known and f[13] != UNKNOWN_ORDINAL else None, f[4], f[10] if has & 4 else None,
        f[14] if has & 8 else None, f[15])


def define_frame(r, at, f):
    r.frames[at // 8] = Frame({1: "python", 2: "module", 3: "native"}.get(f[2], f[2]), r.string(f[5], at), r.string(f[6], at), f[4], f[7])


def define_object(r, at, f):
    r.objects.append(Object(r.string(f[4], at), f[5][:f[2]].hex() if f[2] else None))


def define_module_name(r, at, f):
    r.module_names.append(ModuleName(r.string(f[3], at) or "", f[4], f[5]))


# Per kind: the layout (kind and size first), what takes it in, and the fewest bytes that it can have, where that is
# less than the layout.
DEFINED = {3: ("BBBBI64s", define_api, 0), 4: ("BBHI16s", define_thread, 0), 5: ("BBBB5iQQ", define_identity, 0),
           6: ("BBHIQ4I64s16s16sQ12I", define_device, 96), 7: ("BBHIII", define_context, 0),
           8: ("BBHIIi", define_stream, 0), 9: ("BBBBIIIQ", define_resource_name, 0),
           10: ("BBHIII", define_category, 0), 11: ("BBHiiiQQiiIIQ", define_communicator, 0),
           12: ("BBBBIQQIIIIQQQII", define_graph_node, 24), 13: ("BBBBiIIQ", define_frame, 0),
            14: ("BBHIQQ", define_module_name, 0), 15: ("BBBBI32s", define_object, 0)}
