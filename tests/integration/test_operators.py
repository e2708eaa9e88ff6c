#!/usr/bin/env python3
"""`tracetool analyze --only operators` against a slow program (slow_operators.py), to the nanosecond, on Kineto traces: of all
ranks, by rank and by shape; and that a recording has none.

  test_operators.py --tracetool PATH --traces DIR [--agent PATH --simulated PATH]
"""
import gzip
import json
import os

import slow_tables
from harness import Folder, check
from slow_operators import operators
from test_analyze import analyze, check_rows, count_sets, run_checks, tables
from truth import train


def check_set(options, name, files):
    """How many operators were compared."""
    read = [slow_tables.read_json(path) for path in files]
    if any(events is None for events in read):
        return 0
    true, unclaimed = operators(read)
    ask = lambda *words: tables(options, *files, "--only", "operators", *words).get("operators", [])
    check_rows(f"{name}: operators", ask(), true)
    if not true:
        return 0
    check_rows(f"{name}: operators by shape", ask("--by", "shape"), operators(read, by_shape=True)[0])
    if len(files) == 1:
        check_rows(f"{name}: operators by rank", ask("--by", "rank"), true)
    else:
        alone = [row for path in files for row in tables(options, path, "--only", "operators", "--by", "rank")["operators"]]
        check(sorted(map(str, ask("--by", "rank"))) == sorted(map(str, alone)), f"{name}: by rank as alone, {len(alone)} rows")
    said = analyze(options, *files, "--only", "operators", "--limit", 1).stdout
    check((f"note: {unclaimed} kernel" in said) == (unclaimed > 0), f"{name}: {unclaimed} kernels and copies are of no operator", said)
    return sum(row["calls"] for row in true)


def event(name, category, start, duration, **args):
    return {"ph": "X", "name": name, "cat": category, "pid": 1, "tid": 1, "ts": start, "dur": duration, "args": args}


def kernel(start, duration, correlation):
    return {"ph": "X", "name": "k", "cat": "kernel", "pid": 0, "tid": 7, "ts": start, "dur": duration,
            "args": {"device": 0, "stream": 7, "correlation": correlation}}


# What is in what, by hand: an operator in an annotation in an operator; a call of the driver in one of the runtime; calls that
# begin and end with their operator; a range that is not wholly in another; work without a launch.
WORKED = [
    event("outer", "cpu_op", 100, 100, **{"Input Dims": [[2, 3], []], "Module Hierarchy": "A"}),
    event("note", "user_annotation", 110, 50), event("inner", "cpu_op", 120, 20, **{"Input Dims": [[[4], [5, 6]]]}),
    event("cudaLaunchKernel", "cuda_runtime", 120, 20, correlation=1),
    event("cuLaunchKernel", "cuda_driver", 125, 5, correlation=1),
    event("cudaLaunchKernel", "cuda_runtime", 170, 10, correlation=2),
    event("outer", "cpu_op", 300, 10, **{"Module Hierarchy": "B"}), event("late", "cpu_op", 305, 10, **{"Module Hierarchy": "C"}),
    event("cudaMemcpyAsync", "cuda_runtime", 400, 10, correlation=3),
    kernel(130, 7, 1), kernel(200, 11, 2), kernel(420, 13, 3), kernel(440, 17, 0)]
ANSWERS = [{"name": "outer", "calls": 2, "cpu_ns": 110000, "cpu_self_ns": 50000, "gpu_ns": 18000, "gpu_self_ns": 11000,
            "gpu_share_pct": 100 * 11 / 48, "gpu_count": 1, "module": None},
           {"name": "inner", "calls": 1, "cpu_ns": 20000, "cpu_self_ns": 0, "gpu_ns": 7000, "gpu_self_ns": 7000,
            "gpu_share_pct": 100 * 7 / 48, "gpu_count": 1, "module": None},
           {"name": "late", "calls": 1, "cpu_ns": 10000, "cpu_self_ns": 10000, "gpu_ns": 0, "gpu_self_ns": 0, "gpu_share_pct": 0.0,
            "gpu_count": 0, "module": "C"}]


def names(*places):
    """Operators on one thread: (name, start, duration, sizes of its input)."""
    return [event(name, "cpu_op", start, duration, **({"Input Dims": [list(dims)]} if dims else {})) for name, start, duration, *dims in places]


def launch(start, duration, correlation):
    return event("cudaLaunchKernel", "cuda_runtime", start, duration, correlation=correlation)


