#!/usr/bin/env python3
"""Counts what is in Kineto/Chrome JSON traces, slowly and independently: one JSON object per file on stdout.

    count_json.py FILE...

Written from the format's description alone, with json.load and exact decimals, as the measure for `tracetool info`.
`counts` has the keys of `tracetool info --json`; `flows` is per category the number of starts, of ends, and of ends
that have a start (`pairs`: each is one arrow).
"""
import collections
import decimal
import gc
import gzip
import json
import sys

CATEGORY_KINDS = {
    "kernel": "kernel", "gpu_memcpy": "memcpy", "memcpy": "memcpy", "gpu_memset": "memset", "memset": "memset",
    "cuda_runtime": "runtime", "runtime": "runtime", "cuda_driver": "driver", "nvtx": "nvtx", "nccl": "nccl",
    "cuda_sync": "sync", "cuda_event": "cuda_event", "overhead": "overhead", "cpu_op": "cpu_op",
    "operator": "cpu_op", "user_annotation": "user_annotation", "gpu_user_annotation": "gpu_annotation",
    "python_function": "python_function", "garbage_collection": "garbage_collection",
}
PHASE_KINDS = {"i": "instant", "I": "instant", "R": "instant", "C": "counter", "s": "flow", "t": "flow", "f": "flow"}


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return json.loads(data, parse_float=decimal.Decimal)


def kind_of(event):
    phase = event["ph"]
    if phase in PHASE_KINDS:
        return PHASE_KINDS[phase]
    if phase in "XB":
        return CATEGORY_KINDS.get(str(event.get("cat", "")).lower(), "other")
    return "other"


def joined_slices(events):
    """How many B have an E, on each (pid, tid); how many E have no B."""
    depth, lonely_ends = collections.Counter(), 0
    for event in events:
        key = (str(event.get("pid", 0)), str(event.get("tid", 0)))
        if event["ph"] == "B":
            depth[key] += 1
        elif event["ph"] == "E" and depth[key]:
            depth[key] -= 1
        elif event["ph"] == "E":
            lonely_ends += 1
    return sum(depth.values()), lonely_ends


def nanoseconds(text, base):
    exact = decimal.Decimal(text) * 1000
    return int(exact.to_integral_value(decimal.ROUND_HALF_EVEN)) + base


def time_span(events, base):
    first = last = None
    for event in events:
        start = nanoseconds(event["ts"], base)
        duration = max(0, nanoseconds(event.get("dur", 0), 0)) if event["ph"] == "X" else 0
        first = start if first is None else min(first, start)
        last = start + duration if last is None else max(last, start + duration)
    return [first or 0, last or 0]


def flows(events):
    starts, ends = collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter)
    for event in events:
        side = {"s": starts, "f": ends}.get(event["ph"])
        if side is not None:
            side[event.get("cat", "")][event.get("id")] += 1
    return {category: {"starts": sum(starts[category].values()), "ends": sum(ends[category].values()),
                       "pairs": sum(n for i, n in ends[category].items() if i in starts[category])}
            for category in sorted(set(starts) | set(ends))}


def count(path):
    trace = load(path)
    header = {} if isinstance(trace, list) else trace
    events = [event for event in (trace if isinstance(trace, list) else trace["traceEvents"]) if event["ph"] != "M"]
    base = int(header.get("baseTimeNanoseconds", 0))
    counted = [event for event in events if event["ph"] != "E"]
    open_slices, lonely_ends = joined_slices(events)
    copies = [e for e in counted if kind_of(e) in ("memcpy", "memset")]
    return {
        "file": path,
        "rank": (header.get("distributedInfo") or {}).get("rank"),
        "counts": dict(sorted(collections.Counter(map(kind_of, counted)).items())),
        "span_ns": time_span(counted, base),
        "bytes": sum(int(e.get("args", {}).get("bytes", 0)) for e in copies),
        "correlations": len({int(e["args"]["correlation"]) for e in counted
                             if e["ph"] == "X" and "correlation" in e.get("args", {})}),
        "flows": flows(counted),
        "open_slices": open_slices,
        "lonely_ends": lonely_ends,
    }


def main(paths):
    for path in paths:
        print(json.dumps(count(path)))


if __name__ == "__main__":
    gc.disable()  # as harness.py does
    main(sys.argv[1:])
