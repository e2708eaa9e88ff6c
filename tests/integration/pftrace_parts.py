"""What a Perfetto trace is made of: tracks, slices and packet sequences."""
import collections

from pftrace_wire import Broken, message, text


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
