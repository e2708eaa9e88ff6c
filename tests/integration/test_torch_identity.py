#!/usr/bin/env python3
"""Compares frames, modules and operators in a recording with the program's own log while addresses are reused: generated code, rebuilt
models, recompiled functions, forks, greenlets. Uses a real PyTorch on the CPU. Skipped if the Python of TRACETOOL_PYTHON (default: this one)
has no torch; the greenlet part is skipped if it has no greenlet.

  test_torch_identity.py --agent PATH [--seconds S] [--soak MINUTES]

--soak: one process does all of it in turns. Each minute it stands still and its ring is compared; the ring keeps more than a minute.
"""
import argparse
import bisect
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys

from harness import Folder, check, files_below, finish, first, run, skip

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples"))
import read_recording  # noqa: E402

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_identity.py")
PYTHON = os.environ.get("TRACETOOL_PYTHON", sys.executable)
GREENLETS = 20  # as in torch_identity.py


def command(options, folder, seconds, turn, pause, kinds):
    return [PYTHON, PROGRAM, f"{folder}/log", str(seconds), str(turn), str(pause), *kinds]


def settings(options, folder, buffer):
    return {"LD_PRELOAD": options.agent, "TRACETOOL_TORCH": "stacks", "TRACETOOL_DIR": f"{folder}/traces", "TRACETOOL_BUFFER": buffer,
            "TRACETOOL_GUARD_RATE": "0", "OMP_NUM_THREADS": "1"}


def rings(folder):
    return files_below(f"{folder}/traces", ".ring") if os.path.isdir(f"{folder}/traces") else []


def read_log(path):
    """kind -> {number: truth}. The last line may be unfinished."""
    truth = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.endswith("\n"):
                kind, number, true = json.loads(line)
                truth.setdefault(kind, {})[number] = true
    return truth


def record(options, folder, buffer, kind):
    """(the recording, what was true); None: it did not run."""
    done = run(command(options, folder, options.seconds, options.seconds, 0, [kind]), cwd=folder, **settings(options, folder, buffer))
    files = rings(folder)
    if not check(done.returncode == 0 and len(files) == 1, f"{kind}: it runs", lambda: (done.returncode, done.stderr[-2000:], files)):
        return None
    return read_recording.read(files[0]), read_log(f"{folder}/log")[kind]


def ranges(recording, kind, truth):
    """[(number, its begin)] of this kind. The log of a running process ends earlier."""
    begun = (event for event in recording.events if event.kind == "operator_begin" and event.name.startswith(kind + " "))
    return [(number, event) for event in begun if (number := int(event.name.split()[1])) in truth]


def check_losses(recording, what):
    lost = recording.header["operators_without_stack"] + sum(recording.lost.values())
    check(lost == 0, f"{what}: nothing is lost", lambda: (recording.header["operators_without_stack"], recording.lost))


def check_generated(recording, truth):
    found = ranges(recording, "generated", truth)
    wrong, without = [], 0
    for number, begin in found:
        frames = [frame for frame in begin.stack or () if frame.what == "python" and frame.file.startswith("<gen ")]
        without += begin.stack is None
        if begin.stack is not None and [[frame.name, frame.file, frame.line] for frame in frames] != [truth[number]]:
            wrong.append((truth[number], frames))
    check(len(found) > 300 and not wrong, f"generated: {len(found)} ranges have the frame of their own function", lambda: (len(found), len(wrong), first(wrong)))
    check(without == 0, "generated: each has a stack", without)
    return len(found)


def check_whole_stacks(recording, truth, kind):
    found = ranges(recording, kind, truth)
    wrong = []
    for number, begin in found:
        frames = [[frame.name, frame.file, frame.line] for frame in begin.stack or () if frame.what == "python"]
        frames = list(itertools.dropwhile(lambda frame: frame[0] != "leaf", frames))  # the range's own functions are inside
        if not frames or frames != truth[number][:len(frames)]:
            wrong.append((truth[number][:4], frames[:4]))
    check(len(found) > 100 and not wrong, f"{kind}: {len(found)} ranges have the stack that Python has", lambda: (len(found), len(wrong), first(wrong)))


