#!/usr/bin/env python3
"""Reads a Perfetto trace (.pftrace, .pftrace.gz) by Perfetto's public protos alone, and refuses what breaks their rules.

    pftrace.py TRACE [--json | --text]

Checked: every packet is well formed; the wall clock is the time of the trace, and BOOTTIME is related to it; a
sequence begins with "first packet" and "state cleared"; what a packet interns is defined in it or before it on its
sequence, and once; times on a sequence never go back; every track is described once, before it is used, beneath a
parent that is there, and has its name; each slice has a begin and an end, in the right order (an end closes the slice
that was opened last); GPU work never overlaps on a track; an arrow's id is on exactly two slices.
Standard library only (zstd packets: the `zstd` program); shares no code with the exporter.
"""
import argparse
import collections
import gzip
import json
import re
import sys

from pftrace_packets import REALTIME, Packets
from pftrace_parts import Slice
from pftrace_wire import Broken

GPU_WORK = {"kernel", "gpu_memcpy", "gpu_memset", "cuda_graph", "Kernel", "Memcpy", "Memset"}


COLLECTIVES = 1 << 63  # from here on ids of flows are those between ranks


class Trace(Packets):
    def __init__(self):
        self.tracks, self.sequences = {}, {}
        self.slices, self.instants, self.counters = [], [], []
        self.attributes, self.gpus = {}, []
        self.flows = collections.defaultdict(list)        # id -> slices
        self.submissions = collections.defaultdict(list)  # id -> launches that name render stages
        self.stages = collections.defaultdict(list)       # id -> render stages
        self.primary_clock = None
        self.related = False  # BOOTTIME, which Perfetto asks for, is the wall clock
        self.packets = self.compressed_chunks = 0
        self.bytes = 0

    def read(self, path):
        with open(path, "rb") as file:
            data = file.read()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        self.packets_of(data)
        self.finish()
        return self

    def finish(self):
        for number, sequence in self.sequences.items():
            if sequence.open:
                raise Broken(f"sequence {number}: {len(sequence.open)} slices are never ended")
        if self.primary_clock != REALTIME:
            raise Broken("the time of the trace is not the wall clock")
        if not self.related:
            raise Broken("nothing relates BOOTTIME to the time of the trace")
        for identity, slices in self.flows.items():
            if len(slices) != 2 and not (len(slices) == 1 and identity in self.submissions):
                raise Broken(f"arrow {identity} is on {len(slices)} slices")
        self.check_gpu_work()

    def check_gpu_work(self):
        last = {}
        for s in self.slices:
            if s.gpu is not None or s.category not in GPU_WORK:
                continue
            if s.track.uuid in last and last[s.track.uuid].end > s.start:
                raise Broken(f"GPU work overlaps on {s.track.name!r}: {s.name!r}")
            last[s.track.uuid] = s

    def process_of(self, item):
        """The process track above a track, or of a render stage's process."""
        if isinstance(item, Slice) and item.gpu is not None:
            return next(t for t in self.tracks.values() if t.process and t.process[1] == item.gpu[2])
        track = item.track if isinstance(item, Slice) else item
        while track.process is None:
            track = self.tracks[track.parent]
        return track

    def rank_of(self, item):
        found = re.match(r"rank (\d+)\b", self.process_of(item).name)
        return int(found[1]) if found else None

    def arrows(self):
        """Pairs of slices, the one that starts first in front."""
        pairs = [tuple(sorted(s, key=lambda x: x.start)) for s in self.flows.values() if len(s) == 2]
        for identity, stages in self.stages.items():
            pairs += [(launch, stage) for launch in self.submissions.get(identity, ()) for stage in stages]
        return pairs

    def between_ranks(self):
        """How many of the pairs are of collectives."""
        return sum(identity >= COLLECTIVES and len(s) == 2 for identity, s in self.flows.items())

    def where(self, item):
        if isinstance(item, Slice) and item.gpu is not None:
            return f"GPU {item.gpu[0]} / {item.gpu[1]}"
        track, names = item.track if isinstance(item, Slice) else item, []
        while track is not None:
            names.append(track.name)
            track = self.tracks.get(track.parent) if track.parent is not None else None
        return " / ".join(reversed(names))

    def summary(self):
        return {"packets": self.packets, "chunks": self.compressed_chunks, "sequences": len(self.sequences),
                "tracks": len(self.tracks), "slices": len(self.slices), "instants": len(self.instants),
                "counters": len(self.counters), "arrows": len(self.arrows()), "gpus": len(self.gpus),
                "categories": dict(sorted(collections.Counter(s.category for s in self.slices).items()))}


def as_text(trace):
    """Everything, one line each, for people and for golden files."""
    origin = min([s.start for s in trace.slices] + [i[2] for i in trace.instants] + [c[1] for c in trace.counters] + [1 << 62])
    numbers = {id(s): n for n, s in enumerate(trace.slices)}
    for key, value in sorted(trace.attributes.items()):
        yield f"attribute {key}: {value}"
    for track in trace.tracks.values():
        if track.uuid:
            kind = "process" if track.process else "thread" if track.thread else "counter" if track.counter else "row"
            ids = track.process or track.thread or {}
            yield f"{kind} {trace.where(track)}" + "".join(f" {n}" for n in list(ids.values())[:2] if isinstance(n, int))
    for n, s in enumerate(trace.slices):
        yield f"{n}: {s.start - origin}+{s.duration} {trace.where(s)}: {s.category} {s.name} {json.dumps(s.args)}"
    for track, name, time, args in trace.instants:
        yield f"at {time - origin} {trace.where(track)}: {name} {json.dumps(args)}"
    for track, time, value in trace.counters:
        yield f"at {time - origin} {trace.where(track)} = {value}"
    for a, b in trace.arrows():
        yield f"arrow {numbers[id(a)]} -> {numbers[id(b)]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("trace")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--text", action="store_true")
    options = parser.parse_args()
    try:
        trace = Trace().read(options.trace)
    except (Broken, OSError) as error:
        sys.exit(f"{options.trace}: {error}")
    if options.text:
        print("\n".join(as_text(trace)))
    else:
        print(json.dumps(trace.summary(), indent=None if options.json else 2))


if __name__ == "__main__":
    main()
