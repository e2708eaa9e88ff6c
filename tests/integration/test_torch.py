#!/usr/bin/env python3
"""Operators of PyTorch on a stand-in of it (programs/torch_standin.cpp), in a Python without a GPU: what is recorded is what ran, of
each layout that PyTorch has had; of a layout that it never had nothing is, and one line says so. The same from `tracetool`.

  test_torch.py --agent PATH --tracetool PATH --torch PATH --other_python PATH
"""
import glob
import json
import os
import sys

from harness import Folder, arguments, check, files_below, finish, first, run
from slow_tables import read_json

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples"))
import read_recording  # noqa: E402
from torch_training import BACKWARD, BOOLEAN, FUNCTION, INTEGER, INTEGERS, NONE, OTHER, REAL, TENSOR, TENSORS, USER  # noqa: E402

TRAINING = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_training.py")
LAYOUTS = ("2.1", "2.5", "2.9", "2.15")
STEPS = 12
TYPES = {4: "long int", 6: "float", 15: "c10::BFloat16"}
KNOWN_BY = 100  # operators and ranges
NO_STACKS = "operators and allocations have no stacks"
LEARNT = 6  # operators with a sequence number, after which it is known where it lies


def train(options, folder, level, layout, steps=STEPS, **more):
    """(the finished process, the lines of the truth, its recordings)."""
    truth = f"{folder}/truth"
    variables = {} if level is None else {"TRACETOOL_TORCH": level}
    more = {"LD_PRELOAD": options.agent, **variables, **more}
    done = run([sys.executable, TRAINING, options.torch, truth, str(steps)], cwd=folder, TORCH_LAYOUT=layout, TRACETOOL_DIR=f"{folder}/traces",
               TRACETOOL_BUFFER="8M", **more)
    lines = [json.loads(line) for line in open(truth, encoding="utf-8")]
    check(done.returncode == 0 and len(lines) > 8 * steps, f"{level} {layout}: the program ends as without us", done)
    return done, lines, files_below(f"{folder}/traces", ".ring") if os.path.isdir(f"{folder}/traces") else []


def is_known_python():
    """Whose frames the agent reads."""
    return sys.implementation.name == "cpython" and (3, 9) <= sys.version_info[:2] <= (3, 13)


def observed(done):
    return [json.loads(line)["observed"] for line in done.stdout.splitlines()]


def true_input(kind, value=None):
    """As examples/ring_records.py has it."""
    if kind == TENSOR:
        return true_tensor(value)
    if kind == TENSORS:
        return ("tensors", None, [true_tensor(each) for each in value])
    if kind in (INTEGER, REAL, BOOLEAN):
        return ({INTEGER: "integer", REAL: "real", BOOLEAN: "boolean"}[kind], None, bool(value) if kind == BOOLEAN else value)
    if kind == INTEGERS:
        return ("numbers", None, tuple(value))
    return ({NONE: "none", OTHER: "other"}[kind], None, None)


def true_tensor(value):
    type_, sizes, strides = value
    follows, stride = [], 1
    for size in reversed(sizes):
        follows.insert(0, stride)
        stride *= max(size, 1)
    return ("tensor", type_, (tuple(sizes), None if follows == strides else tuple(strides)))


def pairs(recording):
    """[(begin, end)] of a recording, in the order of their begins. On one thread the innermost one of an id ends first."""
    found, open_ = [], {}
    for event in sorted((e for e in recording.events if e.kind.startswith("operator_")), key=lambda e: e.time):
        if event.kind == "operator_begin":
            open_.setdefault(event.id, []).append(len(found))
            found.append([event, None])
        else:
            found[open_[event.id].pop()][1] = event
    return found


def inside(bracket, time):
    return bracket[0] <= time <= bracket[1]


def is_same(line, begin, end):
    return (begin.name, begin.scope, begin.tid, begin.thread) == (line["name"], line["scope"], line["tid"], line["thread"]) and \
        inside(line["begin"], begin.time) and end is not None and inside(line["end"], end.time) and end.tid == line["end_tid"]


def check_numbers(what, lines, found):
    """Sequence numbers and forward threads, after the first few operators that have one."""
    numbered = [at for at, line in enumerate(lines) if line["scope"] == FUNCTION and line["sequence"] >= 0]
    known = numbered[LEARNT]
    wrong = [(line, begin) for line, (begin, _) in list(zip(lines, found))[known:]
             if begin.sequence != (line["sequence"] if line["sequence"] >= 0 and line["scope"] != USER else None)
             or begin.forward_thread != (line["forward_thread"] if line["scope"] == BACKWARD else None)]
    check(not wrong, f"{what}: sequence numbers and forward threads, {len(lines) - known} operators", lambda: first(wrong))
    early = [begin for begin, _ in found[:known] if begin.sequence is not None and begin.scope == FUNCTION]
    check(all(begin.sequence == line["sequence"] for line, (begin, _) in zip(lines, found) if begin.sequence is not None),
          f"{what}: none is wrong before that", early)


