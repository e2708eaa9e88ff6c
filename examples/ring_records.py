"""The records of a recording and what they mean: the second half of common/FORMAT.md. See read_recording.py."""
import struct
from collections import Counter, namedtuple

NONE_REF, LOCAL_REF = 0xFFFFFFFF, 0x80000000
UNKNOWN_ORDINAL = 2**64 - 1
KINDS = ("kernel", "kernel_wide", "memcpy", "memcpy_peer", "memset", "runtime", "driver", "runtime_wide", "driver_wide",
         "nvtx_push", "nvtx_pop", "nvtx_start", "nvtx_end", "nvtx_mark", "nccl_call", "clock")  # 16, 17, ...

Shape = namedtuple("Shape", "name grid block registers_per_thread static_shared_bytes dynamic_shared_bytes")
Identity = namedtuple("Identity", "source rank local_rank world_size device communicator time_mono_ns")
Device = namedtuple("Device", "device name memory_bytes multiprocessors compute_major compute_minor")

# Events. `kind` is one of KINDS, `block` an index in Recording.blocks; `end` is None where it was not seen.
Kernel = namedtuple("Kernel", "kind block start end device context stream correlation shape graph graph_node")
Memcpy = namedtuple("Memcpy", "kind block start end device context stream correlation copy_kind flags bytes "
                              "src_memory dst_memory graph graph_node")
MemcpyPeer = namedtuple("MemcpyPeer", Memcpy._fields + ("src_device", "src_context", "dst_device", "dst_context"))
Memset = namedtuple("Memset", "kind block start end device context stream correlation memory flags bytes value "
                              "graph graph_node")
Api = namedtuple("Api", "kind block start end tid correlation cbid name return_value")
Push = namedtuple("Push", "kind block time tid name domain color_argb category")
Pop = namedtuple("Pop", "kind block time tid domain")
Start = namedtuple("Start", Push._fields + ("range_id",))
End = namedtuple("End", "kind block time tid range_id")
Mark = namedtuple("Mark", Push._fields)
Nccl = namedtuple("Nccl", "kind block time tid name domain nccl_class communicator bytes ordinal epoch reduction_op "
                          "peer")
ClockRead = namedtuple("ClockRead", "kind block cupti_ns mono_ns real_ns bracket_ns")


class BadRecording(Exception):
    """The file is not a readable recording; the text says where, what was expected and what to do."""


def text(raw):
    return raw.split(b"\0", 1)[0].decode("utf-8", "backslashreplace")


class Records:
    """A run of records (the definitions region or one block's payload) and what its references point to."""

    def __init__(self, data, where, region=None):
        self.data, self.where, self.region = data, where, region
        self.api, self.threads, self.identities, self.devices = {}, {}, [], {}
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
        kind, _, _, size, length, _ = struct.unpack_from("<BBHIII", self.data, offset)
        if kind != 1 or size < 16 or length > size - 16 or offset + size > len(self.data):
            raise self.bad(offset, "expected a string here")
        value = self.data[offset + 16:offset + 16 + length].decode("utf-8", "backslashreplace")
        self.strings[offset] = value
        return value

    def shape(self, ref, at):
        if ref == NONE_REF:
            return None
        home, offset = self.target(ref, at)
        found = home.shapes.get(offset)
        return found if found is not None else home.shape_at(offset)

    def shape_at(self, offset):
        if self.data[offset] != 2 or offset + 40 > len(self.data):
            raise self.bad(offset, "expected a launch shape here")
        registers, name, *numbers = struct.unpack_from("<HI8I", self.data, offset + 2)
        value = Shape(self.string(name, offset), tuple(numbers[:3]), tuple(numbers[3:6]), registers, *numbers[6:])
        self.shapes[offset] = value
        return value

    def define(self, kind, at):
        """Takes in a definition; what is referred to by offset is only checked."""
        data = self.data
        if kind == 1:
            self.string_at(at)
        elif kind == 2:
            self.shape_at(at)
        elif kind == 3:
            domain, _, cbid, name = struct.unpack_from("<BBI64s", data, at + 2)
            self.api[domain, cbid] = text(name)
        elif kind == 4:
            tid, name = struct.unpack_from("<I16s", data, at + 4)
            self.threads[tid] = text(name)
        elif kind == 5:
            source, _, rank, local, world, device, _, communicator, time = struct.unpack_from("<BB5iQQ", data, at + 2)
            self.identities.append(Identity(source, rank, local, world, device, communicator, time))
        elif kind == 6:
            device, memory, count, major, minor, _, name = struct.unpack_from("<IQ4I64s", data, at + 4)
            self.devices[device] = Device(device, text(name), memory, count, major, minor)

    def api_name(self, kind, cbid):
        key = (21 if kind in (21, 23) else 22, cbid)
        return self.api.get(key) or self.region.api.get(key)


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


