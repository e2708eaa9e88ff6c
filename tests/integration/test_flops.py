#!/usr/bin/env python3
"""`tracetool analyze --only flops,roofline` against a slow program (slow_flops.py) on Kineto traces; a product of known size on a
known GPU; recordings, which tell no sizes.

  test_flops.py --tracetool PATH --traces DIR [--agent PATH --simulated PATH]
"""
import json
import os

import slow_flops
import slow_tables
from harness import Folder, check, run
from test_analyze import check_rows, run_checks, tables
from test_copies import gpus
from trace_sets import folders, inputs
from truth import train


def ordered(rows):
    return sorted(rows, key=lambda row: (-row["time_ns"], row["name"], row["shape"], row["flop"], str(row.get("bytes"))))


def check_file(options, path):
    """Returns how many rows it has."""
    events = slow_tables.read_json(path)
    if events is None:
        return 0
    of = gpus(path)
    true = list(slow_flops.rows(events, next(iter(of)) if len(of) == 1 else None))
    said = tables(options, path, "--only", "flops,roofline")
    name = os.path.basename(path)
    for i, table in enumerate(("flops", "roofline")):
        check_rows(f"{name}: {table}", ordered(said.get(table, [])), ordered([row[i] for row in true]))
    return len(true)


def check_traces(options):
    rows = 0
    with folders(options.traces) as some:
        for folder in some:
            for name, files in inputs(folder):
                rows += sum(check_file(options, path) for path in files)
                if len(files) > 1:
                    check_ranks(options, name, files)
        check(rows >= (100 if len(some) > 1 else 0), f"{rows} rows were compared", rows)


def check_ranks(options, name, files):
    together = tables(options, *files, "--only", "flops")["flops"]
    ranks = tables(options, *files, "--only", "flops", "--by", "rank")["flops"]
    check(sum(row["time_ns"] for row in together) == sum(row["time_ns"] for row in ranks) and
          sum(row["count"] * row["flop"] for row in together) == sum(row["count"] * row["flop"] for row in ranks), f"{name}: by rank the same sums")


def check_worked_example(options):
    """A product of 4096 in bf16 in 200 us on an H100: 1,365 FLOP a byte, 687.19 TFLOP/s."""
    n = 4096
    op = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 5,
          "args": {"External id": 5, "Input Dims": [[n, n], [n, n]], "Input type": ["c10::BFloat16", "c10::BFloat16"]}}
    kernel = {"ph": "X", "cat": "kernel", "name": "nvjet_tst_256x128", "pid": 0, "tid": 7, "ts": 20, "dur": 150,
              "args": {"device": 0, "stream": 7, "External id": 5, "correlation": 1}}
    second = {**kernel, "name": "splitk_reduce", "ts": 170, "dur": 50}
    with Folder() as folder:
        path = f"{folder}/one.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], "traceEvents": [op, kernel, second]}, file)
        check_file(options, path)
        row = tables(options, path, "--only", "roofline")["roofline"][0]
        check(row["count"] == 1 and row["flop"] == 2 * n**3 and row["bytes"] == 6 * n**2 and round(row["flop_per_byte"]) == 1365 and
              row["bound"] == "compute" and abs(row["tflop_per_s"] - 687.194767) < 1e-5, "a product of 4096: 1,365 FLOP a byte", row)


def check_mfu(options):
    """Two steps on an H100, with one and three products of 4096 in bf16, the last of which end after 0.09 and 1.39 ms."""
    n, events = 4096, []
    for i, step in enumerate((0, 1, 1, 1)):
        at = 1000 * step + 100 * i
        events += [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": at + 1, "dur": 5,
                    "args": {"External id": 5 + i, "Input Dims": [[n, n], [n, n]], "Input type": ["c10::BFloat16", "c10::BFloat16"]}},
                   {"ph": "X", "cat": "kernel", "name": "nvjet", "pid": 0, "tid": 7, "ts": at + 10, "dur": 80,
                    "args": {"device": 0, "stream": 7, "External id": 5 + i, "correlation": i + 1}}]
    events += [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{i}", "pid": 1, "tid": 1, "ts": 1000 * i, "dur": 1000, "args": {}} for i in (0, 1)]
    with Folder() as folder:
        path = f"{folder}/steps.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], "traceEvents": events}, file)
        one, could = 2 * n**3, 989.5e12 * 1e-9
        for words, told in (((), None), (("--flops-per-step", "4e11"), 100 * 4e11 / could)):
            check_rows(f"mfu {' '.join(words)}", tables(options, path, "--only", "mfu", *words)["mfu"],
                       [{"step": step, "step_ns": ns, "operator_tflop": count * one / 1e12, "type": "bf16", "peak_tflop_per_s": 989.5,
                         "operator_pct": 100 * count * one / could / ns, "mfu_pct": told and told / ns}
                        for step, count, ns in ((0, 1, 90_000), (1, 3, 1_300_000))])
        done = run([options.tracetool, "analyze", path, "--only", "mfu", "--flops-per-step", "-1"])
        check(done.returncode == 1, "operations of a step are positive", done)


def check_simulated(options):
    with Folder() as folder:
        done = train(options, folder, "--ranks", 2, "--steps", 3)
        check(done.returncode == 0, "it was recorded", done.stderr)
        said = tables(options, f"{folder}/traces", "--only", "flops,roofline")
        check(said == {"flops": [], "roofline": []}, "recordings tell no sizes: no rows", said)


if __name__ == "__main__":
    run_checks(check_worked_example, check_mfu, check_traces, simulated=(check_simulated,))
