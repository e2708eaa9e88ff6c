"""The records of a recording and what they mean: the second half of common/FORMAT.md. See read_recording.py."""
import struct
from collections import Counter, namedtuple

from ring_definitions import DEFINED, UNKNOWN_ORDINAL, Shape

NONE_REF, LOCAL_REF = 0xFFFFFFFF, 0x80000000
KINDS = ("kernel", "kernel_wide", "memcpy", "memcpy_peer", "memset", "runtime", "driver", "runtime_wide", "driver_wide",
         "nvtx_push", "nvtx_pop", "nvtx_start", "nvtx_end", "nvtx_mark", "nccl_call", "clock", "sync", "overhead",
         "graph_launch", "memory", "memory_pool", "notice", "cuda_event", "operator_begin", "operator_end",
         "stack", "garbage_collection", "allocator")  # 16, 17, ...
NOTICES = {1: "gap", 2: "fatal", 3: "reduced_to_light", 4: "source_on", 5: "clock_changed", 6: "graphs_unknown",
           7: "spool_ended", 8: "stalled", 9: "reduced_to_steps", 10: "hang", 11: "torch_unknown"}
ALLOCATOR_ACTIONS = {1: "allocate", 2: "release", 3: "fail"}
STACK_REASONS = {1: "call", 2: "hang", 3: "nccl_call"}

# Events. `kind` is one of KINDS, `block` an index in Recording.blocks; `end` is None where it was not seen. `payload`
# is a number, or None where there is none.
Kernel = namedtuple("Kernel", "kind block start end device context stream correlation shape graph graph_node")
Memcpy = namedtuple("Memcpy", "kind block start end device context stream correlation copy_kind flags bytes "
                              "src_memory dst_memory graph graph_node")
MemcpyPeer = namedtuple("MemcpyPeer", Memcpy._fields + ("src_device", "src_context", "dst_device", "dst_context"))
Memset = namedtuple("Memset", "kind block start end device context stream correlation memory flags bytes value "
                              "graph graph_node")
Api = namedtuple("Api", "kind block start end tid correlation cbid name return_value")
Push = namedtuple("Push", "kind block time tid name domain color_argb category payload_type payload")
Pop = namedtuple("Pop", "kind block time tid domain")
Start = namedtuple("Start", Push._fields + ("range_id",))
End = namedtuple("End", "kind block time tid range_id")
Mark = namedtuple("Mark", Push._fields)
Nccl = namedtuple("Nccl", "kind block time tid name domain nccl_class communicator bytes ordinal epoch reduction_op "
                          "peer data_type count stream")
ClockRead = namedtuple("ClockRead", "kind block cupti_ns mono_ns real_ns uncertainty_ns")
Sync = namedtuple("Sync", "kind block start end type correlation context stream event return_value "
                          "event_sync_id")
CudaEvent = namedtuple("CudaEvent", "kind block correlation context stream event event_sync_id")
Overhead = namedtuple("Overhead", "kind block start end overhead object tid device context stream correlation")
GraphLaunch = namedtuple("GraphLaunch", "kind block start end device context stream correlation graph")
Memory = namedtuple("Memory", "kind block start end operation memory correlation address bytes device context stream "
                              "is_async pool_address")
MemoryPool = namedtuple("MemoryPool", "kind block start end operation pool correlation address bytes used_bytes "
                                      "release_threshold_bytes device")
OperatorBegin = namedtuple("OperatorBegin", "kind block time tid scope name id thread forward_thread sequence inputs stack")
OperatorEnd = namedtuple("OperatorEnd", "kind block time tid id")
Stack = namedtuple("Stack", "kind block time tid reason correlation frames")
GarbageCollection = namedtuple("GarbageCollection", "kind block time end tid generation collected uncollectable")
Allocator = namedtuple("Allocator", "kind block time tid action device_type device address bytes allocated_bytes reserved_bytes "
                                    "stream stack")
Notice = namedtuple("Notice", "kind block time end code value text")


class BadRecording(Exception):
    """The file is not a readable recording; the text says where, what was expected and what to do."""


