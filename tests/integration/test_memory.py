#!/usr/bin/env python3
"""`tracetool analyze --only memory` against a slow program (slow_memory.py): on Kineto traces, by step and of some steps, and on
simulated runs against their truth.

  test_memory.py --tracetool PATH --traces DIR [--agent PATH --simulated PATH]
"""
import glob
import json
import os

import slow_memory
import slow_steps
import slow_tables
from harness import Folder, check, run
from test_analyze import check_rows, found_steps, origin_of, run_checks, tables
from trace_sets import folders, inputs
from truth import load, train


def rows_of(levels, steps, windows, origin, calls, number=None):
    """Of all devices of one process, the host last."""
    one = sum(device is not None for device in levels) <= 1
    some = [(device, slow_memory.row(levels[device], steps, windows, origin, calls if one and device is not None else None, number))
            for device in sorted(levels, key=lambda device: (device is None, device or 0))]
    return [{"device": device, "source": "allocator", **row} for device, row in some] or \
        [{"device": None, "source": None, **slow_memory.row([], steps, windows, origin, calls, number)}]


def check_file(options, path):
    """Returns how many devices' levels were compared."""
    events = slow_tables.read_json(path)
    if events is None or not any("ts" in event for event in events):
        return 0
    name = os.path.basename(path)
    levels, steps, calls = slow_memory.levels_of_kineto(events), slow_steps.ranges_of(events), slow_memory.calls_of_kineto(events)
    origin = origin_of(events)
    steps = steps or found_steps(options, path, events)
    check_rows(f"{name}: memory", tables(options, path, "--only", "memory").get("memory", []),
               rows_of(levels, steps, [(None, None)], origin, calls))
    if len(steps) < 2:
        return len(levels)
    true = {number: rows_of(levels, steps, [(begin, end)], origin, calls, number) for begin, end, number in steps}
    count = len(next(iter(true.values())))
    check_rows(f"{name}: memory by step", tables(options, path, "--only", "memory", "--by", "step").get("memory", []),
               [{"step": number, **true[number][i]} for i in range(count) for number in true])
    begin, end, number = steps[-1]
    check_rows(f"{name}: memory of one step", tables(options, path, "--only", "memory", "--steps", number).get("memory", []),
               rows_of(levels, steps[-1:], [(begin, end)], origin, calls))
    return len(levels)


def check_traces(options):
    devices = 0
    with folders(options.traces) as some:
        for folder in some:
            for _, files in inputs(folder):
                devices += sum(check_file(options, path) for path in files)
        check(devices >= (3 if len(some) > 1 else 0), f"levels of {devices} devices were compared", devices)


def leaking(steps, leak_bytes):
    """Steps that each use 64 MiB and give all but `leak_bytes` of them back; in the fourth and the fifth the driver is asked."""
    events, used, reserved = [], 1 << 30, 2 << 30
    args = lambda: {"Device Type": 1, "Device Id": 0, "Total Allocated": used, "Total Reserved": reserved}
    for step in range(steps):
        at = 1_000_000 + 1000 * step
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": at, "dur": 990, "args": {}})
        if step in (3, 4):
            for category, name, start, length in (("cuda_runtime", "cudaMalloc", at + 90, 100), ("cuda_driver", "cuMemAlloc_v2", at + 95, 50),
                                                  ("cuda_runtime", "cudaMallocHost", at + 300, 10), ("cuda_runtime", "cudaMallocAsync", at + 400, 5)):
                events.append({"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": start, "dur": length, "args": {"correlation": start}})
            reserved += 64 << 20
        for ts, more in ((at + 100, 64 << 20), (at + 500, leak_bytes - (64 << 20))):
            used += more
            events.append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": ts, "args": args()})
    events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 999_999, "dur": 1, "args": {"correlation": 1}})
    return {"traceEvents": events, "distributedInfo": {"rank": 2}}


def check_planted(options):
    for leak_bytes in (0, 1 << 20):
        with Folder() as folder:
            path = f"{folder}/leak-{leak_bytes}.json"
            with open(path, "w", encoding="utf-8") as file:
                json.dump(leaking(8, leak_bytes), file)
            check_file(options, path)
            row = tables(options, path, "--only", "memory")["memory"][0]
            check((row["growth_bytes_per_step"], row["grew_in_steps"]) == (leak_bytes, 7 if leak_bytes else 0),
                  f"{leak_bytes} bytes a step are found", row)
            check((row["allocations"], row["allocation_ns"]) == (2, 200_000), "two calls of cudaMalloc, the driver's within, none of others", row)
            check(row["reserved_end_bytes"] == (2 << 30) + (128 << 20) and row["peak_step"] == (7 if leak_bytes else 0), "reserved, and when the peak was", row)


def check_pickle(options, what, folder):
    """The snapshot that mem writes from a recording says the same. All memory of the driver is reserved."""
    for path in glob.glob(f"{folder}/traces/*/*.ring"):
        written = f"{folder}/{os.path.basename(path)}.pickle"
        run([options.tracetool, "mem", path, "--pickle", written])
        source, copy = [json.loads(run([options.tracetool, "mem", each, "--format", "json"]).stdout or "{}") for each in (path, written)]
        for rows in [*source.values(), *copy.values()]:
            for row in rows:
                row.update(file=None, rank=None)
        check(source == copy and bool(source["devices"]), f"{what}: mem of the recording and of its snapshot", lambda: (source, copy))
        check(all(row["reserved_peak_bytes"] == row["peak_bytes"] > 0 for row in source["devices"]), f"{what}: reserved memory", source["devices"])


def check_simulated(options):
    """What the driver allocated and released; a run without --memory tells nothing, and says so."""
    for words in (("--memory",), ()):
        with Folder() as folder:
            what = f"simulated {' '.join(words)}"
            done = train(options, folder, "--ranks", 2, "--steps", 5, *words, TRACETOOL_EVENTS="default,memory" if words else "default")
            check(done.returncode == 0, f"{what}: it was recorded", done.stderr)
            merged = f"{folder}/run.ttrace"
            run([options.tracetool, "merge", f"{folder}/traces", "-o", merged])
            job = load(os.path.join(folder, "truth"))
            if words:
                check_pickle(options, what, folder)
            for form, path in (("recordings", f"{folder}/traces"), ("merged", merged)):
                said = tables(options, path, "--only", "memory").get("memory", [])
                true = [(rank.rank, device, levels) for rank in job for device, levels in slow_memory.levels_of_truth(rank).items()]
                if not words:
                    check(len(said) == 2 and all(row["peak_bytes"] is None and row["allocations"] is None for row in said),
                          f"{what}, {form}: nothing is known", said)
                    continue
                check_rows(f"{what}, {form}: memory", said,
                           [{"rank": rank, "device": device, "source": "driver", "start_bytes": levels[0][1],
                             "peak_bytes": max(level[1] for level in levels), "end_bytes": levels[-1][1], "reserved_peak_bytes": None,
                             "steps": 5, "allocation_ns": None,
                             # One was before the first step, one in it.
                             "allocations": len(slow_memory.allocations_of_truth(job[rank], device)) - 2} for rank, device, levels in true])
                check(bool(true) and all(row["peak_at_ns"] is not None and row["growth_bytes_per_step"] == 0 for row in said),
                      f"{what}, {form}: {len(true)} devices", said)


if __name__ == "__main__":
    run_checks(check_planted, check_traces, simulated=(check_simulated,))
