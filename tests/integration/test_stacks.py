#!/usr/bin/env python3
"""`tracetool analyze --only modules,stacks` and `export --folded` against a slow program (slow_stacks.py), to the nanosecond, on Kineto
traces; and a worked example.

  test_stacks.py --tracetool PATH --traces DIR
"""
import gzip
import json
import os

import slow_tables
from harness import Folder, check, first, run
from slow_stacks import folded, modules, stacks, tree
from test_analyze import analyze, count_sets, run_checks, tables
from test_operators import event, kernel


def same_rows(what, said, true, keys):
    """In the order of the first of `keys`, the largest first; others as they come."""
    plain = lambda rows: sorted((tuple(round(v, 9) if isinstance(v, (int, float)) else str(v) for v in row.values()) for row in rows), key=str)
    missing = [row for row in plain(said) if row not in set(plain(true))][:3] if plain(said) != plain(true) else []
    check(plain(said) == plain(true), f"{what}: {len(true)} rows", lambda: (missing, len(said)))
    order = [sum(row[key] for key in keys) for row in said]
    check(order == sorted(order, reverse=True), f"{what}: the longest on the GPU first", order[:9])


def lines_of(text):
    lines = [line.rpartition(" ") for line in text.splitlines()]
    return {stack: int(ns) for stack, _, ns in lines}, len(lines)


def check_folded(options, name, files, trees, weight):
    done = run([options.tracetool, "export", "--folded", "--weight", weight, *files, "-o", "-"])
    said, count = lines_of(done.stdout)
    ranks = range(len(files))  # which the lines of several begin with
    if len(files) > 1:
        strip = lambda lines: sorted((line.partition(";")[2], ns) for line, ns in lines.items())
        true = folded(trees, ranks, weight)
        check(strip(said) == strip(true), f"{name}: folded by {weight}, {len(true)} lines of {len(files)} ranks", done.stderr)
        return
    true = folded(trees, ranks, weight)
    wrong = [(line, said.get(line), true.get(line)) for line in said.keys() | true.keys() if said.get(line) != true.get(line)]
    check(not wrong and count == len(said), f"{name}: folded by {weight}, {len(true)} lines", lambda: (len(wrong), first(wrong), done.stderr))


def check_set(options, name, files):
    """How many rows were compared."""
    read = [slow_tables.read_json(path) for path in files]
    if any(events is None for events in read):
        return 0
    said = tables(options, *files, "--only", "modules,stacks")
    trees = [tree(events) for events in read]
    true_modules, outside = modules(trees)
    true_stacks = stacks(trees)
    same_rows(f"{name}: modules", said.get("modules", []), true_modules, ("gpu_forward_ns", "gpu_backward_ns"))
    same_rows(f"{name}: stacks", said.get("stacks", []), true_stacks, ("gpu_ns",))
    for weight in ("gpu", "cpu"):
        check_folded(options, name, files, trees, weight)
    if true_modules:
        text = analyze(options, *files, "--only", "modules").stdout
        check((f"note: {outside} kernel" in text) == (outside > 0), f"{name}: {outside} kernels and copies are of no module", text[-300:])
    return len(true_modules) + len(true_stacks)


def frame(name, start, duration, module=None):
    return event(name, "python_function", start, duration, **{"Python id": start, "Python parent id": 0},
                 **({"Python module id": module} if module is not None else {}))