class Records:
    """A run of records (the definitions region or one block's payload) and what its references point to."""

    def __init__(self, data, where, region=None):
        self.data, self.where, self.region = data, where, region
        self.api, self.threads, self.identities, self.devices = {}, {}, [], {}
        self.contexts, self.streams, self.resource_names, self.categories = {}, {}, [], {}
        self.communicators, self.graph_nodes, self.frames, self.module_names, self.objects = [], {}, {}, [], []
        self.strings, self.shapes = {}, {}

    def bad(self, offset, expected):
        return BadRecording(f"{self.where}, record at {offset} of {len(self.data)}: {expected}; "
                            "the file is damaged: take another copy of it")

    def target(self, ref, at):
        """The Records and offset that a reference points to; `at` is the offset of the record that holds it."""
        offset = (ref & ~LOCAL_REF) * 8
        if ref & LOCAL_REF and self.region is not None:
            if offset >= at:
                raise self.bad(at, f"expected a reference to an earlier record, not to offset {offset}")
            return self, offset
        home = self.region or self
        if ref & LOCAL_REF or offset + 16 > len(home.data):
            raise self.bad(at, f"expected a reference into the {len(home.data)} bytes of definitions, found {ref:#x}")
        return home, offset

    def string(self, ref, at):
        if ref == NONE_REF:
            return None
        home, offset = self.target(ref, at)
        found = home.strings.get(offset)
        return found if found is not None else home.string_at(offset)

    def string_at(self, offset):
        self.strings[offset] = self.bytes_at(offset).decode("utf-8", "backslashreplace")
        return self.strings[offset]

    def bytes(self, ref, at):
        home, offset = (None, None) if ref == NONE_REF else self.target(ref, at)
        return None if home is None else home.bytes_at(offset)

    def bytes_at(self, offset):
        kind, _, _, size, length, _ = struct.unpack_from("<BBHIII", self.data, offset)
        if kind != 1 or size < 16 or length > size - 16 or offset + size > len(self.data):
            raise self.bad(offset, "expected a string here")
        return self.data[offset + 16:offset + 16 + length]

    def shape(self, ref, at):
        if ref == NONE_REF:
            return None
        home, offset = self.target(ref, at)
        found = home.shapes.get(offset)
        return found if found is not None else home.shape_at(offset)

    def shape_at(self, offset):
        if self.data[offset] != 2 or offset + 40 > len(self.data):
            raise self.bad(offset, "expected a launch shape here")
        _, _, registers, name, *numbers = fields(SHAPE, self.data, offset, self.data[offset + 1] * 8)
        value = Shape(self.string(name, offset), tuple(numbers[:3]), tuple(numbers[3:6]), registers, *numbers[6:10],
                      tuple(numbers[10:]))
        self.shapes[offset] = value
        return value

    def define(self, kind, at, size):
        """Takes in a definition; what is referred to by offset is only checked."""
        if kind == 1:
            self.string_at(at)
        elif kind == 2:
            self.shape_at(at)
        else:
            layout, take = DEFINITIONS[kind]
            take(self, at, fields(layout, self.data, at, size))

    def api_name(self, kind, cbid):
        key = (21 if kind in (21, 23) else 22, cbid)
        return self.api.get(key) or self.region.api.get(key)


def fields(layout, data, at, size):
    """The fields of a record of `size` bytes. What a shorter one does not have is 0."""
    if size >= layout.size:
        return layout.unpack_from(data, at)
    return layout.unpack(data[at:at + size].ljust(layout.size, b"\0"))


def kernel(r, b, at, f):
    return Kernel("kernel", b, f[4], f[4] + f[5], f[2], f[8], f[7], f[3], r.shape(f[6], at), 0, 0)


def kernel_wide(r, b, at, f):
    return Kernel("kernel_wide", b, f[4], f[5] or None, f[9], f[8], f[7], f[3], r.shape(f[6], at), f[11], f[10])


def memcpy(r, b, at, f):
    return Memcpy("memcpy", b, f[5], f[6] or None, f[10], f[9], f[8], f[4], f[2], f[3], f[7], f[11], f[12], f[15],
                  f[14])


def memcpy_peer(r, b, at, f):
    return MemcpyPeer("memcpy_peer", b, f[5], f[6] or None, f[10], f[9], f[8], f[4], f[2], f[3], f[7], f[15], f[16],
                      f[19], f[18], f[11], f[12], f[13], f[14])


def memset(r, b, at, f):
    return Memset("memset", b, f[5], f[6] or None, f[11], f[10], f[9], f[4], f[2], f[3], f[7], f[8], f[13], f[12])


def api(r, b, at, f):
    return Api(KINDS[f[0] - 16], b, f[4], f[4] + f[5], f[6], f[3], f[2], r.api_name(f[0], f[2]), 0)


