#!/usr/bin/env python3
"""What is recorded of PyTorch is changed 3,000 times while operators run on several threads: no record is wrong, none comes twice, and where
operators are never off, none is missing. On the stand-in of PyTorch, and on the real one of TRACETOOL_PYTHON (else this one), where
there is one.

  test_torch_levels.py --levels PATH --tracetool PATH --torch PATH
"""
import json
import os
import sys

from harness import Folder, arguments, check, files_below, finish, first, run
from test_torch import is_known_python, is_same, pairs, true_input
from torch_training import USER

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples"))
import read_recording  # noqa: E402

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_levels.py")
PYTHON = os.environ.get("TRACETOOL_PYTHON", sys.executable)
CHANGES = 3000
OFF, OPERATORS = 0, 2  # the lowest level


def recorded(options, what, folder, *how, **more):
    """The recording; None: there is none to look at."""
    done = run([PYTHON, PROGRAM, *map(str, how)], cwd=folder, LD_PRELOAD=options.levels, TRACETOOL_TORCH="all", TRACETOOL_DIR=f"{folder}/traces",
               TRACETOOL_BUFFER="256M", TRACETOOL_GUARD_RATE=0, OMP_NUM_THREADS=1, **more)
    files = files_below(f"{folder}/traces", ".ring") if os.path.isdir(f"{folder}/traces") else []
    if not check(done.returncode == 0 and "tracetool" not in done.stderr and len(files) == 1, f"{what}: it runs and is recorded", lambda: (done, files)):
        return None
    recording = read_recording.read(files[0])
    check(not recording.lost and not recording.overwritten and recording.state == "clean", f"{what}: nothing is lost",
          lambda: (recording.lost, recording.overwritten, recording.state))
    info = json.loads(run([options.tracetool, "info", f"{folder}/traces", "--json"]).stdout)["ranks"][0]
    check(not info["notes"] and not info["notices"], f"{what}: tracetool finds nothing wrong in it", (info["notes"], info["notices"]))
    return recording


def halves(what, recording):
    """Of each thread, begins and ends lie in each other; [(begin, end)] in the order of the begins."""
    open_, wrong = {}, []
    for event in sorted((e for e in recording.events if e.kind.startswith("operator_")), key=lambda e: e.time):
        stack = open_.setdefault(event.tid, [])
        if event.kind == "operator_begin":
            if stack and stack[-1].id == event.id:
                wrong.append(("twice", event))
            stack.append(event)
        elif not stack or stack.pop().id != event.id:
            wrong.append(("another one ends", event))
    wrong += [("does not end", stack) for stack in open_.values() if stack]
    if not check(not wrong, f"{what}: each begin has its end, and they lie in each other", lambda: first(wrong)):
        return []
    return pairs(recording)


def check_levels(what, recording, lowest):
    """The levels were there: operators with and without inputs and stacks, and, where it may be, times without operators."""
    begins = [event for event in recording.events if event.kind == "operator_begin" and event.scope != USER]
    kinds = {(event.inputs is not None, event.stack is not None) for event in begins}
    known = {(False, False), (True, False)} | ({(False, True), (True, True)} if is_known_python() else set())
    check(known <= kinds, f"{what}: of all levels, {len(begins)} operators", kinds)


def check_standin(options, lowest):
    what = f"stand-in, from level {lowest}"
    with Folder() as folder:
        recording = recorded(options, what, folder, "standin", options.torch, f"{folder}/truth", CHANGES, lowest, TORCH_LAYOUT="2.9")
        if recording is None:
            return
        lines = {}
        for line in map(json.loads, open(f"{folder}/truth", encoding="utf-8")):
            lines.setdefault((line["tid"], line["name"]), []).append(line)
        found, wrong, seen = halves(what, recording), [], 0
        for begin, end in found:
            same = [line for line in lines.get((begin.tid, begin.name), ()) if "seen" not in line and line["begin"][0] <= begin.time <= line["begin"][1]]
            if len(same) != 1 or not is_same(same[0], begin, end):
                wrong.append((begin, same))
                continue
            line, same[0]["seen"] = same[0], True
            seen += 1
            true = [true_input(*each) for each in line["inputs"]]
            if begin.inputs is not None and begin.inputs != true or begin.sequence not in (None, line["sequence"]):
                wrong.append((begin.inputs, true, begin.sequence, line["sequence"]))
            if begin.stack is not None and [tuple(frame) for frame in begin.stack] != [tuple(frame) for frame in line["stack"]]:
                wrong.append((begin.stack, line["stack"]))
        check(not wrong, f"{what}: {seen} of {sum(map(len, lines.values()))} operators and ranges are recorded as they were, each once", lambda: first(wrong, 2))
        if lowest >= OPERATORS:
            missing = [line["name"] for some in lines.values() for line in some if "seen" not in line]
            check(not missing, f"{what}: none is missing", lambda: first(missing))
        else:
            check(0 < seen < sum(map(len, lines.values())), f"{what}: some ran while nothing was recorded", seen)
        check_levels(what, recording, lowest)


def check_torch(options, version, lowest):
    what = f"PyTorch {version}, from level {lowest}"
    with Folder() as folder:
        recording = recorded(options, what, folder, "torch", f"{folder}/truth", CHANGES, lowest)
        if recording is None:
            return
        with open(f"{folder}/truth", encoding="utf-8") as file:
            truth = json.load(file)
        names, tids = truth["names"], {line["range"]: line["tid"] for line in truth["lines"]}
        inside, wrong, ranges = {}, [], {}
        for begin, end in halves(what, recording):
            if begin.name in tids:
                if begin.tid != tids[begin.name] or begin.name in inside:
                    wrong.append(begin)
                inside[begin.name], ranges[begin.tid] = [], (begin.name, end.time)
            elif begin.tid in ranges and begin.time < ranges[begin.tid][1]:
                inside[ranges[begin.tid][0]].append(begin.name)
            elif begin.tid in tids.values() and lowest >= OPERATORS:
                wrong.append(begin)
        for said in inside.values():
            if said != names if lowest >= OPERATORS else not is_part(said, names):
                wrong.append((said, names))
        check(not wrong and inside, f"{what}: {len(inside)} of {len(tids)} ranges with the operators that ran in them, {len(names)} each", lambda: first(wrong, 2))
        check(len(inside) == len(tids) or lowest < OPERATORS, f"{what}: none is missing", len(inside))
        check_levels(what, recording, lowest)


def is_part(some, names):
    """In the same order, each at most as often."""
    rest = iter(names)
    return all(name in rest for name in some)


def main():
    options = arguments("levels", "tracetool", "torch")
    check_standin(options, OPERATORS)
    check_standin(options, OFF)
    has = run([PYTHON, "-c", "import torch; print(torch.__version__)"])
    if has.returncode != 0:
        print(f"skipped: real PyTorch: {PYTHON} has no torch", flush=True)
    else:
        check_torch(options, has.stdout.strip(), OPERATORS)
        check_torch(options, has.stdout.strip(), OFF)
    finish()


if __name__ == "__main__":
    main()
