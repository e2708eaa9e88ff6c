#!/usr/bin/env python3
"""`tracetool analyze --only regions` against a slow program (slow_regions.py), to the nanosecond: on Kineto traces, of all
ranks, by rank and by step; and on simulated runs, whose NVTX ranges the slow program reads from their Kineto export.

  test_regions.py --tracetool PATH --traces DIR [--agent PATH --simulated PATH]
"""
import glob
import gzip
import json
import os
import statistics

import slow_steps
import slow_tables
from harness import Folder, check, run
from slow_regions import regions
from test_analyze import analyze, check_rows, count_sets, run_checks, tables
from test_operators import event, kernel, launch
from truth import train


def ask(options, *words):
    return tables(options, *words, "--only", "regions").get("regions", [])


def check_set(options, name, files):
    """How many ranges were compared."""
    read = [slow_tables.read_json(path) for path in files]
    if any(events is None for events in read):
        return 0
    true = regions(read)
    check_rows(f"{name}: regions", ask(options, *files), true)
    if not true:
        return 0
    if len(files) == 1:
        check_rows(f"{name}: regions by rank", ask(options, *files, "--by", "rank"), true)
        steps = slow_steps.steps_of(read[0])
        if steps:
            by_step = [{"step": step.number, **row} for step in steps for row in regions(read, (step.host_begin, step.host_end))]
            check_rows(f"{name}: regions by step", ask(options, *files, "--by", "step"), by_step)
    else:
        alone = [row for path in files for row in ask(options, path, "--by", "rank")]
        check(sorted(map(str, ask(options, *files, "--by", "rank"))) == sorted(map(str, alone)), f"{name}: by rank as alone, {len(alone)} rows")
    return sum(row["count"] for row in true)


# By hand: a range in another; one that launches nothing; work that outlives its range, and work that overlaps.
WORKED = [
    event("step", "user_annotation", 100, 100), event("forward", "user_annotation", 100, 20), event("idle", "user_annotation", 150, 5),
    event("cudaLaunchKernel", "cuda_runtime", 100, 5, correlation=1), event("cudaLaunchKernel", "cuda_runtime", 110, 5, correlation=2),
    event("cudaLaunchKernel", "cuda_runtime", 120, 5, correlation=3), event("cudaLaunchKernel", "cuda_runtime", 200, 5, correlation=4),
    kernel(130, 20, 1), kernel(140, 30, 2), kernel(300, 10, 3), kernel(400, 10, 4)]
ZERO = {"domain": None, "source": "annotation", "count": 1}
ANSWERS = [{"name": "step", **ZERO, "host_ns": 100000, "launching": 1, "gpu_span_ns": 180000, "gpu_busy_ns": 50000, "gpu_gap_ns": 130000,
            "gpu_count": 3, "kernels": 3},
           {"name": "forward", **ZERO, "host_ns": 20000, "launching": 1, "gpu_span_ns": 40000, "gpu_busy_ns": 40000, "gpu_gap_ns": 0,
            "gpu_count": 2, "kernels": 2},
           {"name": "idle", **ZERO, "host_ns": 5000, "launching": 0, "gpu_span_ns": 0, "gpu_busy_ns": 0, "gpu_gap_ns": 0, "gpu_count": 0,
            "kernels": 0}]


def check_worked(options):
    with Folder() as folder:
        path = f"{folder}/worked.json.gz"
        with gzip.open(path, "wt") as file:
            json.dump({"traceEvents": WORKED}, file)
        check_rows("a worked example", ask(options, path), ANSWERS)
        check_rows("the slow program's answer", regions([slow_tables.read_json(path)]), ANSWERS)


# Ranges of 10, 20, 40 and 90 us on the host, of which the first three launch work that spans 5, 10 and 30 us.
SPREAD = [event("r", "user_annotation", start, length) for start, length in ((100, 10), (200, 40), (300, 20), (400, 90))]
SPREAD += [launch(start, 1, correlation) for correlation, start in enumerate((100, 200, 201, 300), 1)]
SPREAD += [kernel(110, 5, 1), kernel(250, 4, 2), kernel(256, 4, 3), kernel(320, 30, 4)]
OF_ALL = {"host_min_ns": 10000, "host_median_ns": 20000, "host_max_ns": 90000, "host_stddev_ns": statistics.stdev((10000, 20000, 40000, 90000)),
          "gpu_span_min_ns": 5000, "gpu_span_median_ns": 10000, "gpu_span_max_ns": 30000, "gpu_span_stddev_ns": statistics.stdev((5000, 10000, 30000))}