# A model with two layers of one class, forward, then backward on another thread; a backward operator whose forward one is not there.
WORKED = [
    frame("train.py(3): step;x", 100, 400), frame("nn.Module: Model_0", 110, 200, 0),
    frame("nn.Module: Layer_0", 120, 40, 0), event("aten::mm", "cpu_op", 125, 30, **{"Sequence number": 7}),
    event("cudaLaunchKernel", "cuda_runtime", 130, 10, correlation=1),
    frame("nn.Module: Layer_1", 170, 40, 1), event("aten::mm", "cpu_op", 175, 30, **{"Sequence number": 8}),
    event("cudaLaunchKernel", "cuda_runtime", 180, 10, correlation=2),
    dict(event("MmBackward", "cpu_op", 320, 30, **{"Sequence number": 8, "Fwd thread id": 1}), tid=2),
    dict(event("aten::mm", "cpu_op", 325, 20), tid=2), dict(event("cudaLaunchKernel", "cuda_runtime", 330, 10, correlation=3), tid=2),
    dict(event("LostBackward", "cpu_op", 360, 30, **{"Sequence number": 99, "Fwd thread id": 1}), tid=2),
    dict(event("cudaLaunchKernel", "cuda_runtime", 365, 5, correlation=4), tid=2),
    kernel(140, 5, 1), kernel(200, 7, 2), kernel(345, 11, 3), kernel(380, 13, 4)]


def check_worked(options):
    with Folder() as folder:
        path = f"{folder}/worked.json.gz"
        with gzip.open(path, "wt") as file:
            json.dump({"traceEvents": WORKED}, file)
        check_set(options, "a worked example", [path])
        rows = {row["module"]: row for row in tables(options, path, "--only", "modules")["modules"]}
        some = {name: (row["operators"], row["cpu_forward_ns"], row["cpu_backward_ns"], row["gpu_forward_ns"], row["gpu_backward_ns"], row["gpu_self_ns"]) for name, row in rows.items()}
        check(some == {"Model_0": (4, 60000, 30000, 12000, 11000, 0), "Model_0 > Layer_0": (1, 30000, 0, 5000, 0, 5000),
                       "Model_0 > Layer_1": (3, 30000, 30000, 7000, 11000, 18000)}, "modules, by hand", some)
        done = run([options.tracetool, "export", "--folded", path, "-o", "-"])
        check(lines_of(done.stdout)[0] == {"train.py(3): step:x;Model_0;Layer_0;aten::mm;cudaLaunchKernel;k": 5000,
                                           "train.py(3): step:x;Model_0;Layer_1;aten::mm;cudaLaunchKernel;k": 7000,
                                           "train.py(3): step:x;Model_0;Layer_1;MmBackward;aten::mm;cudaLaunchKernel;k": 11000,
                                           "LostBackward;cudaLaunchKernel;k": 13000}, "folded, by hand", done)
        check("speedscope" in done.stderr and "36.00 us" in done.stderr, "it says what to do next", done.stderr)
        done = run([options.tracetool, "export", "--folded", path, "--time", "0-45us", "-o", f"{folder}/part.folded.gz"])
        check(done.returncode == 0, "a part of the time, compressed", done)
        with gzip.open(f"{folder}/part.folded.gz", "rt") as file:
            check(sum(lines_of(file.read())[0].values()) == 5000, "has what runs in it")
        for words, said in ((("--folded", "--chrome"), "one format"), (("--folded", "--manifest"), "--manifest"), (("--weight", "cpu"), "--folded"),
                            (("--folded", "--weight", "x"), "--weight"), (("--folded", "-o", path), "also an input")):
            done = run([options.tracetool, "export", path, *words], cwd=folder)
            check(done.returncode == 1 and said in done.stderr, f"{' '.join(words[:3])}: refused", done)


def check_none(options):
    with Folder() as folder:
        path = f"{folder}/plain.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": [event("aten::mm", "cpu_op", 1, 2)]}, file)
        said = analyze(options, path, "--only", "modules,stacks").stdout
        check("TRACETOOL_TORCH=stacks" in said and "with_stack=True" in said, "without modules and stacks it says how to get them", said)


def check_traces(options):
    compared = count_sets(options, check_set)
    check(compared > 0 or not os.path.isdir(options.traces), f"{compared} rows were compared")


if __name__ == "__main__":
    run_checks(check_worked, check_none, check_traces)
