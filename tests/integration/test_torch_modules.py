#!/usr/bin/env python3
"""What the modules of a real PyTorch on the CPU are called: the recording says what named_modules() says in the program, of each
outermost module. Skipped where the Python of TRACETOOL_PYTHON (else this one) has no torch.

  test_torch_modules.py --agent PATH
"""
import json
import os
import sys

from harness import Folder, arguments, check, files_below, finish, run, skip

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples"))
import read_recording  # noqa: E402

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_modules.py")
PYTHON = os.environ.get("TRACETOOL_PYTHON", sys.executable)


def check_names(options, how):
    with Folder() as folder:
        done = run([PYTHON, PROGRAM, how], cwd=folder, LD_PRELOAD=options.agent, TRACETOOL_TORCH="stacks", TRACETOOL_DIR=f"{folder}/traces",
                   TRACETOOL_BUFFER="64M", OMP_NUM_THREADS=1)
        files = files_below(f"{folder}/traces", ".ring") if os.path.isdir(f"{folder}/traces") else []
        if not check(done.returncode == 0 and files and "tracetool" not in done.stderr, f"{how}: it runs", lambda: (done, files)):
            return
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]  # gloo has lines of its own
        true = [sorted(line["names"].values()) for line in lines]
        recording = read_recording.read(max(files, key=os.path.getsize))
        said = {}
        for name in recording.module_names:
            said.setdefault(name.root, []).append((name.instance, name.name))
        for names in true:
            same = [root for root, found in said.items() if sorted(name for _, name in found) == names]
            check(len(same) == true.count(names), f"{how}: {len(names)} names, each once", lambda: (names, said))
        numbers = [instance for found in said.values() for instance, _ in found]
        check(0 not in numbers and all(len(found) == len({instance for instance, _ in found}) for found in said.values()), f"{how}: each module has a number of its own", numbers)
        called = {frame.instance for event in recording.events if event.kind == "operator_begin" for frame in event.stack or () if frame.what == "module"} - {0}
        known = set(numbers)
        check(called and called <= known or how in ("broken", "compile"), f"{how}: all {len(called)} modules of stacks have one, but what a compiler makes or what hides them", called - known)


def main():
    options = arguments("agent")
    if run([PYTHON, "-c", "import torch"]).returncode != 0:
        skip(f"{PYTHON} has no torch")
    for how in ("plain", "ddp", "deep", "two", "shared", "broken", "compile"):
        check_names(options, how)
    finish()


if __name__ == "__main__":
    main()
