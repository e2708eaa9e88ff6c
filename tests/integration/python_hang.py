"""A program on the stand-in for libtorch_cpu that works for a while and then does not go on: threads wait, the main one too, with or
without the GIL. Prints where they are by then, as Python itself says, and ends after SECONDS.

  python_hang.py LIBTORCH HOW SECONDS      HOW: waiting, holding, busy, working, twice
"""
import ctypes
import json
import os
import sys
import threading
import time
import traceback

from torch_training import USER, Torch

WORK_SECONDS = 1.5


def wait_in_thread(started, event):
    started.set()
    event.wait()


def work(torch, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        torch.call("range", USER)
        time.sleep(0.05)


def stand_still(how, seconds):
    if how == "holding":
        ctypes.PyDLL(None).usleep(int(seconds * 1e6))
    elif how == "busy":
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pass
    else:
        time.sleep(seconds)


def places(tid, frame):
    """The innermost first, without this function's."""
    frames = [[entry.name, entry.filename, entry.lineno] for entry in reversed(traceback.extract_stack(frame))]
    return {"tid": tid, "frames": [each for each in frames if each[0] != "places"]}


def main():
    path, how, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    torch = Torch(path, open(os.devnull, "w", encoding="utf-8"))
    torch.wait()
    event, started = threading.Event(), threading.Event()
    thread = threading.Thread(target=wait_in_thread, args=(started, event), daemon=True)
    thread.start()
    started.wait()
    work(torch, WORK_SECONDS)
    time.sleep(0.2)
    frames = sys._current_frames()
    print(json.dumps({"threads": [places(each.native_id, frames[each.ident]) for each in threading.enumerate()]}), flush=True)
    if how == "working":
        work(torch, seconds)
    else:
        stand_still(how, seconds)
    if how == "twice":
        work(torch, 1)
        stand_still(how, seconds)
    event.set()
    thread.join()


if __name__ == "__main__":
    main()