# An operator directly in one of its own name, by hand; of each row calls, cpu, cpu_self, gpu, gpu_self and gpu_count, times in us.
NESTED = [
    ("alone: one call", names(("a", 100, 100), ("a", 110, 60)) + [launch(120, 10, 1), kernel(130, 7, 1)], {"a": (1, 100, 90, 7, 7, 1)}),
    ("three times", names(("a", 100, 100), ("a", 110, 60), ("a", 120, 30)) + [launch(125, 10, 1), kernel(130, 7, 1)], {"a": (1, 100, 90, 7, 7, 1)}),
    ("a launch comes after it", names(("a", 100, 100), ("a", 110, 60)) + [launch(120, 10, 1), kernel(130, 7, 1), launch(180, 10, 2), kernel(190, 9, 2)],
     {"a": (2, 160, 80, 23, 16, 2)}),
    ("a launch comes before it", names(("a", 100, 100), ("a", 120, 60)) + [launch(105, 10, 2), kernel(106, 9, 2), launch(130, 10, 1), kernel(150, 7, 1)],
     {"a": (2, 160, 80, 23, 16, 2)}),
    ("the inner of three is alone", names(("a", 100, 100), ("a", 110, 60), ("a", 120, 30), ("b", 180, 10)) + [launch(125, 10, 1), kernel(130, 7, 1)],
     {"a": (2, 160, 80, 14, 7, 1), "b": (1, 10, 10, 0, 0, 0)}),
    ("the outer of three is alone", names(("a", 100, 100), ("a", 110, 60), ("a", 120, 30), ("b", 155, 10)) + [launch(125, 10, 1), kernel(130, 7, 1)],
     {"a": (2, 130, 80, 14, 7, 1), "b": (1, 10, 10, 0, 0, 0)}),
    ("an annotation lies between", names(("a", 100, 100), ("a", 120, 60)) + [event("note", "user_annotation", 110, 80), launch(130, 10, 1), kernel(150, 7, 1)],
     {"a": (2, 160, 70, 14, 7, 1)}),
    ("another name lies between", names(("a", 100, 100), ("b", 110, 80), ("a", 120, 60)), {"a": (2, 160, 80, 0, 0, 0), "b": (1, 80, 20, 0, 0, 0)}),
    ("a launch in an annotation in it", names(("a", 100, 100), ("a", 110, 60)) + [event("note", "user_annotation", 115, 40), launch(120, 10, 1), kernel(130, 7, 1)],
     {"a": (1, 100, 60, 7, 7, 1)}),
    ("the kernel ends after both", names(("a", 100, 20), ("a", 105, 10), ("b", 200, 5)) + [launch(106, 2, 1), kernel(300, 7, 1)],
     {"a": (1, 20, 18, 7, 7, 1), "b": (1, 5, 5, 0, 0, 0)}),
    ("twice, side by side", names(("a", 100, 100), ("a", 110, 10), ("a", 130, 10)), {"a": (3, 120, 100, 0, 0, 0)}),
    ("utilities are part of what is around them", names(("a", 100, 100), ("aten::is_leaf", 105, 1), ("a", 110, 60)), {"a": (1, 100, 100, 0, 0, 0)})]
# The same, of other sizes: the inner one is part of the outer one's row.
OTHER_SIZES = (names(("a", 100, 100, 4), ("a", 110, 60, 2)) + [launch(120, 10, 1), kernel(130, 7, 1)] +
               names(("a", 300, 100, 4), ("a", 310, 60, 2), ("b", 380, 5)) + [launch(320, 10, 2), kernel(330, 9, 2)])
OF_SIZES = {("a", "[[4]]"): (2, 200, 125, 16, 7, 1), ("a", "[[2]]"): (1, 60, 50, 9, 9, 1), ("b", None): (1, 5, 5, 0, 0, 0)}


def numbers(row):
    return (row["calls"], *(row[key] // 1000 for key in ("cpu_ns", "cpu_self_ns", "gpu_ns", "gpu_self_ns")), row["gpu_count"])


def check_nested(options):
    with Folder() as folder:
        path = f"{folder}/nested.json"
        for what, events, true in NESTED:
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"traceEvents": events}, file)
            said = {row["name"]: numbers(row) for row in tables(options, path, "--only", "operators")["operators"]}
            check(said == true, f"an operator in one of its name: {what}", said)
            check({row["name"]: numbers(row) for row in operators([events])[0]} == true, f"{what}: the slow program's answer")
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": OTHER_SIZES}, file)
        said = {(row["name"], row["shapes"]): numbers(row) for row in tables(options, path, "--only", "operators", "--by", "shape")["operators"]}
        check(said == OF_SIZES, "an operator in one of its name, by sizes", said)
        slow = {(row["name"], row["shapes"]): numbers(row) for row in operators([OTHER_SIZES], by_shape=True)[0]}
        check(slow == OF_SIZES, "by sizes: the slow program's answer", slow)


def check_worked(options):
    with Folder() as folder:
        path = f"{folder}/worked.json.gz"
        with gzip.open(path, "wt") as file:
            json.dump({"traceEvents": WORKED}, file)
        check_rows("a worked example", tables(options, path, "--only", "operators")["operators"], ANSWERS)
        check_rows("the slow program's answer", operators([slow_tables.read_json(path)])[0], ANSWERS)
        shapes = {(row["name"], row["shapes"]) for row in tables(options, path, "--only", "operators", "--by", "shape")["operators"]}
        check(shapes == {("outer", "[[2, 3], []]"), ("outer", None), ("inner", "[[[4], [5, 6]]]"), ("late", None)}, "shapes", shapes)
        # Of a part of the time what lies in it counts.
        said = tables(options, path, "--only", "operators", "--time", "130000-150000")
        row = {each["name"]: each for each in said.get("operators", [])}.get("outer")
        check(row is None or row["cpu_ns"] <= 110000, "--time is taken", said)


def check_recording(options):
    with Folder() as folder:
        train(options, folder, "--ranks", 1, "--steps", 2)
        said = analyze(options, f"{folder}/traces", "--only", "operators")
        check(said.returncode == 0 and "note: no operators" in said.stdout, "a recording has none", said)


def check_traces(options):
    compared = count_sets(options, check_set)
    check(compared > 0 or not os.path.isdir(options.traces), f"{compared} calls of operators were compared")


if __name__ == "__main__":
    run_checks(check_worked, check_nested, check_traces, simulated=(check_recording,))
