#!/usr/bin/env python3
"""Reads tracetool's *.ring files, and the *.spool beside them: a second reader, written from common/FORMAT.md alone, in
plain Python (3.9 or newer).

As a module:   recording = read_recording.read("x.ring"); for event in recording.events: ...
As a program:  read_recording.py [--json] FILE...    prints a summary of each file

Exit: 0 all files read, 1 usage, 2 a file could not be opened, 3 a file is not a readable recording. What a record
holds is in ring_records.py; this file is about the file, its blocks and its losses.
"""
import argparse
import bisect
import fcntl
import json
import mmap
import os
import struct
import sys
import time
from collections import Counter, namedtuple

import spool
from ring_definitions import text
from ring_records import KINDS, BadRecording, Records, walk

MAGIC, VERSION, KNOWN_FEATURES = b"TTRING\r\n", 2, 0
STATES = ("off", "on", "failed", "taken")

HEADER = struct.Struct("<8sIIQQQQQQQIIQQII64s40s64s256s32s256s64s4Q7QIiII32Q4Q128s256s2QIi5Q")
HEADER_FIELDS = ("magic version header_bytes features file_bytes definitions_offset definitions_bytes blocks_offset "
                 "block_bytes block_count block_header_bytes pid process_start_ticks created_real_ns cupti_version "
                 "cuda_driver_version host boot_id run_id program agent_version cupti_path cupti_holder").split()
CLOSED_AT = 928
COPIED_AGAIN_NS = 900_000_000_000
COUNTER_FIELDS = ("definitions_used heartbeat_real_ns closed_real_ns claimed_blocks cupti_dropped unknown_activities "
                  "definitions_missed cupti_state cupti_error nvtx_state nccl_version").split()
LAST_FIELDS = ("truncated_names discarded_buffers agent_cpu_ns spooled_ticket events local_path copied_real_ns spooled_bytes "
               "spool_state spool_error invalid_timestamps stacks_left_out operators_without_stack module_names_missed removed_runs").split()
EVENT_KINDS = 32
SPOOLED = -1  # index of a block that only the spool has
BLOCK = struct.Struct("<4Q2I4Q7Q64Q")

Clock = namedtuple("Clock", "cupti_ns mono_ns real_ns uncertainty_ns")
Block = namedtuple("Block", "index ticket tid generation clock first_event event_count")


class Recording:
    """One file: header (dict), state, blocks, events and what is missing from them. Times are as recorded."""

    def __init__(self, path):
        self.path, self.header, self.blocks, self.events = path, {}, [], []
        self.kept, self.overwritten, self.lost, self.unknown = Counter(), Counter(), Counter(), Counter()
        self.held = []  # ticket by block of the ring; 0: never used
        self.blocks_skipped = 0  # changed, or were being replaced, while they were read
        self.identity, self.identities, self.devices, self.threads, self.clocks = {}, [], {}, {}, []
        self.contexts, self.streams, self.resource_names, self.categories = {}, {}, [], {}
        self.communicators, self.graph_nodes, self.module_names, self.objects = [], {}, [], []

    def captured(self, graph_node):
        """The GraphNode that says what was open when a node was captured, through its clones; None: unknown."""
        for _ in self.graph_nodes:  # never more steps than nodes: a damaged file may lead in a circle
            found = self.graph_nodes.get(graph_node)
            if found is None or not found.captured_node:
                return found
            graph_node = found.captured_node
        return None

    def awaited(self, sync):
        """The CudaEvent that a Sync with an event waits for; None: unknown (overwritten, or before the recording)."""
        if not hasattr(self, "_recorded"):
            self._recorded = [event for event in self.events if event.kind == "cuda_event"]
            self._by_sync_id = {event.event_sync_id: event for event in self._recorded if event.event_sync_id}
            self._by_event = {}
            for event in self._recorded:
                self._by_event.setdefault((event.context, event.event), []).append(event)
        if self._by_sync_id:
            return self._by_sync_id.get(sync.event_sync_id)
        if self.lost["cuda_event"] or self.dropped or self.header["discarded_buffers"]:
            return None
        # Correlations are numbers of 32 bits that begin again at 0.
        before = {(sync.correlation - event.correlation) % 2**32: event
                  for event in self._by_event.get((sync.context, sync.event), ())}
        nearest = min(before, default=2**31)
        return before[nearest] if 0 < nearest < 2**31 else None

    @property
    def dropped(self):
        return self.header["cupti_dropped"]

    def wall(self, time, of="cupti_ns"):
        """Wall clock of a time in CUPTI's clock, or with of="mono_ns" in CLOCK_MONOTONIC; None where it is unknown."""
        if not hasattr(self, "_samples"):
            self._samples = {clock: sorted((getattr(s, clock), s.real_ns - getattr(s, clock)) for s in self.clocks
                                           if getattr(s, clock)) for clock in ("cupti_ns", "mono_ns")}
        samples = self._samples[of]
        if time is None or not samples:
            return None
        at = bisect.bisect(samples, (time, 0))
        return time + min(samples[max(0, at - 1):at + 1], key=lambda sample: abs(sample[0] - time))[1]

    def event_wall(self, event):
        """(start, end) of an event on the wall clock, each None where there is none: what cudaEventRecord records has no time."""
        if event.kind == "clock":
            return event.real_ns, None
        if hasattr(event, "start"):
            return self.wall(event.start), self.wall(event.end)
        if not hasattr(event, "time"):
            return None, None
        return self.wall(event.time, "mono_ns"), self.wall(getattr(event, "end", None), "mono_ns")


