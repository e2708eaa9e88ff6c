"""Operators on several threads while another one changes what is recorded of them. Preloaded is programs/level_changes.cpp.

  torch_levels.py standin LIBTORCH TRUTH CHANGES LOWEST      on the stand-in for libtorch_cpu, with the lines of torch_training.py
  torch_levels.py torch TRUTH CHANGES LOWEST                 on a real PyTorch: a line of JSON for each range of the program, with the names of
                                                             the operators in it, as torch.profiler says them of the same work
"""
import ctypes
import json
import os
import sys
import threading
import time

THREADS = 4


def changed(changes, lowest, work):
    """work(thread, number) on each thread until the levels have been changed so often."""
    library = ctypes.CDLL(os.environ["LD_PRELOAD"].split(":")[0])
    done = threading.Event()

    def change():
        library.change_levels(changes, lowest, 200)
        done.set()

    def run(thread):
        number = 0
        while not done.is_set():
            work(thread, number)
            number += 1

    threads = [threading.Thread(target=run, args=(thread,)) for thread in range(THREADS)] + [threading.Thread(target=change)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def on_standin(path, truth, changes, lowest):
    from torch_training import FUNCTION, NEXT, USER, Torch, inputs_of
    with open(truth, "w", encoding="utf-8") as out:
        torch = Torch(path, out)
        torch.wait()
        torch.call("range", USER)
        time.sleep(0.5)  # for what an observer finds out of Python

        def work(thread, number):
            def inner():
                torch.call(f"aten::mm_{thread}", FUNCTION, inputs=inputs_of(number % 3))
                torch.call(f"aten::add_{thread}", FUNCTION)
            torch.call(f"range {thread} {number}", USER, inside=[
                lambda: torch.call(f"aten::linear_{thread}", FUNCTION, sequence=NEXT, inputs=inputs_of(thread), inside=[inner])])
        changed(changes, lowest, work)


def names_between(profile, path, first, behind):
    """Of the operators that began after the range `first` and before the range `behind`, by what torch.profiler writes."""
    profile.export_chrome_trace(path)
    with open(path, encoding="utf-8") as file:
        events = [event for event in json.load(file)["traceEvents"] if event.get("cat") in ("cpu_op", "user_annotation")]
    events.sort(key=lambda event: event["args"]["External id"])
    names = [event["name"] for event in events]
    return names[names.index(first) + 1:names.index(behind)]


def on_torch(truth, changes, lowest):
    import torch
    torch.set_num_threads(1)
    layer = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.LayerNorm(8), torch.nn.GELU())
    lines = []

    def work(thread, number):
        with torch.profiler.record_function(f"range {thread} {number}"):
            layer(torch.ones(4, 8)).sum()
        lines.append({"range": f"range {thread} {number}", "tid": threading.get_native_id()})

    for _ in range(50):  # what the first calls do besides; and where the places of objects become known
        work(THREADS, 0)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        for number in range(3):
            work(THREADS, number)
    names = names_between(profile, f"{truth}.profile", f"range {THREADS} 1", f"range {THREADS} 2")
    time.sleep(1)
    lines.clear()
    changed(changes, lowest, work)
    with open(truth, "w", encoding="utf-8") as out:
        json.dump({"names": names, "lines": lines}, out)


def main():
    how, *rest = sys.argv[1:]
    if how == "standin":
        on_standin(rest[0], rest[1], int(rest[2]), int(rest[3]))
    else:
        on_torch(rest[0], int(rest[1]), int(rest[2]))


if __name__ == "__main__":
    main()