def api_wide(r, b, at, f):
    return Api(KINDS[f[0] - 16], b, f[4], f[5] or None, f[7], f[3], f[6], r.api_name(f[0], f[6]), f[8])


PAYLOADS = {1: "<Q", 2: "<q", 3: "<d", 4: "<I4x", 5: "<i4x", 6: "<f4x"}


def payload(payload_type, raw):
    layout = PAYLOADS.get(payload_type)
    return struct.unpack(layout, raw)[0] if layout else None


def push(r, b, at, f):
    return Push("nvtx_push", b, f[5], f[4], r.string(f[6], at), r.string(f[7], at), f[8], f[9], f[2],
                payload(f[2], f[10]))


def pop(r, b, at, f):
    return Pop("nvtx_pop", b, f[4], f[3], r.string(f[5], at))


def start(r, b, at, f):
    return Start("nvtx_start", b, f[5], f[4], r.string(f[6], at), r.string(f[7], at), f[8], f[9], f[2],
                 payload(f[2], f[11]), f[10])


def end(r, b, at, f):
    return End("nvtx_end", b, f[4], f[3], f[5])


def mark(r, b, at, f):
    return Mark("nvtx_mark", b, f[5], f[4], r.string(f[6], at), r.string(f[7], at), f[8], f[9], f[2],
                payload(f[2], f[10]))


def nccl_call(r, b, at, f):
    has = f[3]
    return Nccl("nccl_call", b, f[5], f[4], r.string(f[6], at), r.string(f[7], at), f[2], f[8] if has & 1 else None,
                f[9] if has & 2 else None, None if f[10] == UNKNOWN_ORDINAL else f[10], f[11],
                f[12] if has & 4 else None, f[13] if has & 8 else None, f[14] if has & 16 else None,
                f[15] if has & 16 else None, f[16] if has & 32 else None)


def operator_begin(r, b, at, f):
    return OperatorBegin("operator_begin", b, f[5], f[4], f[2], r.string(f[6], at), f[7], f[8], f[9] if f[3] & 2 else None,
                         f[10] if f[3] & 1 else None, inputs(r.bytes(f[11], at)), stack(r, r.bytes(f[12], at)))


def stack(r, data):
    """Frames, the innermost first; None: unknown."""
    region = (r.region or r).frames
    return None if data is None else [(r.frames[ref & ~LOCAL_REF] if ref & LOCAL_REF else region[ref]) for ref, in struct.iter_unpack("<I", data)]


def stack_of_thread(r, b, at, f):
    return Stack("stack", b, f[7], f[4], STACK_REASONS.get(f[2], f[2]), f[5] or None, stack(r, r.bytes(f[6], at)))


def garbage_collection(r, b, at, f):
    return GarbageCollection("garbage_collection", b, f[5], f[6], f[4], f[2], *f[7:])


def allocator(r, b, at, f):
    unknown = 2**64 - 1
    return Allocator("allocator", b, f[5], f[4], ALLOCATOR_ACTIONS.get(f[2], f[2]), f[3], f[11], None if f[6] == unknown else f[6], *f[7:10],
                     None if f[10] == unknown else f[10], stack(r, r.bytes(f[12], at)))


def operator_end(r, b, at, f):
    return OperatorEnd("operator_end", b, f[4], f[3], f[5])


def inputs(data):
    """[(kind, type, value)] of an operator's inputs; the value is (sizes, strides or None: contiguous) of a tensor. None: unknown."""
    found, at = [], 0

    def words(count, letter="q"):
        nonlocal at
        at += 8 * count
        return struct.unpack_from(f"<{count}{letter}", data, at - 8 * count)

    def one():
        nonlocal at
        kind, type_, contiguous, _, count = struct.unpack_from("<BBBBI", data, at)
        at += 8
        if kind == 1:
            return "tensor", type_, (words(count), None if contiguous else words(count))
        if kind == 2:
            return "tensors", None, [one() for _ in range(count)]
        if kind in (3, 4):
            return ("integer", None, words(1)[0]) if kind == 3 else ("real", None, words(1, "d")[0])
        if kind == 6:
            values = words(count, "d" if type_ == 2 else "q")
            return "numbers", None, tuple(map(bool, values)) if type_ == 1 else values
        return {0: "none", 5: "boolean"}.get(kind, "other"), None, bool(count) if kind == 5 else None

    while data is not None and at < len(data):
        found.append(one())
    return None if data is None else found


def clock(r, b, at, f):
    return ClockRead("clock", b, f[4], f[5], f[6], f[3])