def is_locked(file):
    """Whether another open file description holds a write lock on the file."""
    query = struct.pack("hhqqi4x", fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)
    try:
        return struct.unpack("hhqqi4x", fcntl.fcntl(file, fcntl.F_OFD_GETLK, query))[0] == fcntl.F_WRLCK
    except OSError:
        return False


def state_of(file, header):
    if header["closed_real_ns"]:
        return "clean"
    if is_locked(file):
        return "live"
    if any(os.pread(file.fileno(), 8, CLOSED_AT)):  # it ended while we looked
        return "clean"
    try:
        with open("/proc/sys/kernel/random/boot_id") as boot_id:
            if boot_id.read().strip() != header["boot_id"]:
                return "unknown"
            return state_elsewhere(header) if header["copied_real_ns"] else "recovered"
    except OSError:
        return "unknown"


def state_elsewhere(header):
    """Of a copy: the lock is where the ring lies."""
    try:
        with open(header["local_path"], "rb") as ring:
            return "live" if is_locked(ring) else "recovered"
    except OSError:
        return "unknown" if time.time_ns() - header["copied_real_ns"] < COPIED_AGAIN_NS else "recovered"


def read_header(data, path):
    if len(data) < HEADER.size:
        raise BadRecording(f"{path}: expected a header of {HEADER.size} bytes, the file has {len(data)}; "
                           "it was cut short")
    fields = HEADER.unpack_from(data)
    if fields[0] != MAGIC:
        raise BadRecording(f"{path}, offset 0: expected the magic {MAGIC!r}, found {fields[0]!r}; "
                           + ("the recording was never finished being made" if not any(fields[0]) else
                              "this is not a tracetool recording"))
    if fields[1] != VERSION:
        raise BadRecording(f"{path}, offset 8: expected version {VERSION}, found {fields[1]}; use a newer reader")
    if fields[3] & ~KNOWN_FEATURES:
        raise BadRecording(f"{path}, offset 16: unknown feature bits {fields[3]:#x}; use a newer reader")
    header = {name: text(value) if isinstance(value, bytes) else value for name, value in zip(HEADER_FIELDS, fields)}
    header["created_clock"] = Clock(*fields[23:27])
    header.update(zip(COUNTER_FIELDS, fields[27:38]))
    header["lost"] = fields[38:38 + EVENT_KINDS]
    header.update(zip(LAST_FIELDS, (text(value) if isinstance(value, bytes) else value
                                    for value in fields[38 + EVENT_KINDS:])))
    check_layout(header, len(data), path)
    return header


