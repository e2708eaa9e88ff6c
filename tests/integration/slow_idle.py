"""The tables `idle`, `gaps`, `api`, `launches` and `syncs` of `tracetool analyze`, the slow way: from the definitions in
docs/tables.md, of one process, with every gap looked at by itself."""
import bisect
import re
from collections import Counter, namedtuple

from slow_tables import KERNELS, COPIES, OLD, ns

# Times are integers of ns. `pageable`: a copy from or to such memory. `order`: what comes first of what starts together.
Work = namedtuple("Work", "device start end name copy pageable correlation order")
Call = namedtuple("Call", "thread tid name start end correlation order")
Gap = namedtuple("Gap", "device start end before next call wait parts")
CAUSES = ("sync", "copy", "after_sync", "host_late", "launch", "queued", "unexplained")
LAUNCHING_NS = 30_000
EVER = 2**62
VERSION = re.compile(r"_v\d{4,}$")  # that CUPTI puts behind names of the runtime
API = {"cuda_runtime": 3, "cuda_driver": 4, "Runtime": 3}
ORDER = {"kernel": 0, "gpu_memcpy": 1, "gpu_memset": 2, "memcpy": 1, "memcpy_peer": 1, "memset": 2, "runtime": 3, "driver": 4}


def ordered(kind, start, end):
    return start, start - end, ORDER.get(kind, API.get(kind))


def of_kineto(events, of="device"):
    """(work, calls), each in order. `of`: "stream" takes each stream for a device."""
    work, calls = [], []
    for event in events:
        category, args = OLD.get(event.get("cat"), event.get("cat")), event.get("args", {})
        if event.get("ph") != "X" or "dur" not in event:
            continue
        start = ns(event["ts"])
        end = start + ns(event["dur"])
        correlation = int(args.get("correlation", 0))
        if category in KERNELS | COPIES and "stream" in args:
            device = args.get(of)
            work.append(Work(int(device) if device is not None else None, start, end, event["name"], category == "gpu_memcpy",
                             "Pageable" in event["name"], correlation, ordered(category, start, end)))
        elif category in API:
            calls.append(Call((event["pid"], event["tid"]), int(event["tid"]), event["name"], start, end, correlation, ordered(category, start, end)))
    return sorted(work, key=lambda each: each.order), sorted(calls, key=lambda each: each.order)


def collections_of(events):
    """[(start, end)] of the runs of Python's garbage collector, each the whole process's; None: there are none in the trace."""
    found = [(ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])) for event in events if event.get("cat") == "garbage_collection" and event.get("ph") == "X"]
    return sorted(found) or None


def of_truth(rank, clock="cupti_"):
    """The same, of what a simulated run recorded, on CUPTI's clock; of clock "" on the true one."""
    times = lambda line: (line[clock + "start"], line[clock + "end"])
    work = [Work(line["device"], *times(line), line.get("name"), line["kind"].startswith("memcpy"), 1 in (line.get("src_memory"), line.get("dst_memory")),
                 line["correlation"], ordered(line["kind"], *times(line))) for line in rank.of("kernel", "memcpy", "memcpy_peer", "memset")]
    calls = [Call(line["tid"], line["tid"], VERSION.sub("", line["name"]), *times(line), line["correlation"], ordered(line["kind"], *times(line)))
             for line in rank.of("runtime", "driver")]
    return sorted(work, key=lambda each: each.order), sorted(calls, key=lambda each: each.order)


def is_launch(name):
    return "HostFunc" not in name and any(word in name for word in ("Launch", "Memcpy", "Memset"))


