"""What `tracetool diff` says of quantities, the slow way: values of each step, and their medians. From Kineto's JSON."""
import math
import statistics
from collections import Counter

import slow_classes
import slow_launches
import slow_steps
import slow_tables
from slow_operators import UTILITIES, WITH_FRAMES

RULES = slow_classes.published()


def median(values):
    """The smallest that at least half do not exceed."""
    return sorted(values)[(len(values) - 1) // 2]


def steps_of(events, without=()):
    return [step for step in slow_steps.steps_of(events) if step.number not in without and step.begin < step.end]


def values(events, without=()):
    """(table, name) -> value in each step; of one rank with one GPU. `without`: numbers of steps."""
    work = list(slow_tables.of_kineto(events))
    steps = steps_of(events, without)
    found = {}
    for i, (_, host_begin, host_end, begin, end, works) in enumerate(steps):
        row = slow_tables.temporal(slow_tables.clipped(work, begin, end), end - begin)
        put = lambda table, name, ns: found.setdefault((table, name), [0] * len(steps)).__setitem__(i, found.get((table, name), [0] * len(steps))[i] + ns)
        put("step", "step", end - begin)
        put("step", "busy", row["busy_ns"])
        put("step", "exposed communication", row["exposed_comm_ns"])
        put("idle", "all", row["idle_ns"])
        put("parts", "compute", row["compute_ns"])
        for each in works:
            put("classes", slow_classes.class_of(each, RULES), each.end - each.start)
            if each.launch is not None:
                put("kernels", each.name, each.end - each.start)
        for (name, measure), ns in operators(events, host_begin, host_end).items():
            put("operators", (name, measure), ns)
    return found


def operators(events, begin, end):
    """(name, measure) -> the own time of the operators of a name on the host between these times, and of the GPU work that they launched there."""
    hosted, around, innermost = operators_around(events)
    found = Counter()
    inside = lambda each: max(0, min(each.end, end) - max(each.start, begin))
    for at, host in enumerate(hosted):
        if host.kind == "operator":
            found[host.name, "host"] += inside(host)
        if around[at] is not None and hosted[around[at]].kind == "operator":
            found[hosted[around[at]].name, "host"] -= inside(host)
    for piece in slow_launches.pieces(events, [host for host in hosted if host.kind == "call"]):
        name = innermost.get(piece.call.place) if piece.call else None
        if name is not None and begin <= piece.call.start < end:
            found[name, "gpu"] += piece.end - piece.start
    return found


def operators_around(events, _known={}):
    """The host's slices, what each lies directly in, and the operator around each call."""
    if id(events) not in _known:
        _known.clear()
        hosted = [host for host in slow_launches.hosts(events, WITH_FRAMES) if host.kind != "operator" or host.name not in UTILITIES]
        around = slow_launches.directly_around(hosted)
        innermost = {}
        for at, host in enumerate(hosted):
            outer = around[at]
            while outer is not None and hosted[outer].kind != "operator":
                outer = around[outer]
            if host.kind == "call" and outer is not None:
                innermost[host.place] = hosted[outer].name
        _known[id(events)] = (hosted, around, innermost)
    return _known[id(events)]


def error(values):
    """Of the median, as cli/answers/compare/noise.h has it."""
    count, middle = len(values), median(values)
    of_mad = 1.2533 * 1.4826 * median([abs(value - middle) for value in values]) / math.sqrt(count)
    at = max(1, math.floor((count + 1) / 2 - 2.5758 * math.sqrt(count / 4)))
    ordered = sorted(values)
    of_order = (ordered[count - at] - ordered[at - 1]) / (2 * 2.5758)
    signs = [(value > middle) - (value < middle) for value in values]
    square = sum(sign * sign for sign in signs)
    alike = sum(a * b for a, b in zip(signs, signs[1:])) / square - 1 / math.sqrt(count) if square else 0
    alike = min(max(alike, 0), 0.9)
    return max(max(of_mad, of_order) * math.sqrt((1 + alike) / (1 - alike)), 0.0002 * abs(middle))


def mean(values):
    return statistics.fmean(values)