def check_layout(h, length, path):
    ends = h["blocks_offset"] + h["block_count"] * h["block_bytes"]
    for holds, offset, expected in (
            (h["file_bytes"] == length, 24, f"a file of {h['file_bytes']} bytes, this one has {length}"),
            (HEADER.size <= h["header_bytes"] <= h["definitions_offset"], 12,
             f"{HEADER.size} bytes of header or more"),
            (h["definitions_offset"] + h["definitions_bytes"] <= h["blocks_offset"], 40, "the blocks behind the rest"),
            (h["definitions_used"] <= h["definitions_bytes"], 912, f"at most {h['definitions_bytes']} bytes used"),
            (BLOCK.size <= h["block_header_bytes"] <= h["block_bytes"], 72, "blocks larger than their headers"),
            (h["block_count"] > 0 and ends <= length, 64, f"blocks that end within {length} bytes, not at {ends}")):
        if not holds:
            raise BadRecording(f"{path}, offset {offset}: expected {expected}; the file is cut short or damaged")


def read_block(data, index, header, path):
    """(BlockHeader fields, payload or None when it cannot be had, the counts of its past contents)."""
    at = header["blocks_offset"] + index * header["block_bytes"]
    fields = BLOCK.unpack_from(data, at)
    payload, room = None, header["block_bytes"] - header["block_header_bytes"]
    if fields[1] and fields[1] % 2 == 0:
        if fields[2] > room:
            raise BadRecording(f"{path}, offset {at + 16}: expected at most {room} committed bytes, found {fields[2]}; "
                               "the file is damaged: take another copy of it")
        begin = at + header["block_header_bytes"]
        payload = data[begin:begin + fields[2]]
        again = BLOCK.unpack_from(data, at)
        if again[1] != fields[1]:
            fields, payload = again, None
    copy = 17 + (fields[1] + 1) // 2 % 2 * EVENT_KINDS
    return fields, payload, fields[copy:copy + EVENT_KINDS]


def read_blocks(data, recording):
    read = []
    for index in range(recording.header["block_count"]):
        fields, payload, overwritten = read_block(data, index, recording.header, recording.path)
        recording.overwritten.update({kind: count for kind, count in zip(KINDS, overwritten) if count})
        recording.held.append(fields[3] if fields[1] else 0)
        if payload is not None:
            read.append((fields[3], index, fields, payload))
        elif fields[1]:
            recording.blocks_skipped += 1
    return sorted(read, key=lambda block: block[:2])


def with_spool(blocks, chunks):
    """The blocks of the ring and those of the spool that the ring has no longer, or not whole, by ticket."""
    from_ring = {ticket: (ticket, index, fields, payload) for ticket, index, fields, payload in blocks}
    for ticket, chunk in chunks.items():
        has = from_ring.get(ticket)
        if has is None or len(has[3]) < len(chunk.payload):
            index = has[1] if has else SPOOLED
            fields = (0, 0, len(chunk.payload), ticket, chunk.tid, 0) + chunk.clock
            from_ring[ticket] = (ticket, index, fields, chunk.payload)
    return [from_ring[ticket] for ticket in sorted(from_ring)]


def read(path):
    """The Recording in the file `path`. Raises BadRecording, or OSError when it cannot be opened."""
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            raise BadRecording(f"{path}: the file is empty; the recording was never finished being made")
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            recording = Recording(path)
            recording.header = read_header(data, path)
            chunks = spool.read_spool(path, recording.header)
            blocks = with_spool(read_blocks(data, recording), chunks)
            recording.header = read_header(data, path)  # again: what the blocks refer to was defined by now
            recording.state = state_of(file, recording.header)
            begin = recording.header["definitions_offset"]
            region = Records(data[begin:begin + recording.header["definitions_used"]], f"{path}, definitions")
    fill(recording, region, blocks)
    return recording


