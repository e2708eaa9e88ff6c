"""Reads a merged file by its description alone (docs/ttrace.md), with nothing of tracetool's."""
import collections
import ctypes
import ctypes.util
import struct

EVENTS, KINDS, STRINGS, PROCESSES, TRACKS, CLOCKS, INDEX, LAUNCHES, CAPTURES, STEPS, SHAPES = range(1, 12)
SCHEMA = 16
SPECIAL, NUMBER, SIGNED, REAL32, REAL64, DIFFERENCE, STRING, ID = range(8)
SLOTS = 1024
SHAPE_SLOTS = 256


def zstd():
    library = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    return library


def inflate(library, packed, size):
    out = ctypes.create_string_buffer(max(size, 1))
    got = library.ZSTD_decompress(out, size, packed, len(packed))
    assert got == size, (got, size)
    return out.raw[:size]


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def varint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            if byte < 128:
                return value & (1 << 64) - 1
            shift += 7

    def signed(self):
        return unzigzag(self.varint())

    def take(self, size):
        self.at += size
        return self.data[self.at - size:self.at]

    def ended(self):
        return self.at == len(self.data)


def unzigzag(value):
    return value >> 1 ^ -(value & 1)


def wrapped(value):
    """As a signed number of 64 bits."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value


def slot_of(before):
    """Of a hole, by the text before it."""
    value = 2166136261
    for byte in (before.rsplit(b'"', 2)[1] if before.count(b'"') >= 2 else b""):
        value = (value ^ byte) * 16777619 & 0xffffffff
    return value % SHAPE_SLOTS


class Shape:
    def __init__(self, text):
        self.parts = text.split(b"\1")
        self.slots = [slot_of(b"\1".join(self.parts[:n])) for n in range(1, len(self.parts))]

    def together(self, integers):
        return self.parts[0] + b"".join(b"%d" % n + part for n, part in zip(integers, self.parts[1:]))


Described = collections.namedtuple("Described", "of payload name encoding list")
IndexEntry = collections.namedtuple("IndexEntry", "offset first_ns last_ns first_launch_ns late_launch_ns kinds process sort "
                                    "kind count raw stored")


class MergedFile:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        self.zstd = zstd()
        magic, version, self.begin, features, _ = struct.unpack_from("<8sIIQQ", self.bytes)
        assert magic == b"TTRACE\r\n" and version == 9 and features == 0, (magic, version, features)
        index_at, size, self.count, end = struct.unpack_from("<QQQ8s", self.bytes, len(self.bytes) - 32)
        assert end == b"TTRACEEN" and size == len(self.bytes), (end, size)
        kind, entries, _, _ = struct.unpack_from("<IIII", self.bytes, index_at)
        assert kind == INDEX
        raw = self.chunk(index_at)
        self.index = [IndexEntry._make(struct.unpack_from("<QqqqqQIIIIII", raw, 72 * i)) for i in range(entries)]
        self.kinds = [entry.decode() for entry in self.entries(KINDS)]
        self.strings = [entry.decode("utf-8", "surrogateescape") for entry in self.entries(STRINGS)]
        self.columns = [each for each in map(self.described, self.entries(SCHEMA)) if each.of == EVENTS]
        self.shapes = [Shape(entry) for entry in self.entries(SHAPES)]
        self.tracks = [self.track(entry) for entry in self.entries(TRACKS)]

    def chunk(self, at):
        _, _, raw, stored = struct.unpack_from("<IIII", self.bytes, at)
        return inflate(self.zstd, self.bytes[at + 16:at + 16 + stored], raw)

    def entries(self, kind):
        for entry in self.index:
            if entry.kind != kind:
                continue
            data = Bytes(self.chunk(entry.offset))
            for _ in range(entry.count):
                yield data.take(data.varint())
            assert data.ended()

    @staticmethod
    def described(entry):
        data = Bytes(entry)
        of, payload = data.signed(), data.signed()
        name = data.take(data.signed()).decode()
        return Described(of, payload, name, data.signed(), data.signed())

    @staticmethod
    def track(entry):
        data = Bytes(entry)
        process, kind, group, number = (data.signed() for _ in range(4))
        return {"process": process, "kind": ("thread", "stream", "other")[kind], "group": group, "id": number}

    def events(self):
        """Of each chunk of events, in the order of the file: (its entry in the index, its events)."""
        for entry in self.index:
            if entry.kind == EVENTS:
                yield entry, self.decoded(self.chunk(entry.offset), entry.count)

    def decoded(self, raw, count):
        data = Bytes(raw)
        assert struct.unpack("<I", data.take(4))[0] == len(self.columns) + SHAPE_SLOTS, "the number of columns"
        sizes = [(data.varint(), data.varint()) for _ in range(data.varint())]
        columns = {number: Bytes(data.take(size)) for number, size in sizes}
        assert data.ended()
        column = lambda number: columns.setdefault(number, Bytes(b""))
        common = {each.name: column(number) for number, each in enumerate(self.columns) if each.payload == 0}
        integers = [[column(len(self.columns) + slot), 0, False] for slot in range(SHAPE_SLOTS)]  # column, last, whether it follows
        start, last, slots, texts, lasts, events = 0, 0, [0] * SLOTS, [], {}, []
        for _ in range(count):
            start = wrapped(start + common["start"].signed())
            event = {"start_ns": start, "duration_ns": wrapped(common["duration"].varint() - 1)}
            event["track"] = common["track"].varint()
            slot = event["track"] % SLOTS
            slots[slot] = (slots[slot] + common["correlation"].signed()) & (1 << 64) - 1
            event["correlation"] = slots[slot]
            event["name"] = self.strings[common["name"].varint()]
            event["category"] = self.strings[common["category"].varint()]
            event["kind"] = self.kinds[common["kind"].take(1)[0]]
            event["phase"] = chr(common["phase"].take(1)[0])
            event["flags"] = common["flags"].take(1)[0]
            event["bytes"] = common["bytes"].varint() if event["flags"] & 1 else None
            tag = common["payload"].take(1)[0]
            event["payload"] = self.payload(tag, column, lasts) if tag else {}
            reference = common["args"].varint()
            if reference == 1:
                texts.append(common["text"].take(common["text_bytes"].varint()))
            if reference > 1 and reference % 2:
                shape = self.shapes[(reference - 3) // 2]
                event["args"] = shape.together([self.integer(integers[slot], event["correlation"]) for slot in shape.slots])
            else:
                event["args"] = b"" if reference == 0 else texts[-1 if reference == 1 else (reference - 2) // 2]
            events.append(event)
        assert all(c.ended() for c in columns.values()), "a column holds more than its events"
        return events

    @staticmethod
    def integer(slot, correlation):
        column, last, follows = slot
        value = (correlation if follows else last) + column.signed() & (1 << 64) - 1
        slot[1:] = value, value == correlation != 0
        return wrapped(value)

    def payload(self, tag, column, lasts):
        fields = {}
        for number, described in enumerate(self.columns):
            if described.payload != tag:
                continue
            value = column(number).varint()
            if described.encoding == DIFFERENCE:
                value = lasts[number] = (lasts.get(number, 0) + unzigzag(value)) & (1 << 64) - 1
            elif described.encoding == STRING:
                value = self.strings[value]
            elif described.encoding == SIGNED:
                value = unzigzag(value)
            elif described.encoding == REAL32:
                value = struct.unpack("<f", struct.pack("<I", value))[0]
            elif described.encoding == REAL64:
                value = struct.unpack("<d", struct.pack("<Q", value))[0]
            fields[described.name] = value
        return fields
