#!/usr/bin/env python3
"""`tracetool analyze --only outliers` against a slow program (slow_outliers.py) on Kineto traces; on such with a slow step and
a slow kernel that were put in, which it finds, and without, where it finds neither.

  test_outliers.py --tracetool PATH --traces DIR [--agent PATH --simulated PATH]
"""
import json

import slow_outliers
import slow_steps
import slow_tables
from harness import Folder, check
from test_analyze import check_rows, run_checks, tables
from trace_sets import folders, inputs
from truth import train


def ordered(rows):
    return sorted(rows, key=lambda row: (row["what"] != "step", -row["excess_ns"], str(row["name"]), str(row["rank"]), row["median_ns"]))


def check_together(options, name, files):
    """Returns how many rows there were."""
    ranks = []
    for path in files:
        events = slow_tables.read_json(path)
        if events is None:
            return 0
        said = tables(options, path, "--only", "temporal").get("temporal", [])
        ranks.append((said[0]["rank"] if said else None, sorted(slow_tables.of_kineto(events), key=lambda work: work.start),
                      [step for step in slow_steps.steps_of(events) if step.begin < step.end]))
    if not any(works for _, works, _ in ranks):
        return 0
    true = slow_outliers.steps_of(ranks) + slow_outliers.kernels_of(ranks)
    check_rows(f"{name}: outliers", ordered(tables(options, *files, "--only", "outliers").get("outliers", [])), ordered(true))
    return len(true)


def check_traces(options):
    found = 0
    with folders(options.traces) as some:
        for folder in some:
            for name, files in inputs(folder):
                found += check_together(options, name, files)
    check(True, f"{found} outliers in all")


def trace(slow_step=None, slow_kernel=None, steps=12):
    """20 kernels of 100 us in steps of 10 ms; a copy in each. One step waits 3 ms more before its last kernel, one kernel of step 5
    takes 2 ms."""
    events, at = [], 1_000_000
    for step in range(steps):
        begin = at
        for i in range(20):
            late = 3_000_000 if step == slow_step and i == 19 else 0
            length = 2_000_000 if step == slow_kernel and i == 7 else 100_000 + 500 * ((step + i) % 3)
            at += late
            events.append({"ph": "X", "cat": "kernel", "name": "fused_gelu", "pid": 0, "tid": 7, "ts": at / 1000, "dur": length / 1000,
                           "args": {"device": 0, "stream": 7, "correlation": 100 * step + i, "grid": [64, 1, 1], "block": [128, 1, 1]}})
            at += max(length, 490_000)
        at = max(at, begin + 10_000_000)
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": 1, "tid": 1, "ts": begin / 1000,
                       "dur": (at - begin) / 1000, "args": {}})
    return {"traceEvents": events, "distributedInfo": {"rank": 3}}


def check_planted(options):
    with Folder() as folder:
        def rows(name, **planted):
            path = f"{folder}/{name}.json"
            with open(path, "w", encoding="utf-8") as file:
                json.dump(trace(**planted), file)
            check_together(options, name, [path])
            return tables(options, path, "--only", "outliers")["outliers"]
        check(rows("healthy") == [], "a healthy run has none")
        check(rows("few", slow_step=2, steps=7) == [], "of fewer than 8 steps none is")
        said = rows("step", slow_step=9)
        check([(row["what"], row["rank"], row["step"], row["differs"], row["excess_ns"], row["grew_ns"]) for row in said] ==
              [("step", 3, 9, "idle", 3_001_500, 3_002_000)], "a slow step is found, and that its GPU was idle", said)
        said = rows("kernel", slow_kernel=5)
        check([(row["what"], row["step"], row["name"] or row["kernel"]) for row in said] == [("step", 5, "fused_gelu"), ("kernel", 5, "fused_gelu")] and
              said[0]["differs"] == "compute" and said[1]["longest_ns"] == 2_000_000, "a slow kernel is found, and the step that it makes slow", said)


def check_simulated(options):
    """Recordings of a healthy run: what is found is little."""
    with Folder() as folder:
        done = train(options, folder, "--ranks", 2, "--steps", 12)
        check(done.returncode == 0, "it was recorded", done.stderr)
        said = tables(options, f"{folder}/traces", "--only", "outliers")
        check("outliers" in said and len(said["outliers"]) < 30, "recordings are read", said)


if __name__ == "__main__":
    run_checks(check_planted, check_traces, simulated=(check_simulated,))
