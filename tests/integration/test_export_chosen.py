#!/usr/bin/env python3
"""An export of chosen ranks, steps or times of a merged file, of which only what is chosen is read, is that of the recordings, all
of which are read: but for the numbers of flows. And it reads little of a long run.

  test_export_chosen.py --agent PATH --simulated PATH --tracetool PATH --maker PATH (tests/bench/many_ranks)
"""
import argparse
import os
import re
import subprocess

from harness import Folder, check, finish, run

RANKS = 8
CHOICES = (["--steps", "6"], ["--steps", "3,8", "--ranks", "1,5"], ["--time", "40ms-55ms"], ["--time", "70ms-71ms", "--ranks", "0-3"],
           ["--steps", "0-1"], ["--time", "90ms-"], ["--ranks", "2,3"])
# Communicators of several sizes; work of groups and pairs; calls that no number is known of; a rank that is missing in one.
RUNS = {"comms": ["--comms", "2"], "pairs": ["--p2p", "--groups"], "graphs": ["--graphs"], "left out": ["--leaves-out", "3"]}


def record(options, folder, *more):
    return run([options.simulated, "--agent", options.agent, "--dir", f"{folder}/traces", "--ranks", str(RANKS), "--steps", "12", "--hosts", "2",
                "--clock-offset-us", "3000", "--drift-ppm", "20", "--straggler", "5", *more])


def export(options, source, output, *choice):
    """The exit status, what is said without names of files, and the events with flows between ranks numbered in their order."""
    done = run([options.tracetool, "export", "--perfetto", source, "-o", output, *choice], timeout=120)
    numbers = {}

    def renumbered(match):
        return f'{match[1]}"id":{numbers.setdefault(match[2], len(numbers))}'

    if not os.path.exists(output):
        return done.returncode, done.stderr, None
    with open(output, encoding="utf-8") as file:
        text = re.sub(r'("cat":"collective"[^{}]*?)"id":(\d+)', renumbered, file.read())
    os.remove(output)
    return done.returncode, [line.replace(output, "OUT") for line in done.stderr.splitlines()], text


def difference(one, other):
    lines = [sorted(str(each[2]).splitlines()) for each in (one, other)]
    return one[:2], other[:2], [sorted(set(a) - set(b))[:3] for a, b in (lines, lines[::-1])]


def check_choices(options, name, folder, more):
    check(record(options, folder, *more).returncode == 0, f"{name}: recorded")
    merged = f"{folder}/run.ttrace"
    check(run([options.tracetool, "merge", f"{folder}/traces", "-o", merged]).returncode == 0, f"{name}: merged")
    flows = 0
    for choice in CHOICES:
        some, whole = (export(options, source, f"{folder}/out.json", *choice) for source in (merged, f"{folder}/traces"))
        check(some == whole and some[0] == 0, f"{name}: {' '.join(choice)}: as of the recordings", lambda: difference(some, whole))
        flows += (some[2] or "").count('"cat":"collective"')
    check(flows > 100, f"{name}: {flows} ends of flows between ranks")


def read_bytes(*command):
    """What a command reads of files, by the kernel's count (io of proc(5))."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    with open(f"/proc/{process.pid}/io", encoding="ascii") as file:
        counts = dict(line.split(": ") for line in file.read().splitlines())
    return process.wait(), int(counts["rchar"])


def check_reading(options, folder):
    run([options.maker, f"{folder}/parts", "4", "8", "40"])
    merged = f"{folder}/long.ttrace"
    run([options.tracetool, "merge", *[f"{folder}/parts/part-{part:05}.ttrace" for part in range(4)], "-o", merged])
    size = os.path.getsize(merged)
    status, count = read_bytes(options.tracetool, "export", "--perfetto", merged, "--ranks", "0", "--steps", "20", "-o", f"{folder}/step.json")
    # Two walks over one of 32 ranks, of which derived tracks need all, and one over a twentieth of all.
    check(status == 0 and count < size / 4, f"one step of one rank of 32: {count} bytes are read of a file of {size}")


def main():
    parser = argparse.ArgumentParser()
    for name in ("agent", "simulated", "tracetool", "maker"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    for name, more in RUNS.items():
        with Folder() as folder:
            check_choices(options, name, folder, more)
    with Folder() as folder:
        check_reading(options, folder)
    return finish()


if __name__ == "__main__":
    raise SystemExit(main())
