#!/usr/bin/env python3
"""With each source of PyTorch and Python on, programs do as they would without us: fork, exec, exits, exceptions and the interpreter's end in
the middle of operators, and other tools in the process. On the stand-in of PyTorch, and on the real one of TRACETOOL_PYTHON (else this
one), where there is one.

  test_torch_lives.py --agent PATH --torch PATH --other PATH
"""
import os
import re
import subprocess
import sys

import torch_lives
from harness import Folder, arguments, check, files_below, finish, run
from recorded import no_core, side_by_side

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples"))
import read_recording  # noqa: E402

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_lives.py")
PYTHON = os.environ.get("TRACETOOL_PYTHON", sys.executable)
SOURCES = {"TRACETOOL_TORCH": "all", "TRACETOOL_NATIVE_STACKS": 1, "TRACETOOL_HANG_STACKS": 1, "TRACETOOL_BUFFER": "8M", "TORCH_LAYOUT": "2.9"}
MOST_SECONDS = 90


def outcome(torch, way, folder, **environment):
    """(exit code, what it prints, what it prints to stderr, less addresses, times and process ids)"""
    try:
        done = run([PYTHON, PROGRAM, torch, way.__name__], cwd=folder, timeout=MOST_SECONDS, limit=no_core, OMP_NUM_THREADS=1, PYTHONWARNINGS="ignore", **environment)
        return done.returncode, done.stdout, re.sub("0x[0-9a-f]+|[0-9]+", "0", done.stderr)
    except subprocess.TimeoutExpired:
        return "it does not end", "", ""


def recordings(folder):
    """(those that can be read, what is wrong with others)"""
    read, refused = [], []
    for path in files_below(folder, ".ring"):
        try:
            read.append(read_recording.read(path))
        except read_recording.BadRecording as error:
            refused.append(str(error))
    return read, refused


def looked_at(options, torch, way, preload):
    with Folder() as folder:
        without = outcome(torch, way, folder)
        with_agent = outcome(torch, way, folder, LD_PRELOAD=preload, TRACETOOL_DIR=f"{folder}/traces", **SOURCES)
        return way, without, with_agent, *recordings(f"{folder}/traces")


def check_ways(options, what, torch, ways, preload=None):
    for way, without, with_agent, read, refused in side_by_side(lambda way: looked_at(options, torch, way, preload or options.agent), ways):
        if torch == "torch" and way in torch_lives.UNSTEADY:
            check(isinstance(with_agent[0], int), f"{what}: {way.__name__}: it ends", with_agent)
            continue
        check(without == with_agent and without[0] != "it does not end", f"{what}: {way.__name__}: exit code {without[0]} and the same output", (without, with_agent))
        operators = [sum(event.kind == "operator_begin" for event in recording.events) for recording in read]
        check(read and not refused and max(operators) >= torch_lives.TIMES, f"{what}: {way.__name__}: {len(read)} recordings, {operators} operators",
              lambda: (refused, with_agent))


def main():
    options = arguments("agent", "torch", "other")
    ways = list(torch_lives.WAYS)
    if run([PYTHON, "-c", "import coverage"]).returncode != 0:
        ways.remove(torch_lives.with_coverage)
        print(f"skipped: coverage: {PYTHON} has none", flush=True)
    check_ways(options, "stand-in", options.torch, [way for way in ways if way not in torch_lives.OF_REAL])
    few = [torch_lives.raise_inside, torch_lives.fork_and_go_on, torch_lives.at_the_end]
    check_ways(options, "behind another preload", options.torch, few, f"{options.other}:{options.agent}")
    check_ways(options, "before another preload", options.torch, few, f"{options.agent}:{options.other}")
    if run([PYTHON, "-c", "import torch"]).returncode == 0:
        check_ways(options, "PyTorch", "torch", ways)
    else:
        print(f"skipped: real PyTorch: {PYTHON} has no torch", flush=True)
    finish()


if __name__ == "__main__":
    main()
