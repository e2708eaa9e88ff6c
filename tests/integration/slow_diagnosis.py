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


def sums(process, loading):
    """{rule: {device: ns}}"""
    found = {rule: {} for rule in ("data-starved", "host-late", "host-sync", "launch-bound", "gpu-idle", "garbage-collection")}
    for gap in process.inner():
        of = {cause: sum(end - start for each, start, end in gap.parts if each == cause) for cause in ("host_late", "launch", "queued", "unexplained")}
        found["gpu-idle"][gap.device] = found["gpu-idle"].get(gap.device, 0) + of["unexplained"]
        if gap.call is None:
            continue
        load = covered(loading.get(gap.call.tid, []), gap.start, min(gap.end, gap.call.start))
        collecting = sum(process.collecting(start, end) for cause, start, end in gap.parts if cause in ("after_sync", "host_late"))
        waits = gap.wait and not to_device(gap.wait, process)
        shares = {"data-starved": load, "host-late": max(0, of["host_late"] - load - collecting), "garbage-collection": collecting, "host-sync": gap.end - gap.start if waits else 0,
                  "launch-bound": of["launch"] + of["queued"]}
        for rule, share in shares.items():
            found[rule][gap.device] = found[rule].get(gap.device, 0) + share
    return found


def findings(process, loading, length_ns):
    """{rule: ns that it saves at most}, of those that fire."""
    kernels = [each for each in process.work if not each.copy and not each.name.startswith(("Memset", "Memcpy"))]
    short = sum(each.end - each.start < SHORT_NS for each in kernels)
    tiny = bool(kernels) and 100 * short // len(kernels) > 30
    least = {"data-starved": 20, "host-late": 20, "host-sync": 100, "launch-bound": 10, "gpu-idle": 5, "garbage-collection": 50}
    found = {}
    for rule, devices in sums(process, loading).items():
        most = max(devices.values(), default=0)
        if most * least[rule] > length_ns and (rule != "launch-bound" or tiny):
            found[rule] = most
    return found