def fill(recording, region, blocks):
    recording.clocks.append(recording.header["created_clock"])
    recording.unknown += walk(region, [], -1)
    parts = [region]
    for number, (ticket, index, fields, payload) in enumerate(blocks):
        records, first, sample = Records(payload, f"{recording.path}, block {index}", region), len(recording.events), \
            Clock(*fields[6:10])
        recording.unknown += walk(records, recording.events, number)
        if index == SPOOLED and recording.held[ticket % len(recording.held)] >= ticket:  # else it came after this copy
            recording.overwritten -= Counter(event.kind for event in recording.events[first:])
        recording.blocks.append(Block(index, ticket, fields[4], fields[1], sample, first,
                                      len(recording.events) - first))
        recording.clocks.append(sample)
        parts.append(records)
    recording.kept.update(event.kind for event in recording.events)
    recording.lost.update({kind: count for kind, count in zip(KINDS, recording.header["lost"]) if count})
    recording.clocks += [Clock(e.cupti_ns, e.mono_ns, e.real_ns, e.uncertainty_ns) for e in recording.events
                         if e.kind == "clock"]
    for part in parts:
        for name in ("threads", "devices", "contexts", "streams", "categories", "graph_nodes"):
            getattr(recording, name).update(getattr(part, name))
        for name in ("identities", "resource_names", "communicators", "module_names", "objects"):
            setattr(recording, name, getattr(recording, name) + getattr(part, name))
    for name in ("rank", "local_rank", "world_size", "device"):
        known = [getattr(identity, name) for identity in recording.identities if getattr(identity, name) != -1]
        recording.identity[name] = known[-1] if known else None


def summary(recording):
    header = recording.header
    walls = [recording.event_wall(event) for event in recording.events if event.kind != "clock"]
    starts = [start for start, _ in walls if start is not None]
    ends = [end if end is not None else start for start, end in walls if start is not None]
    return {
        "file": recording.path, "state": recording.state, "host": header["host"], "boot_id": header["boot_id"],
        "pid": header["pid"], "run_id": header["run_id"], "program": header["program"],
        "agent_version": header["agent_version"], **recording.identity,
        "communicators": sorted({i.communicator for i in recording.identities if i.communicator}),
        "cupti": STATES[header["cupti_state"]] if header["cupti_state"] < len(STATES) else header["cupti_state"],
        "cupti_error": header["cupti_error"], "counts": dict(recording.kept),
        "overwritten": dict(recording.overwritten), "lost": dict(recording.lost),
        "recorded": dict(recording.kept + recording.overwritten + recording.lost), "cupti_dropped": recording.dropped,
        "unknown_activities": header["unknown_activities"], "unknown_kinds": dict(recording.unknown),
        "blocks": len(recording.blocks), "blocks_skipped": recording.blocks_skipped,
        "first_ns": min(starts, default=None), "last_ns": max(ends, default=None),
    }


def print_summary(s):
    span = "no events" if s["first_ns"] is None else f"{(s['last_ns'] - s['first_ns']) / 1e9:.3f} s of events"
    print(f"{s['file']}: {s['state']}, rank {s['rank']} of {s['world_size']}, pid {s['pid']} on {s['host']}, "
          f"{s['program']}, {span}, {s['blocks']} blocks")
    for kind in KINDS:
        if s["recorded"].get(kind):
            print(f"  {kind:12} {s['counts'].get(kind, 0):9} kept {s['overwritten'].get(kind, 0):9} overwritten "
                  f"{s['lost'].get(kind, 0):6} lost {s['recorded'][kind]:9} in all")
    for key in ("cupti_dropped", "unknown_activities", "unknown_kinds", "blocks_skipped"):
        if s[key]:
            print(f"  {key}: {s[key]}")


def main():
    parser = argparse.ArgumentParser(description="Prints what is in tracetool's *.ring files.")
    parser.add_argument("--json", action="store_true", help="print JSON: {\"recordings\": [...]}")
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.error = lambda message: (print(f"read_recording: {message}", file=sys.stderr), sys.exit(1))
    options, summaries, worst = parser.parse_args(), [], 0
    for path in options.files:
        try:
            summaries.append(summary(read(path)))
        except BadRecording as error:
            print(f"read_recording: {error}", file=sys.stderr)
            worst = max(worst, 3)
        except OSError as error:
            print(f"read_recording: {path}: {error.strerror}", file=sys.stderr)
            worst = max(worst, 2)
    if options.json:
        print(json.dumps({"recordings": summaries}, indent=2))
    else:
        for each in summaries:
            print_summary(each)
    return worst


if __name__ == "__main__":
    sys.exit(main())