class Process:
    """One process. `begin`, `end` of windows are times as in the work."""

    def __init__(self, work, calls, collections=None):
        self.work, self.calls, self.collections = work, calls, collections
        self.of_correlation = {}
        for call in calls:
            outer = self.of_correlation.setdefault(call.correlation, [])
            if call.correlation and not (outer and outer[-1].thread == call.thread and call.start <= outer[-1].end):
                outer.append(call)
        self.call = {id(each): self.call_of(each) for each in work}
        self.launches = {}  # of each thread: (start, end), the driver's within the runtime's left out
        for call in calls:
            of_thread = self.launches.setdefault(call.thread, [])
            if is_launch(call.name) and not (of_thread and call.start < of_thread[-1][1]):
                of_thread.append((call.start, call.end))
        self.copies = set()  # calls of copies that block
        self.waits = self.find_waits()
        self.gaps = [gap for device in sorted({each.device for each in work}, key=str) for gap in self.gaps_of(device)]

    def call_of(self, work):
        before = [call for call in self.of_correlation.get(work.correlation, []) if call.order < work.order] if work.correlation else []
        return before[-1] if before else None

    def find_waits(self):
        """[Call], by start."""
        found = [call for call in self.calls if "Synchronize" in call.name]
        for each in self.work:
            call = self.call[id(each)]
            if self.blocks(each, call) and call.end >= each.end and call not in found:
                found.append(call)
                self.copies.add(call)
        within = lambda one, other: one != other and one.thread == other.thread and other.start <= one.start and one.end <= other.end
        return sorted((one for one in found if not any(within(one, other) for other in found)), key=lambda each: each.order)

    def blocks(self, work, call):
        return work.copy and call and ("Async" not in call.name or work.pageable)

    def gaps_of(self, device):
        until, before = -EVER, None
        for each in self.work:
            if each.device != device:
                continue
            if each.start > until:
                yield self.gap(device, until, each.start, before, each)
            if each.end >= until:
                until, before = each.end, each
        yield self.gap(device, until, EVER, before, None)

    def gap(self, device, start, end, before, following):
        call = self.call[id(following)] if following else None
        if call is None:
            return Gap(device, start, end, before, following, None, None, [("unexplained", start, end)])
        called = min(max(call.start, start), end)
        returned = min(max(call.end, called), end)
        wait, parts = None, []
        if called > start:
            waits = [each for each in self.waits if each.start <= start < each.end <= called]
            wait = max(waits, key=lambda each: each.end, default=None)
            waited = start  # a wait explains as much of the gap as it lasted itself
            if wait:
                waited = min(called, start + wait.end - wait.start)
                parts += [("copy" if wait in self.copies else "sync", start, wait.end), ("after_sync", wait.end, waited)]
            parts.append(("launch" if self.launches_on(call) else "host_late", waited, called))
        parts += [("copy" if self.blocks(following, call) else "launch", called, returned), ("queued" if end - returned <= LAUNCHING_NS else "unexplained", returned, end)]
        return Gap(device, start, end, before, following, call, wait, parts)

    def launches_on(self, call):
        launches = self.launches.get(call.thread, [])
        at = bisect.bisect_left(launches, (call.start, -EVER))
        return at > 0 and call.start - launches[at - 1][1] <= LAUNCHING_NS

    def inner(self):
        return [gap for gap in self.gaps if gap.start != -EVER and gap.end != EVER]

    def idle(self, device, window=None):
        """{column: ns} of a device, in a window from begin to end or between its first work and its last."""
        sums = dict.fromkeys(("idle_ns", *(f"{cause}_ns" for cause in CAUSES)), 0) | {"in_gc_ns": None if self.collections is None else 0}
        for gap in self.gaps if window else self.inner():
            if gap.device != device:
                continue
            for cause, start, end in gap.parts:
                if window:
                    start, end = max(start, window[0]), min(end, window[1])
                sums[f"{cause}_ns"] += max(0, end - start)
                sums["idle_ns"] += max(0, end - start)
                if self.collections is not None and cause in ("after_sync", "host_late"):
                    sums["in_gc_ns"] += self.collecting(start, end)
        return sums

    def collecting(self, start, end):
        return sum(max(0, min(end, until) - max(start, begin)) for begin, until in self.collections or ())

    def longest(self):
        """Rows of `gaps`, but for their step; start and end as times of the work."""
        rows = []
        for gap in self.inner():
            times = Counter()
            for cause, start, end in gap.parts:
                times[cause] += end - start
            cause = max(CAUSES, key=lambda each: times[each])  # the first of several
            rows.append({"device": gap.device, "start_ns": gap.start, "end_ns": gap.end, "duration_ns": gap.end - gap.start,
                         "cause": cause, "part_ns": times[cause], "call": gap.call.name if gap.call else None,
                         "thread": gap.call.tid if gap.call else None, "call_start_ns": gap.call.start if gap.call else None,
                         "sync": gap.wait.name if gap.wait else None, "before": gap.before.name, "next": gap.next.name})
        return sorted(rows, key=lambda row: (-row["duration_ns"], str(row["device"]), row["start_ns"]))

    def api(self):
        return api([(call.name, call.end - call.start) for call in self.calls])

    def syncs(self):
        found = {}
        for wait in self.waits:
            found.setdefault(wait.name, ([], []))[0].append(wait.end - wait.start)
        for gap in self.inner():
            if gap.wait:
                found[gap.wait.name][1].append(min(gap.end - gap.start, gap.wait.end - gap.wait.start))
        rows = [{"name": name, "count": len(times), "host_ns": sum(times), "median_ns": at(times, 50), "max_ns": max(times),
                 "stalls": len(stalls), "stalled_ns": sum(stalls)} for name, (times, stalls) in found.items()]
        return sorted(rows, key=lambda row: (-row["host_ns"], row["name"]))

    def first_work(self):
        """[(launch, its first work)]"""
        first, firsts = set(), []
        for each in self.work:
            call = self.call[id(each)]
            if call and is_launch(call.name) and call not in first:
                first.add(call)
                firsts.append((call, each))
        return firsts

    def launched(self):
        """The row of `launches`."""
        firsts = self.first_work()
        waited = [max(0, each.start - call.end) for call, each in firsts]
        took = [call.end - call.start for call, _ in firsts]
        row = {"count": len(firsts), "graphs": sum("GraphLaunch" in call.name for call, _ in firsts),
               "latency_min_ns": min(waited, default=None), "latency_median_ns": at(waited, 50), "latency_p95_ns": at(waited, 95),
               "latency_max_ns": max(waited, default=None), "latency_over_100us": sum(each > 100_000 for each in waited),
               "calls_over_50us": sum(each > 50_000 for each in took), "calls_over_100us": sum(each > 100_000 for each in took),
               "shorter_than_call": sum(each.end - each.start < call.end - call.start for call, each in firsts)}
        return {**row, **queue([(call.start, each.start) for call, each in firsts])}


