"""The packets of Perfetto's native form: sequences, clocks, interned data, tracks."""
import struct
import subprocess
import zlib

from pftrace_events import Events
from pftrace_parts import Sequence, Track
from pftrace_wire import Broken, fields, message, signed, text

REALTIME, BOOTTIME, SEQUENCE_CLOCK = 1, 6, 64


def unzstd(data):
    result = subprocess.run(["zstd", "-dcq"], input=data, capture_output=True)
    if result.returncode != 0:
        raise Broken(f"zstd: {result.stderr.decode()}")
    return result.stdout


class Packets(Events):
    # What interned data defines: field -> how its entry is kept.
    PLAIN = {1, 2, 3, 29, 1001}  # {iid = 1, text = 2}
    STRUCTURED = {23, 24, 1000}

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
        wall = boot = None
        for field, value in fields(data):
            if field == 2:
                self.primary_clock = value
                continue
            clock = message(value)
            if clock[1] == REALTIME:
                wall = clock[2]
            elif clock[1] == BOOTTIME:
                boot = clock[2]
            elif clock[1] == SEQUENCE_CLOCK:
                if not clock.get(3):
                    raise Broken("the sequence's clock does not count on")
                sequence.now = clock[2]
            else:
                raise Broken(f"clock {clock[1]}")
        if wall is None:
            raise Broken("a clock snapshot without the wall clock")
        if boot not in (None, wall):
            raise Broken("a clock besides the wall clock")
        self.related |= boot is not None
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
