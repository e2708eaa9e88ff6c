"""The rules of `tracetool diagnose` for idle time, the slow way: from docs/diagnose.md, of one process (slow_idle.Process)."""
import re

from slow_tables import ns

SHORT_NS = 10_000
LOADING = re.compile(r"dataloader|dataloading|loaddata|getbatch|loadbatch|nextbatch|batchgenerator")
RANGES = {"cpu_op", "user_annotation", "Operator", "cpu_annotation"}


def loading_ranges(events):
    """{tid: [(start, end)]} of ranges that load data, of a profile."""
    found = {}
    for event in events:
        plain = re.sub("[-_ ]", "", str(event.get("name", "")).lower())
        if event.get("ph") == "X" and event.get("cat") in RANGES and "dur" in event and LOADING.search(plain):
            start = ns(event["ts"])
            found.setdefault(int(event["tid"]), []).append((start, start + ns(event["dur"])))
    return found


def covered(ranges, start, end):
    at, total = start, 0
    for begin, until in sorted(ranges):
        begin, until = max(begin, at), min(until, end)
        if begin < until:
            total, at = total + until - begin, until
    return total


def to_device(wait, process):
    return wait in process.copies and any(process.call[id(each)] == wait and "HtoD" in each.name for each in process.work)


def without(ranges, start, end):
    return end - start - covered(ranges, start, end)


def sums(process, loading):
    """{rule: {device: ns}}, of a process without allocations in its steps and without an optimizer (gap_claims.h)."""
    found = {rule: {} for rule in ("data-starved", "host-late", "host-sync", "launch-bound", "gpu-idle", "garbage-collection")}

    def add(rule, device, ns):
        found[rule][device] = found[rule].get(device, 0) + ns
    for gap in process.inner():
        collections = [(max(start, begin), min(end, until)) for cause, start, end in gap.parts if cause in ("after_sync", "host_late")
                       for begin, until in process.collections or () if max(start, begin) < min(end, until)]
        collecting = covered(collections, gap.start, gap.end)
        add("garbage-collection", gap.device, collecting)
        loads = [] if gap.call is None else [(start, min(end, gap.call.start, gap.end)) for start, end in loading.get(gap.call.tid, []) if start < min(gap.call.start, gap.end)]
        named = collections + loads
        total = covered(named, gap.start, gap.end)
        add("data-starved", gap.device, total - collecting)
        waited = min(gap.end, gap.start + gap.wait.end - gap.wait.start) if gap.wait else gap.start
        if gap.wait and not to_device(gap.wait, process) and 2 * total < gap.end - gap.start:
            add("host-sync", gap.device, without(named, gap.start, waited))
        for cause, start, end in gap.parts:
            rule = {"host_late": "host-late", "launch": "launch-bound", "queued": "launch-bound", "unexplained": "gpu-idle"}.get(cause)
            if rule and max(start, waited) < end:
                add(rule, gap.device, without(named, max(start, waited), end))
    return found


def is_simple(events):
    """Whether sums() holds for it."""
    return not any(re.search(r"^Optimizer\.step|Malloc|Free|MemCreate|MemRelease|MemAlloc", str(event.get("name", ""))) for event in events if event.get("ph") == "X")


def findings(process, loading, length_ns):
    """{rule: ns that it saves at most}, of those that fire."""
    kernels = [each for each in process.work if not each.copy and not each.name.startswith(("Memset", "Memcpy"))]
    short = sum(each.end - each.start < SHORT_NS for each in kernels)
    tiny = bool(kernels) and 100 * short // len(kernels) > 30
    least = {"data-starved": 20, "host-late": 20, "host-sync": 100, "launch-bound": 10, "gpu-idle": 5, "garbage-collection": 50}
    found = {}
    for rule, devices in sums(process, loading).items():
        most = max(devices.values(), default=0)
        if most > 0 and most * least[rule] > length_ns and (rule != "launch-bound" or tiny):
            found[rule] = most
    return found
