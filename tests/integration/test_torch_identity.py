#!/usr/bin/env python3
"""Compares frames, modules and operators in a recording with the program's own log while addresses are reused: generated code, rebuilt
models, greenlets. Uses a real PyTorch on the CPU. Skipped if the Python of TRACETOOL_PYTHON (default: this one) has no torch; the greenlet
part is skipped if it has no greenlet.

  test_torch_identity.py --agent PATH [--seconds S]
"""
import argparse
import bisect
import json
import os
import sys

from harness import Folder, check, files_below, finish, first, run, skip

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples"))
import read_recording  # noqa: E402

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_identity.py")
PYTHON = os.environ.get("TRACETOOL_PYTHON", sys.executable)
GREENLETS = 20  # as in torch_identity.py
WITHOUT_NAME = 0.2  # share of calls before their module was named


def record(options, folder, buffer, *kinds):
    """(the recording, what was true); None: it did not run."""
    done = run([PYTHON, PROGRAM, options.seconds, *kinds], cwd=folder, LD_PRELOAD=options.agent, TRACETOOL_TORCH="stacks", TRACETOOL_DIR=f"{folder}/traces",
               TRACETOOL_BUFFER=buffer, TRACETOOL_GUARD_RATE="0", OMP_NUM_THREADS=1)
    files = files_below(f"{folder}/traces", ".ring") if os.path.isdir(f"{folder}/traces") else []
    if not check(done.returncode == 0 and len(files) == 1, f"{kinds}: it runs", lambda: (done.returncode, done.stderr[-2000:], files)):
        return None
    return read_recording.read(files[0]), {int(number): true for number, true in json.loads(done.stdout.splitlines()[-1]).items()}


def ranges(recording, kind):
    """[(number, its begin)] of this kind."""
    begun = (event for event in recording.events if event.kind == "operator_begin" and event.name.startswith(kind + " "))
    return [(int(event.name.split()[1]), event) for event in begun]


def check_losses(recording, what):
    lost = recording.header["operators_without_stack"] + sum(recording.lost.values())
    check(lost == 0, f"{what}: nothing is lost", lambda: (recording.header["operators_without_stack"], recording.lost))


def check_generated(recording, truth):
    found = ranges(recording, "generated")
    wrong, without = [], 0
    for number, begin in found:
        frames = [frame for frame in begin.stack or () if frame.what == "python" and frame.file.startswith("<gen ")]
        without += begin.stack is None
        if begin.stack is not None and [[frame.name, frame.file, frame.line] for frame in frames] != [truth[number]]:
            wrong.append((truth[number], frames))
    check(len(found) > 300 and not wrong, f"generated: {len(found)} ranges have the frame of their own function", lambda: (len(found), len(wrong), first(wrong)))
    check(without == 0, "generated: each has a stack", without)
    return len(found)


def check_models(recording, truth):
    """Each number belongs to one module, and each named module has its true name."""
    found = ranges(recording, "models")
    names = {}
    for name in recording.module_names:
        names.setdefault(name.instance, set()).add((name.name, name.root))
    true_of, wrong, named = {}, [], 0
    for number, begin in found:
        frames = [frame for frame in begin.stack or () if frame.what == "module"]
        model, kind, path = truth[number]
        if not frames or frames[0].name != kind:
            wrong.append((number, "class", kind, frames))
            continue
        instance, root = frames[0].instance, frames[-1].instance
        if instance == 0:
            continue
        if true_of.setdefault(instance, (model, kind, path)) != (model, kind, path):
            wrong.append((number, "number", true_of[instance], (model, kind, path)))
        said = [name for name, of in names.get(instance, ()) if of == root]
        named += said == [path]
        if root != 0 and said != [path]:
            wrong.append((number, "name", path, names.get(instance)))
    built = {truth[number][0] for number, _ in found}
    check(len(built) >= 3 and not wrong, f"models: {len(found)} calls in {len(built)} models have their own module", lambda: (len(built), len(wrong), first(wrong)))
    missed = recording.header["module_names_missed"]
    check(missed > 0 or named >= (1 - WITHOUT_NAME) * len(found), f"models: {named} of them have its name", (named, len(found), missed))


def check_greenlets(recording, truth):
    found, begun, wrong, open_ids, unfinished = 0, {}, [], 0, 0
    true_of = sorted(truth.values())  # nothing else of theirs runs between the first two times of one
    for event in sorted((event for event in recording.events if event.kind in ("operator_begin", "operator_end")), key=lambda event: event.time):
        if event.kind == "operator_begin":
            open_ids += event.id in begun
            begun[event.id] = event
        elif (begin := begun.pop(event.id, None)) and begin.name == "Waiting":
            true = true_of[bisect.bisect_right(true_of, [begin.time]) - 1]
            found += 1
            if not true[0] <= begin.time <= true[1]:
                unfinished += 1  # ended by the exit of the program, so not in its log
            elif not true[2] <= event.time <= true[3]:
                wrong.append((true, begin.time, event.time))
    check(found > 100 and found - unfinished == len(truth) and unfinished <= GREENLETS and not wrong and open_ids == 0,
          f"greenlets: {found} operators begin and end when they did", lambda: (found, unfinished, len(truth), open_ids, len(wrong), first(wrong)))


CHECKS = {"generated": check_generated, "models": check_models, "greenlets": check_greenlets}


def check_kinds(options, kinds):
    for kind in kinds:
        with Folder() as folder:
            found = record(options, folder, "512M", kind)
            if found is not None:
                CHECKS[kind](*found)
                check_losses(found[0], kind)


def check_small_region(options):
    """Generates more code than fits the definitions region: every operator has a stack, and half of the region stays free."""
    with Folder() as folder:
        found = record(options, folder, "4M", "generated")
        if found is None:
            return
        recording, truth = found
        check_generated(recording, truth)
        check(recording.header["operators_without_stack"] == 0, "a small region: no stack is missing", recording.header["operators_without_stack"])
        used, size = recording.header["definitions_used"], recording.header["definitions_bytes"]
        check(used <= 0.6 * size, "a small region: stacks leave half of it to others", (used, size))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--agent", required=True)
    parser.add_argument("--seconds", default="3")
    options = parser.parse_args()
    if run([PYTHON, "-c", "import torch"]).returncode != 0:
        skip(f"{PYTHON} has no torch")
    has_greenlets = run([PYTHON, "-c", "import greenlet"]).returncode == 0
    check_kinds(options, ["generated", "models"] + ["greenlets"] * has_greenlets)
    check_small_region(options)
    finish()


if __name__ == "__main__":
    main()
