"""Protocol buffers on the wire, and what a reader of Perfetto traces refuses. Standard library only."""
import struct


class Broken(Exception):
    pass


def varint(data, at):
    result = shift = 0
    while True:
        byte = data[at]
        at += 1
        result |= (byte & 127) << shift
        if byte < 128:
            return result, at
        shift += 7
        if shift > 63:
            raise Broken("a varint of more than ten bytes")


def fields(data, at=0, end=None):
    """Pairs of a field's number and its value: an integer, eight bytes or a piece of `data`."""
    end = len(data) if end is None else end
    while at < end:
        tag = data[at]
        at += 1
        if tag > 127:
            tag, at = varint(data, at - 1)
        kind = tag & 7
        if kind == 0:
            value = data[at]
            at += 1
            if value > 127:
                value, at = varint(data, at - 1)
        elif kind == 2:
            size = data[at]
            at += 1
            if size > 127:
                size, at = varint(data, at - 1)
            value = data[at:at + size]
            at += size
        elif kind == 1:
            value = data[at:at + 8]
            at += 8
        else:
            raise Broken(f"wire type {kind}")
        if at > end:
            raise Broken("a field that reaches beyond its message")
        yield tag >> 3, value


def message(data):
    """Field number -> the last value. For messages without repeated fields."""
    return dict(fields(data))


def text(data):
    return data.decode("utf-8")  # strict: strings in protobuf are UTF-8


def signed(value):
    return value - (1 << 64) if value >> 63 else value


def real(data):
    return struct.unpack("<d", data)[0]


def number_of(data):
    return struct.unpack("<Q", data)[0]