def check_inputs(what, lines, found):
    """All of them but those before the sequence number, whose place tells where they are."""
    known = next((at for at, (begin, _) in enumerate(found) if begin.inputs), len(found))
    check(known <= KNOWN_BY, f"{what}: inputs are known from operator {known} on")
    wrong = []
    for line, (begin, _) in list(zip(lines, found))[known:]:
        true = [true_input(*each) for each in line["inputs"]] if line["inputs"] else None
        if line["scope"] != USER and begin.inputs != true and (true or begin.inputs):
            wrong.append((line["name"], [pair for pair in zip(begin.inputs or [], true or []) if pair[0] != pair[1]] or (begin.inputs, true)))
    check(not wrong, f"{what}: inputs as they were", lambda: first(wrong))


def check_stacks(what, lines, found):
    """Of all operators from the first on that has one: it is known once Python's frames were compared with what Python says."""
    known = next((at for at, (begin, _) in enumerate(found) if begin.stack is not None), len(found))
    check(known < len(found) // 2, f"{what}: stacks are known from operator {known} of {len(found)} on")
    wrong, module_of = [], {}
    for line, (begin, _) in list(zip(lines, found))[known:]:
        true = [tuple(frame) for frame in line["stack"]]
        if [tuple(frame[:-1]) for frame in begin.stack or []] != [frame[:-1] for frame in true]:
            wrong.append((line["name"], begin.stack, true))
            continue
        for frame, (*_, module) in zip(begin.stack, true):  # a module has a number when it was looked at
            if frame.instance != 0 and module_of.setdefault(frame.instance, module) != module:
                wrong.append((line["name"], frame, module, module_of[frame.instance]))
    check(not wrong, f"{what}: stacks as they were", lambda: first(wrong))
    modules = {len([frame for frame in begin.stack if frame.what == "module"]) for begin, _ in found[known:] if begin.stack}
    check(modules == {0, 2}, f"{what}: calls of modules are frames", modules)


def check_level(options, level, layout):
    what = f"{level} {layout}"
    with Folder() as folder:
        done, lines, files = train(options, folder, level, layout)
        said = NO_STACKS in done.stderr if level in ("stacks", "all") and not is_known_python() else not done.stderr
        check(observed(done) == [1, 1] and said, f"{what}: observed once, and nothing said", (done.stdout, done.stderr))
        if not check(len(files) == 1, f"{what}: there is one recording", files):
            return
        recording = read_recording.read(files[0])
        lines = sorted((line for line in lines if level != "steps" or line["scope"] == USER), key=lambda line: line["begin"])
        found = pairs(recording)
        wrong = [(line, pair) for line, pair in zip(lines, found) if not is_same(line, *pair)]
        check(len(lines) == len(found) and not wrong, f"{what}: {len(lines)} operators and ranges, with their times and threads",
              lambda: (len(lines), len(found), first(wrong)))
        if level != "steps":
            check_numbers(what, lines, found)
        if level in ("shapes", "all"):
            check_inputs(what, lines, found)
            check_export(options, what, folder, lines)
        if level in ("stacks", "all") and is_known_python():
            check_stacks(what, lines, found)
        has_inputs = ", with inputs" if level in ("shapes", "all") else ""
        has_stacks = ", with Python stacks" if level in ("stacks", "all") and is_known_python() else ""
        known = "steps and ranges are recorded" if level == "steps" else f"operators are recorded{has_inputs}{has_stacks}\n"
        said = run([options.tracetool, "doctor", f"{folder}/traces"]).stdout
        check(known in said, f"{what}: doctor says so", said)
        check(has_inputs or all(begin.inputs is None for begin, _ in found), f"{what}: inputs only where they were asked for")
        check(has_stacks or all(begin.stack is None for begin, _ in found), f"{what}: stacks only where they were asked for")


def kineto_input(kind, value=None):
    """(Input Dims, Input Strides, Input type, Concrete Inputs) of one, as PyTorch's profiler writes them."""
    if kind == TENSOR:
        return list(value[1]), list(value[2]), TYPES[value[0]], ""
    if kind == TENSORS:
        return [list(each[1]) for each in value], [list(each[2]) for each in value], "TensorList", ""
    if kind in (INTEGER, REAL, BOOLEAN):
        text = {INTEGER: str, REAL: lambda v: f"{v:.0f}." if v == int(v) else f"{v:.17g}", BOOLEAN: lambda v: "True" if v else "False"}[kind]
        return [], [], "Scalar", text(value)
    if kind == INTEGERS:
        return [], [], "ScalarList", str(list(value))
    return [], [], "", ""


def check_export(options, what, folder, lines):
    """As a Kineto trace, in the words of PyTorch's own."""
    done = run([options.tracetool, "export", f"{folder}/traces", "--kineto", "-o", f"{folder}/kineto"])
    paths = glob.glob(f"{folder}/kineto/*.json*")
    if not check(done.returncode == 0 and len(paths) == 1, f"{what}: it is exported", (done.stderr, paths)):
        return
    events = read_json(paths[0])
    found = sorted((event for event in events if event.get("cat") in ("cpu_op", "user_annotation") and "ProfilerStep#" not in event["name"]),
                   key=lambda event: event["ts"])
    wrong = [(line["name"], event) for line, event in zip(lines, found)
             if (event["name"], event["cat"]) != (line["name"], "user_annotation" if line["scope"] == USER else "cpu_op")]
    check(len(found) == len(lines) and not wrong, f"{what}: exported as operators and annotations", lambda: (len(found), len(lines), first(wrong)))
    for event in found:
        event.setdefault("args", {})
    words = ("Input Dims", "Input Strides", "Input type", "Concrete Inputs")
    wrong = []
    for line, event in list(zip(lines, found))[KNOWN_BY:]:
        true = list(zip(*(kineto_input(*each) for each in line["inputs"]))) if line["inputs"] else None
        if true is not None:
            wrong += [(word, event["args"].get(word), list(want)) for word, want in zip(words, true) if event["args"].get(word, [want[0]] * len(want)) != list(want)]
    check(not wrong, f"{what}: inputs in PyTorch's words", lambda: first(wrong))


def check_refused(options):
    with Folder() as folder:
        done, _, files = train(options, folder, "shapes", "shifted")
        check(done.stderr.count("\n") == 1 and "operator layout of this PyTorch is not supported" in done.stderr,
              "another layout: one line says so", done.stderr)
        check(not files, "another layout: nothing is recorded", files)
    for level in (None, "off"):
        with Folder() as folder:
            done, _, files = train(options, folder, level, "2.9")
            check(observed(done) == [0, 0] and not files and not done.stderr, f"{level}: a Python without a GPU is left alone", (done, files))


def check_moved(options, moved, layout, steps=STEPS):
    """The inputs lie elsewhere, and what lies at their place leads nowhere: the program goes on, and so do its operators."""
    what = f"moved inputs: {moved} {layout}"
    with Folder() as folder:
        done, lines, files = train(options, folder, "shapes", layout, steps, TORCH_MOVED=moved)
        check(done.stderr.count("\n") == 1 and "operators are recorded without sizes" in done.stderr, f"{what}: one line says so", done.stderr)
        check(observed(done) == [1, 1], f"{what}: observed once", done.stdout)
        if check(len(files) == 1, f"{what}: there is one recording", files):
            recording = read_recording.read(files[0])
            notices = [(event.code, event.text) for event in recording.events if event.kind == "notice"]
            check([code for code, _ in notices] == ["torch_unknown"] and "operators are recorded without sizes" in notices[0][1], f"{what}: a notice says so", notices)
            said = [run([options.tracetool, *command, f"{folder}/traces"]) for command in (["info"], ["doctor"], ["analyze", "--only", "operators"], ["diagnose"])]
            check(all("operators are recorded without sizes" in done.stdout + done.stderr for done in said), f"{what}: so do info, doctor, analyze and diagnose", said)
            found = pairs(recording)
            check(len(lines) == len(found) and (moved == "lists" or not any(begin.inputs for begin, _ in found)),
                  f"{what}: all {len(lines)} operators are recorded, without inputs", len(found))


def check_unknown_python(options):
    """Of another version, or without a GIL: one line if stacks were asked for, none else."""
    for version in ("3.15.0 (main)", "3.8.1 (main)", "3.14.0 free-threading build (main)"):
        preload = {"LD_PRELOAD": f"{options.agent}:{options.other_python}", "PYTHON_VERSION_SAID": version}
        asked = run([sys.executable, "-c", "import ctypes as c; f = c.CDLL(None).Py_GetVersion; f.restype = c.c_char_p; print(f().decode())"], **preload)
        if asked.stdout.strip() != version:
            print("left out: Python's version cannot be changed here", flush=True)
            return
        for level in ("stacks", "shapes"):
            with Folder() as folder:
                done, lines, files = train(options, folder, level, "2.9", **preload)
                found = pairs(read_recording.read(files[0])) if len(files) == 1 else []
                check(len(found) == len(lines) and all(begin.stack is None for begin, _ in found), f"Python {version}, {level}: operators are recorded, without stacks", len(found))
                check(done.stderr.count("\n") == (level == "stacks") and (level != "stacks" or NO_STACKS in done.stderr),
                      f"Python {version}, {level}: one line says so if stacks were asked for", done.stderr)


def main():
    options = arguments("agent", "tracetool", "torch", "other_python")
    for layout in LAYOUTS:
        check_level(options, "shapes", layout)
    check_level(options, "all", "2.9")
    check_level(options, "stacks", "2.9")
    check_level(options, "ops", "2.9")
    check_level(options, "steps", "2.9")
    check_refused(options)
    check_unknown_python(options)
    for moved in ("away", "behind", "exchanged", "tags", "tensors", "lists"):
        check_moved(options, moved, "2.9")
    check_moved(options, "count", "2.9", 100)  # a thousand operators disagree
    check_moved(options, "away", "2.5")
    finish()


if __name__ == "__main__":
    main()