def at(values, percent):
    return sorted(values)[-(-len(values) * percent // 100) - 1] if values else None


def api(calls):
    """Of [(name, ns)]."""
    found, total = {}, sum(took for _, took in calls)
    for name, took in calls:
        found.setdefault(name, []).append(took)
    rows = [{"name": name, "count": len(took), "sum_ns": sum(took), "share_pct": 100.0 * sum(took) / total if total else None, "min_ns": min(took),
             "median_ns": at(took, 50), "p95_ns": at(took, 95), "max_ns": max(took)} for name, took in found.items()]
    return sorted(rows, key=lambda row: (-row["sum_ns"], row["name"]))


def queue(intervals):
    changes = Counter()
    for begin, end in intervals:
        changes[begin] += 1
        changes[end] -= 1
    lasted, length, times = Counter(), 0, sorted(changes)
    for time, following in zip(times, times[1:]):
        length += changes[time]
        lasted[length] += following - time
    whole = sum(lasted.values())
    if not whole:
        return {"queue_mean": None, "queue_p95": None, "queue_max": None}
    below = lambda most: sum(held for each, held in lasted.items() if each <= most)
    return {"queue_mean": sum(each * held for each, held in lasted.items()) / whole,
            "queue_p95": min(each for each in lasted if below(each) >= 0.95 * whole), "queue_max": max(lasted)}