def sync(r, b, at, f):
    return Sync("sync", b, f[5], f[6] or None, f[2], f[4], f[7], f[8], f[9], f[10], f[11])


def cuda_event(r, b, at, f):
    return CudaEvent("cuda_event", b, f[3], f[4], f[5], f[6], f[8])


def overhead(r, b, at, f):
    return Overhead("overhead", b, f[4], f[5] or None, f[3], f[2], *f[6:11])


def graph_launch(r, b, at, f):
    return GraphLaunch("graph_launch", b, f[4], f[5] or None, f[6], f[7], f[8], f[3], f[9])


def memory(r, b, at, f):
    return Memory("memory", b, f[5], f[5], f[2], f[3], f[4], *f[6:])


def memory_pool(r, b, at, f):
    return MemoryPool("memory_pool", b, f[5], f[5], f[2], f[3], f[4], *f[6:11])


def notice(r, b, at, f):
    return Notice("notice", b, f[5], f[6] or None, NOTICES.get(f[2], f[2]), f[4], r.string(f[7], at))


# Per kind of event: the layout (kind and size first), what makes it, and the fewest bytes that it can have, where that
# is less than the layout: the fields behind were appended.
MADE = {16: ("BBHIQIIII", kernel, 0), 17: ("BBHIQQIIIIQII", kernel_wide, 0), 18: ("BBBBIQQQIIIBBHQII", memcpy, 0),
        19: ("BBBBIQQQIIIIIIIBBHQII", memcpy_peer, 0), 20: ("BBBBIQQQIIIIQII", memset, 0), 21: ("BBHIQII", api, 0),
        22: ("BBHIQII", api, 0), 23: ("BBHIQQIIII", api_wide, 0), 24: ("BBHIQQIIII", api_wide, 0),
        25: ("BBBBIQIIII8s", push, 32), 26: ("BBHIQII", pop, 0), 27: ("BBBBIQIIIIQ8s", start, 40),
        28: ("BBHIQQ", end, 0), 29: ("BBBBIQIIII8s", mark, 32), 30: ("BBBBIQIIQQQIIIIQQ", nccl_call, 64),
        31: ("BBHIQQQ", clock, 0), 32: ("BBBBIQQIIIIQ", sync, 40), 33: ("BBHIQQIIIIII", overhead, 0),
        34: ("BBHIQQIIII", graph_launch, 0), 35: ("BBBBIQQQIIIIQ", memory, 0),
        36: ("BBBBIQQQQQII", memory_pool, 0), 37: ("BBBBIQQII", notice, 0),
        38: ("BBHIIIIIQ", cuda_event, 0), 39: ("BBBBIQIIIIQII", operator_begin, 0), 40: ("BBHIQII", operator_end, 0),
        41: ("BBBBIIIQ", stack_of_thread, 0), 42: ("BBBBIQQII", garbage_collection, 0),
        43: ("BBBBIQQQQQQiI", allocator, 0)}
DEFINITIONS = {kind: (struct.Struct("<" + layout), take) for kind, (layout, take, _) in DEFINED.items()}
EVENTS = {kind: (struct.Struct("<" + layout), make) for kind, (layout, make, _) in MADE.items()}
MINIMUM = {kind: fewest or struct.calcsize("<" + layout) for kind, (layout, _, fewest) in {**DEFINED, **MADE}.items()}
SHAPE = struct.Struct("<BBHI8IIB3x3I4x")  # of 40 bytes before what local memory, kind of launch and cluster say
MINIMUM.update({1: 16, 2: 40})


def walk(records, events, block):
    """Reads all records of `records` in order, appending what is an event (of block number `block`) to `events`."""
    data, at, end_of_data, unknown = records.data, 0, len(records.data), Counter()
    while at + 8 <= end_of_data:
        kind, size = data[at], data[at + 1] * 8
        if kind == 0:
            break
        if size == 0:
            size = int.from_bytes(data[at + 4:at + 8], "little")
            if size < 8 or size % 8:
                raise records.bad(at, f"expected a size of a multiple of 8 and at least 8, found {size}")
        if at + size > end_of_data or size < MINIMUM.get(kind, 8):
            raise records.bad(at, f"expected a record of kind {kind} that fits, found {size} bytes")
        found = EVENTS.get(kind)
        if found is not None:
            events.append(found[1](records, block, at, fields(found[0], data, at, size)))
        elif kind in MINIMUM:
            records.define(kind, at, size)
        else:
            unknown[kind] += 1
        at += size
    return unknown
