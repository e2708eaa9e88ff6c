"""Runs of Python's garbage collector in a program on the stand-in for libtorch_cpu, and what really happened: a line of JSON for each
call of the program's own callbacks. One stands before tracetool's in gc.callbacks and one behind it, so that its times lie between
theirs.

  python_collections.py LIBTORCH TRUTH HOW      HOW: plain, cleared, forked, called, late, held
"""
import ctypes
import gc
import json
import os
import sys
import threading
import time
import warnings

from torch_training import USER, Torch

COLLECTIONS = 20
told = []


def callback(place):
    def tell(phase, info):
        told.append({"place": place, "phase": phase, "time": time.monotonic_ns(), "tid": threading.get_native_id(), **info})
    return tell


class Ring:
    """Garbage: it refers to itself."""

    def __init__(self):
        self.me = self


def wait_for_callback():
    """Where tracetool's stands in the list; None: it is not there."""
    give_up = time.monotonic() + 5
    while len(gc.callbacks) < 2 and time.monotonic() < give_up:
        time.sleep(0.01)
    return gc.callbacks[1] if len(gc.callbacks) > 1 else None


def collect(generation, garbage):
    rings = [Ring() for _ in range(garbage)]
    del rings
    return gc.collect(generation)


def misuse(ours):
    """As nobody calls it."""
    for arguments in ((), ("stop",), (1, 2), ("stop", {}), ("stop", []), ("start", None), ("stop", {"generation": "x", "collected": 0, "uncollectable": 0}),
                      ("stop", {"generation": 0, "collected": 1 << 80, "uncollectable": -1})):
        assert ours(*arguments) is None, arguments


def run(how):
    gc.disable()
    for at in range(COLLECTIONS):
        collect(at % 3, 10 * at)
    thread = threading.Thread(target=collect, args=(2, 1000))
    thread.start()
    thread.join()
    if how == "cleared":
        gc.callbacks.clear()
        collect(2, 5)
    if how == "forked":
        warnings.simplefilter("ignore")  # newer ones warn where there are threads, ours among them
        child = os.fork()
        if child == 0:
            collect(2, 100)
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    gc.enable()


def main():
    path, truth, how = sys.argv[1:]
    gc.callbacks.append(callback("before"))
    with open(truth, "w", encoding="utf-8") as out:
        torch = Torch(path, open(os.devnull, "w", encoding="utf-8"))
        torch.wait()
        torch.call("range", USER)  # begins the recording
        gc.disable()
        if how == "held":  # nobody else gets the lock until the interpreter ends
            sys.setswitchinterval(1000)
            ctypes.PyDLL(None).usleep(700_000)
            return
        ours = wait_for_callback()
        gc.callbacks.append(callback("behind"))
        if how == "called":
            misuse(ours)
        run(how)
        for line in told:
            out.write(json.dumps(line) + "\n")
    print(json.dumps({"ours": str(ours)}))
    if how == "late":
        sys.modules["kept"] = Ring()  # until the interpreter ends, which collects it


if __name__ == "__main__":
    main()
