"""The spool beside a ring: X.spool beside X.ring (common/FORMAT.md, "The spool"). See read_recording.py.

zstd is not in Python's library before 3.14: libzstd is called through ctypes.
"""
import ctypes
import ctypes.util
import os
import struct
import zlib
from collections import namedtuple

from ring_records import BadRecording

MAGIC, VERSION, CHUNK_MAGIC = b"TTSPOOL\n", 1, b"TTCHUNK\n"
HEADER = struct.Struct("<8sIIQQII3Q")
CHUNK = struct.Struct("<8sQ4QIIIIII")
CRC_AT = CHUNK.size - 4

Chunk = namedtuple("Chunk", "ticket tid clock payload")


def zstd():
    name = ctypes.util.find_library("zstd")
    if name is None:
        raise BadRecording("a spool cannot be read without libzstd: install it, or take the .spool away")
    library = ctypes.CDLL(name)
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    return library


def decompress(library, frame, size):
    """The `size` bytes of one frame; None where it is broken."""
    room = ctypes.create_string_buffer(size + 1)
    return room.raw[:size] if library.ZSTD_decompress(room, size, frame, len(frame)) == size else None


def check_header(data, path, ring):
    if len(data) < HEADER.size or data[:8] != MAGIC:
        raise BadRecording(f"{path}, offset 0: expected the magic {MAGIC!r}, found {bytes(data[:8])!r}")
    _, version, header_bytes, created, start, pid, chunk_bytes, *_ = HEADER.unpack_from(data)
    if version != VERSION:
        raise BadRecording(f"{path}, offset 8: expected version {VERSION}, found {version}; use a newer reader")
    if (created, start, pid) != (ring["created_real_ns"], ring["process_start_ticks"], ring["pid"]):
        raise BadRecording(f"{path}, offset 16: this spool is not of the ring beside it")
    return header_bytes, chunk_bytes


def is_chunk(data, at):
    return data[at:at + 8] == CHUNK_MAGIC and \
        zlib.crc32(data[at:at + CRC_AT]) == int.from_bytes(data[at + CRC_AT:at + CRC_AT + 4], "little")


def chunks(data, at, chunk_bytes, library):
    """All whole chunks from `at` on; what is damaged is passed over."""
    while at + chunk_bytes <= len(data):
        if not is_chunk(data, at):
            at += 8
            continue
        _, ticket, *clock, tid, _, size, stored, _, _ = CHUNK.unpack_from(data, at)
        begin = at + chunk_bytes
        if begin + stored > len(data):
            return
        payload = decompress(library, data[begin:begin + stored], size)
        if payload is not None:
            yield Chunk(ticket, tid, tuple(clock), payload)
        at = begin + (stored + 7) // 8 * 8


def read_spool(ring_path, ring):
    """ticket -> Chunk of the spool beside the ring whose header is `ring`; none where there is no spool."""
    path = os.path.splitext(ring_path)[0] + ".spool"
    if not ring["spool_state"] or not os.path.exists(path):
        return {}
    with open(path, "rb") as file:
        data = file.read()
    if not data:
        return {}
    at, chunk_bytes = check_header(data, path, ring)
    return {chunk.ticket: chunk for chunk in chunks(data, at, chunk_bytes, zstd())}
