#!/usr/bin/env python3
"""Kernels find their operators and modules, and backward operators their forward ones, in a recording with operators, stacks and kernels
(stand-ins of PyTorch and CUDA): in tables, folded stacks and the Kineto export, and the same from a merged file.

  test_operators_on_gpu.py --agent PATH --simulated PATH --tracetool PATH --torch PATH --launcher PATH
"""
import collections
import glob
import json
import os
import sys

from harness import Folder, arguments, check, finish, first, run
from recorded import environment_of, no_core
from slow_tables import read_json
from test_torch import is_known_python

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "operators_on_gpu.py")
PYTHON = os.environ.get("TRACETOOL_PYTHON", sys.executable)
STEPS = 20


def sums(launched, key):
    """{key of a launch: (ns, kernels)}; of several keys each."""
    found = collections.defaultdict(lambda: [0, 0])
    for one in launched:
        for each in key(one):
            found[each][0] += one["ns"]
            found[each][1] += 1
    return {each: tuple(both) for each, both in found.items()}


def rows_of(options, path, table):
    return json.loads(run([options.tracetool, "analyze", path, "--only", table, "--format", "json"]).stdout)[table]


def check_tables(options, what, path, launched):
    rows = {row["name"]: row for row in rows_of(options, path, "operators")}
    inner = sums(launched, lambda one: one["operators"][-1:])
    check({name: (row["gpu_self_ns"], row["gpu_count"]) for name, row in rows.items() if row["gpu_count"]} == inner, f"{what}: operators", lambda: (rows, inner))
    outer = sums(launched, lambda one: set(one["operators"]))
    check({name: row["gpu_ns"] for name, row in rows.items() if row["gpu_ns"]} == {name: ns for name, (ns, _) in outer.items()}, f"{what}: with those in them", rows)
    flops = rows_of(options, path, "flops")
    multiplied = [one for one in launched if one["operators"][-1:] == ["aten::mm"]]
    check(len(flops) == 1 and (flops[0]["flop"], flops[0]["count"]) == (2 * 16 * 32 * 8, len(multiplied)), f"{what}: operations of {len(multiplied)} products", flops)
    if not is_known_python():
        return
    forward = sums([one for one in launched if not one["is_backward"]], lambda one: {" > ".join(one["modules"][:n + 1]) for n in range(len(one["modules"]))})
    behind = sums([one for one in launched if one["is_backward"]], lambda one: {" > ".join(one["modules"][:n + 1]) for n in range(len(one["modules"]))})
    told = {row["module"]: row for row in rows_of(options, path, "modules")}
    names = {"Model": "Model", "first": "Model > Linear", "second": "Model > Linear", "Model > Linear": "Model > Linear"}
    by_class = collections.defaultdict(lambda: [0, 0])
    for module, row in told.items():
        by_class[names.get(module, module)][0] += row["gpu_forward_ns"]
        by_class[names.get(module, module)][1] += row["gpu_backward_ns"]
    true = {module: [forward.get(module, (0, 0))[0], behind.get(module, (0, 0))[0]] for module in {*forward, *behind}}
    check(dict(by_class) == true, f"{what}: modules, forward and backward", lambda: (told, true))
    folded = run([options.tracetool, "export", "--folded", path, "-o", "-"]).stdout.splitlines()
    total = sum(int(line.rpartition(" ")[2]) for line in folded)
    check(total == sum(one["ns"] for one in launched), f"{what}: folded stacks hold all work", total)
    behind_linear = [line for line in folded if ";MmBackward0;aten::mm;" in line]
    check(behind_linear and all("Linear" in line and "Model" in line for line in behind_linear), f"{what}: backward stands below its forward frames", first(behind_linear, 2))


def check_kineto(options, folder, launched):
    """Kineto's External ids: of a kernel the innermost operator's."""
    run([options.tracetool, "export", "--kineto", f"{folder}/traces", "-o", f"{folder}/kineto"])
    events = read_json(glob.glob(f"{folder}/kineto/*.json*")[0])
    names = {event["args"]["External id"]: event["name"] for event in events if event.get("cat") == "cpu_op"}
    check(len(names) == sum(event.get("cat") == "cpu_op" for event in events), "each operator has an External id of its own", len(names))
    kernels = collections.Counter(names.get(event["args"].get("External id")) for event in events if event.get("cat") == "kernel")
    true = collections.Counter((one["operators"] or [None])[-1] for one in launched)
    check(kernels == true, "kernels have that of their operator", (kernels, true))


def main():
    options = arguments("agent", "simulated", "tracetool", "torch", "launcher")
    with Folder() as folder:
        environment = environment_of(options, folder, TRACETOOL_TORCH="stacks", TRACETOOL_BUFFER="16M", TORCH_LAYOUT="2.9", SIM_TRUTH=None)
        done = run([PYTHON, PROGRAM, options.torch, options.launcher, str(STEPS)], cwd=folder, limit=no_core, **environment)
        if check(done.returncode == 0 and "tracetool" not in done.stderr, "the program runs as without us", done):
            launched = json.loads(done.stdout)["launched"]
            check(len(launched) == 6 * STEPS, f"{len(launched)} kernels were launched")
            check_tables(options, "a recording", f"{folder}/traces", launched)
            run([options.tracetool, "merge", f"{folder}/traces", "-o", f"{folder}/run.ttrace"])
            check_tables(options, "a merged file", f"{folder}/run.ttrace", launched)
            check_kineto(options, folder, launched)
    finish()


if __name__ == "__main__":
    main()