def check_recompiled(recording, truth):
    check_whole_stacks(recording, truth, "recompiled")


def check_forked(recording, truth):
    check_whole_stacks(recording, truth, "forked")
    check(not any(event.name.startswith("child ") for event in recording.events if event.kind == "operator_begin"), "forked: nothing is recorded of children")


def check_models(recording, truth):
    """Each number belongs to one module, each module has the class that it had at the call, and each named one its true name."""
    found = ranges(recording, "models", truth)
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
        if true_of.setdefault(instance, (model, path)) != (model, path):
            wrong.append((number, "number", true_of[instance], (model, path)))
        said = [name for name, of in names.get(instance, ()) if of == root]
        named += said == [path]
        if root != 0 and said != [path]:
            wrong.append((number, "name", path, names.get(instance)))
    built = {truth[number][0] for number, _ in found}
    check(len(built) >= 3 and not wrong, f"models: {len(found)} calls in {len(built)} models have their own module", lambda: (len(built), len(wrong), first(wrong)))
    missed = recording.header["module_names_missed"]
    check(missed > 0 or named > 0, f"models: {named} of them have its name", (named, len(found), missed))


def check_greenlets(recording, truth, is_running=False):
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
    check(found > 100 and (is_running or found - unfinished == len(truth) and unfinished <= GREENLETS) and not wrong and open_ids == 0,
          f"greenlets: {found} operators begin and end when they did", lambda: (found, unfinished, len(truth), open_ids, len(wrong), first(wrong)))


CHECKS = {"generated": check_generated, "models": check_models, "recompiled": check_recompiled, "forked": check_forked, "greenlets": check_greenlets}


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


def compare_copy(folder, kinds, program):
    """Stops the program, copies its ring and its log, and compares them while it goes on."""
    files = rings(folder)
    if not check(len(files) == 1, "it records into one file", files):
        return
    program.send_signal(signal.SIGSTOP)
    shutil.copy(files[0], f"{folder}/copy")
    shutil.copy(f"{folder}/log", f"{folder}/log.copy")
    program.send_signal(signal.SIGCONT)
    recording, truth = read_recording.read(f"{folder}/copy"), read_log(f"{folder}/log.copy")
    for kind in kinds:
        if kind == "greenlets":
            check_greenlets(recording, truth[kind], True)
        else:
            CHECKS[kind](recording, truth[kind])
    missed = recording.header["module_names_missed"]
    print(f"      {len(recording.events)} events; definitions {recording.header['definitions_used']} of {recording.header['definitions_bytes']} bytes; "
          f"{recording.header['operators_without_stack']} operators without stack, {missed} module names missed, lost {dict(recording.lost)}", flush=True)


def soak(options, kinds):
    turn, pause, ring = 4, 0.0004, "64M"
    with Folder() as folder:
        program = subprocess.Popen(command(options, folder, options.soak * 60, turn, pause, kinds), cwd=folder, env={**os.environ, **settings(options, folder, ring)})
        for minute in itertools.count(1):
            try:
                program.wait(timeout=60)
                break
            except subprocess.TimeoutExpired:
                print(f"minute {minute}", flush=True)
                compare_copy(folder, kinds, program)
        check(program.returncode == 0, "it ends well", program.returncode)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--agent", required=True)
    parser.add_argument("--seconds", default="3")
    parser.add_argument("--soak", type=float, default=0)
    options = parser.parse_args()
    if run([PYTHON, "-c", "import torch"]).returncode != 0:
        skip(f"{PYTHON} has no torch")
    has_greenlets = run([PYTHON, "-c", "import greenlet"]).returncode == 0
    kinds = ["generated", "models", "recompiled", "forked"] + ["greenlets"] * has_greenlets
    if options.soak:
        soak(options, kinds)
        finish()
    check_kinds(options, kinds)
    check_small_region(options)
    finish()


if __name__ == "__main__":
    main()