def push(r, b, at, f):
    return Push("nvtx_push", b, f[4], f[3], r.string(f[5], at), r.string(f[6], at), f[7], f[8])


def pop(r, b, at, f):
    return Pop("nvtx_pop", b, f[4], f[3], r.string(f[5], at))


def start(r, b, at, f):
    return Start("nvtx_start", b, f[4], f[3], r.string(f[5], at), r.string(f[6], at), f[7], f[8], f[9])


def end(r, b, at, f):
    return End("nvtx_end", b, f[4], f[3], f[5])


def mark(r, b, at, f):
    return Mark("nvtx_mark", b, f[4], f[3], r.string(f[5], at), r.string(f[6], at), f[7], f[8])


def nccl_call(r, b, at, f):
    has = f[3]
    return Nccl("nccl_call", b, f[5], f[4], r.string(f[6], at), r.string(f[7], at), f[2], f[8] if has & 1 else None,
                f[9] if has & 2 else None, None if f[10] == UNKNOWN_ORDINAL else f[10], f[11],
                f[12] if has & 4 else None, f[13] if has & 8 else None)


def clock(r, b, at, f):
    return ClockRead("clock", b, f[4], f[5], f[6], f[3])


# Per event kind: the layout (kind and size first) and what makes the event of it.
LAYOUTS = {16: ("BBHIQIIII", kernel), 17: ("BBHIQQIIIIQII", kernel_wide), 18: ("BBBBIQQQIIIBBHQII", memcpy),
           19: ("BBBBIQQQIIIIIIIBBHQII", memcpy_peer), 20: ("BBBBIQQQIIIIQII", memset), 21: ("BBHIQII", api),
           22: ("BBHIQII", api), 23: ("BBHIQQIIII", api_wide), 24: ("BBHIQQIIII", api_wide), 25: ("BBHIQIIII", push),
           26: ("BBHIQII", pop), 27: ("BBHIQIIIIQ", start), 28: ("BBHIQQ", end), 29: ("BBHIQIIII", mark),
           30: ("BBBBIQIIQQQIIII", nccl_call), 31: ("BBHIQQQ", clock)}
EVENTS = {kind: (struct.Struct("<" + layout), make) for kind, (layout, make) in LAYOUTS.items()}
MINIMUM = {**{kind: layout.size for kind, (layout, _) in EVENTS.items()}, 1: 16, 2: 40, 3: 72, 4: 24, 5: 40, 6: 96}


def walk(records, events, block):
    """Reads all records of `records` in order, appending what is an event (of block number `block`) to `events`."""
    data, at, end_of_data, unknown = records.data, 0, len(records.data), Counter()
    while at + 8 <= end_of_data:
        kind, size = data[at], data[at + 1] * 8
        if kind == 0:
            break
        if size == 0:
            size = int.from_bytes(data[at + 4:at + 8], "little")
            if size < 16 or size % 8:
                raise records.bad(at, f"expected a size of a multiple of 8 and at least 16, found {size}")
        if at + size > end_of_data or size < MINIMUM.get(kind, 8):
            raise records.bad(at, f"expected a record of kind {kind} that fits, found {size} bytes")
        found = EVENTS.get(kind)
        if found is not None:
            events.append(found[1](records, block, at, found[0].unpack_from(data, at)))
        elif kind in MINIMUM:
            records.define(kind, at)
        else:
            unknown[kind] += 1
        at += size
    return unknown