# In 205 to 310 us lie 35 us of the second and 10 us of the third range; the work of the second alone.
OF_PART = {"count": 2, "host_min_ns": 10000, "host_median_ns": 10000, "host_max_ns": 35000, "host_stddev_ns": statistics.stdev((10000, 35000)),
           "gpu_span_min_ns": 10000, "gpu_span_median_ns": 10000, "gpu_span_max_ns": 10000, "gpu_span_stddev_ns": None}


def check_spread(options):
    with Folder() as folder:
        path = f"{folder}/spread.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": SPREAD}, file)
        check_rows("how ranges of a name spread", ask(options, path), [OF_ALL])
        check_rows("and in a part of the time", ask(options, path, "--time", "105us-210us"), [OF_PART])
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": [event("one", "user_annotation", 100, 10)]}, file)
        check_rows("one range has no deviation", ask(options, path),
                   [{"host_min_ns": 10000, "host_max_ns": 10000, "host_stddev_ns": None, "gpu_span_min_ns": None, "gpu_span_stddev_ns": None}])


MOST_OPEN = 128  # kMostOpen in cli/answers/tables/regions.cpp


def check_never_ended(options):
    """A program that pushes a range in each step and never pops it: work and memory are not those of all ranges at once."""
    many = 10 * MOST_OPEN
    events = [event("epoch", "user_annotation", 10, 20 * many + 20)]
    for i in range(many):
        start = 20 * (i + 1)
        pushed = {**event("pushed", "user_annotation", start, 0), "ph": "B"}
        del pushed["dur"]
        events += [pushed, event("step", "user_annotation", start + 1, 10), launch(start + 2, 1, i + 1), kernel(start + 4, 5, i + 1)]
    with Folder() as folder:
        path = f"{folder}/never.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": events}, file)
        innermost = sum(min(i + 1, MOST_OPEN) for i in range(many))
        check_rows("ranges that never end", sorted(ask(options, path), key=lambda row: row["name"]),
                   [{"name": "epoch", "count": 1, "gpu_count": many}, {"name": "pushed", "count": many, "host_ns": 0, "gpu_count": innermost},
                    {"name": "step", "count": many, "host_ns": 10000 * many, "gpu_count": many}])
        text = analyze(options, path, "--only", "regions").stdout
        check(f"note: {many} ranges had not ended" in text and f"note: {many - MOST_OPEN} launches in more than {MOST_OPEN} nested ranges" in text,
              "ranges that never end: notes say what does not count", text)
        done = run([options.tracetool, "export", "--folded", "--weight", "cpu", path, "-o", f"{folder}/never.folded"])
        check(f"{many} calls had not ended when the trace ended" in done.stdout + done.stderr, "folded stacks: so they do", done)


def check_simulated(options):
    for words in ((), ("--graphs",), ("--copy-engine", "--groups")):
        with Folder() as folder:
            done = train(options, folder, "--ranks", 2, "--steps", 5, *words)
            what = f"simulated {' '.join(map(str, words))}"
            check(done.returncode == 0, f"{what}: it was recorded", done.stderr)
            merged, kineto = f"{folder}/run.ttrace", f"{folder}/kineto"
            run([options.tracetool, "merge", f"{folder}/traces", "-o", merged])
            run([options.tracetool, "export", "--kineto", merged, "-o", kineto])
            exported = [slow_tables.read_json(path) for path in sorted(glob.glob(f"{kineto}/*.json*"))]
            said = ask(options, f"{folder}/traces", "--by", "rank")
            check({row["name"] for row in said} >= {"forward", "backward", "optimizer"} and {row["source"] for row in said} == {"nvtx"},
                  f"{what}: its NVTX ranges", said)
            check(any(row["launching"] for row in said), f"{what}: some launch work", said)
            check(said == ask(options, merged, "--by", "rank"), f"{what}: merged as recorded")
            for rank, events in enumerate(exported):
                true = {row["name"]: row for row in regions([events])}
                of_rank = [row for row in said if row["rank"] == rank]
                keys = ("count", "host_ns", "host_median_ns", "host_stddev_ns", "gpu_span_median_ns", "gpu_span_stddev_ns", "launching", "gpu_span_ns", "gpu_busy_ns", "gpu_gap_ns", "gpu_count", "kernels")
                check_rows(f"{what}: rank {rank}", of_rank, [{key: true[row["name"]][key] for key in keys} for row in of_rank])


def check_traces(options):
    compared = count_sets(options, check_set)
    check(compared > 0 or not os.path.isdir(options.traces), f"{compared} ranges were compared")


if __name__ == "__main__":
    run_checks(check_worked, check_spread, check_never_ended, check_traces, simulated=(check_simulated,))
