"""Operators and what they launched, as recorded and as torch.profiler wrote them. Plain functions."""
import re
from collections import Counter, defaultdict, namedtuple

FUNCTION, BACKWARD = 0, 1  # at::RecordScope; ranges of record_function are others
MODULE = "nn.Module: "

# Times in ns, each source on its own axis. `modules`: classes of those that it was called in.
Operator = namedtuple("Operator", "thread start end name modules")
Call = namedtuple("Call", "thread start")
# How many: operators by name, kernels in all, kernels by their innermost operator (None: in none), operators by the classes of the
# modules around them, each with its name.
Seen = namedtuple("Seen", "operators kernels claimed modules")


def around(ranges, thread, time):
    """Those of the thread's ranges, sorted by start, that hold the time, the innermost last."""
    return [each for each in ranges.get(thread, []) if each.start <= time < each.end]


def by_thread(ranges):
    found = defaultdict(list)
    for each in sorted(ranges, key=lambda each: (each.start, -each.end)):
        found[each.thread].append(each)
    return found


class Recorded:
    """What a recording has of a window."""

    def __init__(self, recording, answer):
        wall = lambda event: recording.event_wall(event)[0]
        inside = [event for event in recording.events if answer["begin_ns"] <= (wall(event) or 0) <= answer["end_ns"]]
        self.operators, opened = [], {}
        for event in sorted((event for event in inside if event.kind.startswith("operator_")), key=lambda event: event.time):
            if event.kind == "operator_begin":  # an id is used again later
                opened[event.id] = event
            elif (begin := opened.pop(event.id, None)) and begin.scope in (FUNCTION, BACKWARD):
                modules = {frame.name for frame in begin.stack or () if frame.what == "module"}
                self.operators.append(Operator(begin.tid, wall(begin), wall(event), begin.name, modules))
        self.unfinished = len(opened)
        self.calls = {}
        for event in inside:
            if event.kind.startswith(("runtime", "driver")):
                call = Call(event.tid, wall(event))
                self.calls[event.correlation] = min(call, self.calls.get(event.correlation, call), key=lambda each: each.start)
        self.kernels = [event.correlation for event in inside if event.kind in ("kernel", "kernel_wide")]
        self.threads = by_thread(self.operators)

    def innermost(self, correlation):
        call = self.calls.get(correlation)
        held = around(self.threads, *call) if call else []
        return held[-1] if held else None

    def seen(self):
        found = [self.innermost(each) for each in self.kernels]
        modules = Counter((name, each.name) for each in self.operators for name in each.modules)
        return Seen(Counter(each.name for each in self.operators), len(self.kernels), Counter(each and each.name for each in found), modules)


def profiled(events):
    """The same of Kineto's events: kernels find their operators by External id, as TensorBoard does it, and operators their modules by
    the frames of Python around them."""
    whole = [event for event in events if event.get("ph") == "X"]
    category = lambda *names: [event for event in whole if event.get("cat") in names]
    names = {event["args"]["External id"]: event["name"] for event in category("cpu_op")}
    modules = by_thread(Operator(event["tid"], event["ts"], event["ts"] + event["dur"], class_of(event["name"]), None)
                        for event in category("python_function") if event["name"].startswith(MODULE))
    claimed = Counter(names.get(kernel["args"].get("External id")) for kernel in category("kernel"))
    of_modules = Counter((name, event["name"]) for event in category("cpu_op")
                         for name in {each.name for each in around(modules, event["tid"], event["ts"])})
    return Seen(Counter(event["name"] for event in category("cpu_op")), len(category("kernel")), claimed, of_modules)


def class_of(name):
    """nn.Module: Linear_12 -> Linear"""
    return re.sub(r"_\d+$", "", name[len(MODULE):])


def differences(ours, theirs):
    """{key: (ours, theirs)} of what is counted otherwise."""
    return {key: (ours[key], theirs[key]) for key in sorted({*ours, *theirs}, key=str) if ours[key] != theirs[key]}
