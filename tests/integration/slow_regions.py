"""The table `regions`, the slow way: for each range the list of all work whose launch began in it."""
import bisect

import slow_tables
from slow_launches import hosts, pieces


def regions(files, step=None):
    """[{...}] of the events of some files, as one group of rows; `step`: (begin, end) on the host, or all time."""
    found = {}
    for events in files:
        hosted = hosts(events)
        launched = {}
        for piece in pieces(events, [host for host in hosted if host.kind == "call"]):
            if piece.call:
                launched.setdefault(piece.call.thread, []).append((piece.call.start, piece))
        for of_thread in launched.values():
            of_thread.sort(key=lambda each: each[0])
        for host in hosted:
            if host.kind == "annotation":
                of_thread = launched.get(host.thread, [])
                begin, end = (bisect.bisect_left(of_thread, at, key=lambda each: each[0]) for at in (host.start, host.end))
                add(found, host, [piece for _, piece in of_thread[begin:end]], step)
    for row in found.values():
        for what in ("host", "gpu_span"):
            row.update(spread(what, row.pop(f"{what}s")))
    return sorted(found.values(), key=lambda row: (-row["gpu_span_ns"], -row["host_ns"], row["name"].encode()))


def spread(what, times):
    times.sort()
    values = (times[0], times[(len(times) - 1) // 2], times[-1], slow_tables.standard_deviation(times)) if times else (None,) * 4
    return {f"{what}_{key}_ns": value for key, value in zip(("min", "median", "max", "stddev"), values)}


def add(found, host, work, step):
    begin, end = step or (-2**62, 2**62)
    on_host = host.start < end and (host.end > begin or host.start >= begin)
    work = [piece for piece in work if begin <= piece.call.start < end]
    if not on_host and not work:
        return
    row = found.setdefault(host.name, {"name": host.name, "domain": None, "source": "annotation", "count": 0, "host_ns": 0, "launching": 0,
                                       "gpu_span_ns": 0, "gpu_busy_ns": 0, "gpu_gap_ns": 0, "gpu_count": 0, "kernels": 0,
                                       "hosts": [], "gpu_spans": []})
    if on_host:
        row["count"] += 1
        row["hosts"].append(min(host.end, end) - max(host.start, begin))
        row["host_ns"] += row["hosts"][-1]
    if not work:
        return
    span = max(each.end for each in work) - min(each.start for each in work)
    busy = slow_tables.length([(each.start, each.end) for each in work])
    row["launching"] += 1
    row["gpu_span_ns"] += span
    row["gpu_spans"].append(span)
    row["gpu_busy_ns"] += busy
    row["gpu_gap_ns"] += span - busy
    row["gpu_count"] += len(work)
    row["kernels"] += sum(each.is_kernel for each in work)
