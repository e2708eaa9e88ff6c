"""Training steps of a Kineto trace, the slow way: on the host by their ranges, on the GPU by the work that each launched."""
from collections import namedtuple

import slow_tables
from slow_launches import hosts, pieces

# `begin` and `end` of the step on the GPU, `works` that it launched. Times are integers of ns.
Step = namedtuple("Step", "number host_begin host_end begin end works")


def ranges_of(events):
    """[(begin, end, number)] on the host, apart: what a step shares with the one before is that one's."""
    some = sorted((slow_tables.ns(e["ts"]), slow_tables.ns(e["ts"]) + slow_tables.ns(e["dur"]), int(e["name"].split("#")[1])) for e in events
                  if slow_tables.OLD.get(e.get("cat"), e.get("cat")) in ("user_annotation", "cpu_op", "Operator") and
                  e.get("name", "").startswith("ProfilerStep#"))
    apart = []
    for begin, end, number in some:
        begin = max(begin, apart[-1][1]) if apart else begin
        if begin < end:
            apart.append((begin, end, number))
    return apart


def launches_of(events):
    """[(work, when it was launched)]; None: its launch is not in the trace. Without any call in it work is launched when it begins."""
    calls = [host for host in hosts(events) if host.kind == "call"]
    return [(work, work.start if not calls else piece.call.start if piece.call else None)
            for work, piece in zip(slow_tables.of_kineto(events), pieces(events, calls))]


def steps_of(events):
    launches = launches_of(events)
    first = min((work.start for work, at in launches if at is not None), default=None)
    steps, before = [], None
    for begin, end, number in ranges_of(events):
        if not launches:
            steps.append(Step(number, begin, end, begin, end, []))
            continue
        earlier = [work.end for work, at in launches if at is not None and at < begin]
        earlier += [work.end for work, at in launches if at is None and (first is None or work.start < first)]
        earlier += [before] if before is not None else []
        works = [work for work, at in launches if at is not None and begin <= at < end]
        start = max(earlier, default=begin)
        before = max([start, *(work.end for work in works)])
        steps.append(Step(number, begin, end, start, before, works))
    return steps


def windows_of(events):
    """[(begin, end, number)] on the GPU."""
    return [(step.begin, step.end, step.number) for step in steps_of(events)]
