"""What `tracetool diff` says of quantities, the slow way: values of each step, and their medians. From Kineto's JSON."""
import math
import statistics

import slow_classes
import slow_steps
import slow_tables

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
    for i, (_, _, _, begin, end, works) in enumerate(steps):
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
    return found


def error(values):
    """Of the median, as cli/compare/noise.h has it."""
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
