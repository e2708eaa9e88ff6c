#!/usr/bin/env python3
"""Reads a Perfetto trace (.pftrace, .pftrace.gz) by Perfetto's public protos alone, and refuses what breaks their rules.

    pftrace.py TRACE [--json | --text]

Checked: every packet is well formed; a sequence begins with "first packet" and "state cleared"; what a packet interns
is defined in it or before it on its sequence, and once; times on a sequence never go back; every track is described
once, before it is used, beneath a parent that is there, and has its name; each slice has a begin and an end, in the
right order (an end closes the slice that was opened last); GPU work never overlaps on a track; an arrow's id is on
exactly two slices. Standard library only (zstd packets: the `zstd` program); shares no code with the exporter.
"""
import argparse
import collections
import gzip
import json
import re
import struct
import subprocess
import sys
import zlib

REALTIME, SEQUENCE_CLOCK = 1, 64
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
GPU_WORK = {"kernel", "gpu_memcpy", "gpu_memset", "cuda_graph", "Kernel", "Memcpy", "Memset"}


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


class Track:
    def __init__(self, descriptor):
        self.uuid = descriptor.get(1, 0)
        self.parent = descriptor.get(5)
        self.name = text(descriptor.get(2, b""))
        self.order = descriptor.get(12, 0)
        self.process = message(descriptor[3]) if 3 in descriptor else None
        self.thread = message(descriptor[4]) if 4 in descriptor else None
        self.counter = message(descriptor[8]) if 8 in descriptor else None
        self.used = False


class Slice:
    __slots__ = ("track", "name", "category", "start", "end", "args", "flows", "gpu")

    def __init__(self, track, name, category, start, args):
        self.track, self.name, self.category, self.start, self.args = track, name, category, start, args
        self.end = None
        self.flows = []
        self.gpu = None  # of a render stage: number of the GPU, name of the queue

    @property
    def duration(self):
        return self.end - self.start


class Sequence:
    def __init__(self):
        self.clear()
        self.now = None
        self.open = []
        self.track = None
        self.clock = None
        self.offset = 0

    def clear(self):
        self.interned = collections.defaultdict(dict)

    def look_up(self, field, iid):
        try:
            return self.interned[field][iid]
        except KeyError:
            raise Broken(f"iid {iid} of interned field {field} is used before it is defined") from None


