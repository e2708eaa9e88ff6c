#!/usr/bin/env python3
"""`tracetool analyze --only copies` against a slow program (slow_copies.py): on Kineto traces, and on simulated runs against
their truth, from recordings and merged files.

  test_copies.py --tracetool PATH --traces DIR [--agent PATH --simulated PATH]
"""
import gzip
import json
import os

import slow_copies
import slow_tables
from harness import Folder, check, run
from slow_copies import ordered
from test_analyze import check_rows, run_checks, tables
from trace_sets import folders, inputs
from truth import load, train


def gpus(path):
    """The names of the GPUs of one file."""
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as file:
        trace = json.load(file)
    return {gpu.get("name") for gpu in trace.get("deviceProperties", [])} if isinstance(trace, dict) else set()


def check_traces(options):
    compared, peaks = 0, 0
    with folders(options.traces) as some:
        for folder in some:
            for name, files in inputs(folder):
                for path in files:
                    events = slow_tables.read_json(path)
                    copies = list(slow_copies.of_kineto(events)) if events is not None else []
                    if not copies:
                        continue
                    of = gpus(path)
                    true = slow_copies.rows(copies, next(iter(of)) if len(of) == 1 else None)
                    said = tables(options, path, "--only", "copies").get("copies", [])
                    check_rows(f"{os.path.basename(path)}: copies", ordered(said), ordered(true))
                    check([row["time_ns"] for row in said] == sorted((row["time_ns"] for row in said), reverse=True),
                          f"{os.path.basename(path)}: the most time first")
                    compared += 1
                    peaks += sum(row["of_peak_pct"] is not None for row in said)
                if len(files) > 1:
                    check_ranks(options, name, files)
    check(compared >= 5 and peaks > 0, f"{compared} files were compared, {peaks} rows with a peak", (compared, peaks))


def check_ranks(options, name, files):
    """By rank, what each file says alone; of all ranks, their sums."""
    said = tables(options, *files, "--only", "copies", "--by", "rank").get("copies", [])
    alone = sum((tables(options, path, "--only", "copies", "--by", "rank").get("copies", []) for path in files), [])
    by_rank = lambda rows: sorted(rows, key=lambda row: json.dumps(row, sort_keys=True))
    check(by_rank(said) == by_rank(alone), f"{name}: {len(said)} rows by rank as of each file alone")
    every = tables(options, *files, "--only", "copies").get("copies", [])
    check(sum(row["time_ns"] for row in every) == sum(row["time_ns"] for row in said) and
          sum(row["count"] for row in every) == sum(row["count"] for row in said), f"{name}: all ranks are the sum of each")


def check_simulated(options):
    for words in ((), ("--copy-engine", "--groups"), ("--graphs",)):
        with Folder() as folder:
            what = f"simulated {' '.join(words)}"
            done = train(options, folder, "--ranks", 4, "--steps", 4, *words)
            check(done.returncode == 0, f"{what}: it was recorded", done.stderr)
            job = load(os.path.join(folder, "truth"))
            merged = f"{folder}/run.ttrace"
            run([options.tracetool, "merge", f"{folder}/traces", "-o", merged])
            for form, path in (("recordings", f"{folder}/traces"), ("merged", merged)):
                said = tables(options, path, "--only", "copies", "--by", "rank").get("copies", [])
                for rank in job:
                    true = slow_copies.rows(slow_copies.of_truth(rank))
                    gpu = [{**row, "of_peak_pct": None} for row in said if row["rank"] == rank.rank]
                    check_rows(f"{what}, {form}, rank {rank.rank}: copies", ordered(gpu), ordered(true))
                    check("--copy-engine" not in words or any(row["class"] == "comm" for row in true), f"{what}: NCCL copies", true)


if __name__ == "__main__":
    run_checks(check_traces, simulated=(check_simulated,))
