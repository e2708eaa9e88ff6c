#!/usr/bin/env python3
"""A process that does not go on, on the stand-in of PyTorch: the stack of each of its Python threads is recorded once, as Python
itself tells it; without the GIL, too, where a thread holds it and stands still. One that goes on has none.

  test_hang_stacks.py --agent PATH --tracetool PATH --torch PATH
"""
import json
import os
import sys

from harness import Folder, arguments, check, files_below, finish, first, run

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples"))
import read_recording  # noqa: E402

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "python_hang.py")
PYTHON = os.environ.get("TRACETOOL_PYTHON", sys.executable)
PATIENCE_S = 2
SECONDS = {"waiting": 5, "holding": 11, "busy": 5, "working": 5, "twice": 4.5}
HANGS = {"working": 0, "twice": 2}


def same_frames(recorded, true, is_main, how):
    """The main thread went on into what it hangs in, after it told where it was."""
    said = [[frame.name.rsplit(".", 1)[-1], frame.file, frame.line] for frame in recorded]
    if not is_main:
        return said == true
    inner = [frame[0] for frame in said[:-2]]
    return said[-1][0] == "<module>" and said[-1] == true[-1] and said[-2][:2] == true[-2][:2] and inner == ["stand_still"]


def check_hang(options, how):
    hangs = HANGS.get(how, 1)
    with Folder() as folder:
        done = run([PYTHON, PROGRAM, options.torch, how, str(SECONDS[how])], cwd=folder, LD_PRELOAD=options.agent, TORCH_LAYOUT="2.9",
                   TRACETOOL_DIR=f"{folder}/traces", TRACETOOL_BUFFER="8M", TRACETOOL_TORCH="steps", TRACETOOL_HANG_STACKS=str(PATIENCE_S))
        files = files_below(f"{folder}/traces", ".ring")
        if not check(done.returncode == 0 and not done.stderr and len(files) == 1, f"{how}: the program ends as without us", done):
            return
        recording = read_recording.read(files[0])
        true = {thread["tid"]: thread["frames"] for thread in json.loads(done.stdout)["threads"]}
        stacks = [event for event in recording.events if event.kind == "stack"]
        notices = [event for event in recording.events if event.kind == "notice" and event.code == "hang"]
        check(len(notices) == hangs and sorted(stack.tid for stack in stacks) == sorted(list(true) * hangs), f"{how}: {hangs} times, {len(true)} threads each",
              lambda: (notices, stacks, list(true)))
        main_tid = max(true, key=lambda tid: true[tid][-1][0] == "<module>")
        wrong = [(stack, true[stack.tid]) for stack in stacks if stack.tid in true and not same_frames(stack.frames, true[stack.tid], stack.tid == main_tid, how)]
        check(not wrong and all(stack.reason == "hang" for stack in stacks), f"{how}: with the frames that Python tells", lambda: first(wrong))
        operators = [event.time for event in recording.events if event.kind == "operator_begin"]
        for notice in notices:
            before = max(time for time in operators if time < notice.end)
            late_s = (notice.end - before) / 1e9 - PATIENCE_S
            told = run([options.tracetool, "doctor", f"{folder}/traces"]).stdout
            check("hang for" in told and "no GPU or operator activity" in told, f"{how}: doctor says so", told)
            check(0 <= late_s < 10 and notice.value == len(true), f"{how}: noticed {late_s:.1f} s after the patience", notice)


def main():
    options = arguments("agent", "tracetool", "torch")
    for how in SECONDS:
        check_hang(options, how)
    finish()


if __name__ == "__main__":
    main()