class Trace:
    # What interned data defines: field -> how its entry is kept.
    PLAIN = {1, 2, 3, 29, 1001}  # {iid = 1, text = 2}
    STRUCTURED = {23, 24, 1000}

    def __init__(self):
        self.tracks, self.sequences = {}, {}
        self.slices, self.instants, self.counters = [], [], []
        self.attributes, self.gpus = {}, []
        self.flows = collections.defaultdict(list)        # id -> slices
        self.submissions = collections.defaultdict(list)  # id -> launches that name render stages
        self.stages = collections.defaultdict(list)       # id -> render stages
        self.primary_clock = None
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

    def packets_of(self, data):
        self.bytes += len(data)
        for field, packet in fields(data):
            if field != 1:
                raise Broken(f"field {field} at the top level of the trace")
            self.packets += 1
            try:
                self.packet(packet)
            except (Broken, KeyError, IndexError, UnicodeDecodeError, struct.error, zlib.error) as error:
                raise Broken(f"packet {self.packets}: {type(error).__name__}: {error}") from error

    def packet(self, data):
        p = message(data)
        if 50 in p or 133 in p:
            self.compressed_chunks += 1
            return self.packets_of(zlib.decompress(p[50]) if 50 in p else unzstd(p[133]))
        sequence = self.sequence(p)
        if 6 in p:
            self.clocks(p[6], sequence)
        if 59 in p:
            self.defaults(p[59], sequence)
        if 12 in p:
            self.intern(p[12], sequence)
        if 11 in p:
            self.track_event(p[11], self.time(p, sequence), sequence)
        elif 53 in p:
            self.render_stage(p[53], self.time(p, sequence), sequence)
        elif 60 in p:
            self.describe(p[60])
        elif 126 in p:
            self.attributes.update(self.attribute(v) for _, v in fields(p[126]))
        elif 128 in p:
            self.gpus += [{k: text(v) for k, v in fields(gpu)} for _, gpu in fields(p[128])]
        elif 6 not in p:
            raise Broken(f"a packet of unknown content: fields {sorted(p)}")

    @staticmethod
    def attribute(data):
        entry = message(data)
        return text(entry[1]), text(entry[3]) if 3 in entry else signed(entry[2])

    def sequence(self, p):
        number = p.get(10, 0)
        if number == 0:
            raise Broken("no sequence")
        first = number not in self.sequences
        if first != bool(p.get(87)):
            raise Broken(f"sequence {number}: the first packet is not marked, or another one is")
        if first and not p.get(13, 0) & 1:
            raise Broken(f"sequence {number} does not begin with cleared state")
        if first:
            self.sequences[number] = Sequence()
        elif p.get(13, 0) & 1:
            self.sequences[number].clear()
        return self.sequences[number]

    def clocks(self, data, sequence):
        wall = None
        for field, value in fields(data):
            if field == 2:
                self.primary_clock = value
                continue
            clock = message(value)
            if clock[1] == REALTIME:
                wall = clock[2]
            elif clock[1] == SEQUENCE_CLOCK:
                if not clock.get(3):
                    raise Broken("the sequence's clock does not count on")
                sequence.now = clock[2]
            else:
                raise Broken(f"clock {clock[1]}")
        if wall is None:
            raise Broken("a clock snapshot without the wall clock")
        sequence.offset = wall - (sequence.now or 0)

    @staticmethod
    def defaults(data, sequence):
        d = message(data)
        sequence.clock = d.get(58)
        if 11 in d:
            sequence.track = message(d[11])[11]

    @staticmethod
    def time(p, sequence):
        clock = p.get(58, sequence.clock)
        if clock != SEQUENCE_CLOCK or sequence.now is None:
            raise Broken(f"a time on clock {clock}")
        if p[8] >> 63:
            raise Broken("time goes back")
        sequence.now += p[8]
        return sequence.now + sequence.offset

    def intern(self, data, sequence):
        for field, value in fields(data):
            entry = message(value)
            known = sequence.interned[field]
            if field not in self.PLAIN | self.STRUCTURED:
                raise Broken(f"interned field {field}")
            if entry[1] in known:
                raise Broken(f"iid {entry[1]} of interned field {field} is defined twice")
            known[entry[1]] = text(entry.get(2, b"")) if field in self.PLAIN else entry

    def describe(self, data):
        track = Track(message(data))
        if track.uuid in self.tracks:
            raise Broken(f"track {track.uuid} is described twice")
        if track.parent is not None and track.parent not in self.tracks:
            raise Broken(f"track {track.uuid}: no parent {track.parent}")
        if track.uuid and not track.name:
            raise Broken(f"track {track.uuid} has no name")
        self.tracks[track.uuid] = track

    def track_event(self, data, time, sequence):
        name = kind = value = None
        uuid, categories, flows, args, submissions = sequence.track, [], [], {}, []
        for field, v in fields(data):
            if field == 9:
                kind = v
            elif field == 3:
                categories.append(sequence.look_up(1, v))
            elif field == 10:
                name = sequence.look_up(2, v)
            elif field == 23:
                name = text(v)
            elif field == 4:
                key, argument = self.annotation(v, sequence)
                args[key] = argument
            elif field == 47:
                flows.append(number_of(v))
            elif field == 30:
                value = signed(v)
            elif field == 44:
                value = real(v)
            elif field == 3000:
                submissions = [i for f, i in fields(v) if f == 1]
            else:
                raise Broken(f"track event field {field}")
        track = self.tracks[uuid]
        track.used = True
        if (kind == COUNTER) != (track.counter is not None):
            raise Broken(f"event type {kind} on track {track.name!r}")
        if kind == BEGIN:
            made = Slice(track, name, "/".join(categories), time, args)
            if name is None or not categories:
                raise Broken("a slice without name or category")
            self.slices.append(made)
            sequence.open.append(made)
            self.connect(made, flows, submissions)
        elif kind == END:
            if not sequence.open:
                raise Broken(f"an end without a begin on track {track.name!r}")
            made = sequence.open.pop()
            made.end = time
            self.connect(made, flows, submissions)
        elif kind == INSTANT:
            self.instants.append((track, name, time, args))
        elif kind == COUNTER and value is not None:
            self.counters.append((track, time, value))
        else:
            raise Broken(f"track event of type {kind}, value {value}")

    def connect(self, made, flows, submissions):
        made.flows += flows
        for flow in flows:
            self.flows[flow].append(made)
        for submission in submissions:
            self.submissions[submission].append(made)

    def annotation(self, data, sequence):
        key = value = None
        for field, v in fields(data):
            if field == 1:
                key = sequence.look_up(3, v)
            elif field == 10:
                key = text(v)
            elif field == 2:
                value = bool(v)
            elif field == 3:
                value = v
            elif field == 4:
                value = signed(v)
            elif field == 5:
                value = real(v)
            elif field == 6:
                value = text(v)
            elif field == 17:
                value = sequence.look_up(29, v)
            else:
                raise Broken(f"annotation field {field}")
        if key is None or value is None:
            raise Broken("an annotation without name or value")
        return key, value

    def render_stage(self, data, time, sequence):
        stage = message(data)
        queue, what = sequence.look_up(24, stage[13]), sequence.look_up(24, stage[14])
        context = sequence.look_up(23, stage[5])
        name = sequence.look_up(2, stage[20])
        if 19 in stage and text(sequence.look_up(1000, stage[19])[2]) != name:
            raise Broken("the kernel has another name than its stage")
        made = Slice(None, name, text(what[2]), time, self.launch(stage.get(21, b""), sequence))
        made.end = time + stage.get(2, 0)
        made.gpu = (stage.get(11, 0), text(queue[2]), signed(context[2]))
        if made.gpu[0] >= len(self.gpus):
            raise Broken(f"GPU {made.gpu[0]} is not described")
        self.slices.append(made)
        self.stages[stage[1]].append(made)

    def launch(self, data, sequence):
        args = {}
        for field, v in fields(data):
            if field in (1, 2):
                args[("", "grid size", "workgroup size")[field]] = [d for _, d in sorted(fields(v))]
                continue
            argument = message(v)
            key = sequence.look_up(1001, argument[1]) if 1 in argument else text(argument[2])
            value = next((decode(argument[f]) for f, decode in (
                (3, signed), (4, int), (5, real), (6, text), (7, lambda i: sequence.look_up(29, i)))
                if f in argument), None)
            if value is None:
                raise Broken(f"argument {key!r} without a value")
            args[key] = value
        return args

    def finish(self):
        for number, sequence in self.sequences.items():
            if sequence.open:
                raise Broken(f"sequence {number}: {len(sequence.open)} slices are never ended")
        if self.primary_clock != REALTIME:
            raise Broken("the time of the trace is not the wall clock")
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


def unzstd(data):
    result = subprocess.run(["zstd", "-dcq"], input=data, capture_output=True)
    if result.returncode != 0:
        raise Broken(f"zstd: {result.stderr.decode()}")
    return result.stdout


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
