#!/usr/bin/env python3
"""A recording that is written directly, from events, says what the agent's recording says that these were read from: of simulated
jobs of 8 ranks on 2 hosts both give the same events and the same answers, and a second reader finds the same records.

Events of the kinds UNWRITTEN are not recorded. What may differ, since it is not written: what the header says of the agent itself; of GPUs more
than what occupancy is estimated from; names of streams and threads; clock samples but one, whose scatter is in the times of the
events; that a range was a start and an end, and not a push and a pop; and the order of events whose times are the same.

  test_made_rings.py --agent PATH --simulated PATH --tracetool PATH --made PATH
"""
import collections
import os

from harness import Folder, arguments, check, files_below, finish, first, run
from truth import read_recording, train

UNWRITTEN = ("sync", "overhead")
RECORDS = ("kernel", "kernel_wide", "memcpy", "memcpy_peer", "memset", "runtime", "runtime_wide", "driver", "driver_wide", "cuda_event", "nvtx_mark", "nccl_call")
JOB = ("--ranks", 8, "--steps", 6, "--hosts", 2, "--clock-offset-us", 30_000, "--drift-ppm", 20)
JOBS = {
    "a straggler": ("--straggler", 5, "--straggler-us", 20_000),
    "groups, communicators, NVTX": ("--groups", "--p2p", "--comms", 2, "--nvtx"),
}


def write_again(options, folder):
    """The recordings of folder/traces in folder/made, by the same names."""
    for path in files_below(f"{folder}/traces", ".ring"):
        to = path.replace(f"{folder}/traces", f"{folder}/made", 1)
        os.makedirs(os.path.dirname(to), exist_ok=True)
        done = run([options.made, ",".join(UNWRITTEN), path, to])
        check(done.returncode == 0, f"{os.path.basename(path)} is written again", done.stderr)


def records(folder):
    """pid -> how many records of each kind, as the reader in Python finds them."""
    found = {}
    for path in files_below(folder, ".ring"):
        recording = read_recording.read(path)
        counts = collections.Counter(event.kind for event in recording.events)
        found[recording.header["pid"]] = {kind: counts[kind] for kind in RECORDS}
    return found


def lines(options, *words):
    done = run([options.tracetool, *words])
    check(done.returncode == 0, f"{words[0]}: runs", done.stderr)
    return done.stdout.splitlines()


def check_same(what, recorded, made, least):
    wrong = [pair for pair in zip(recorded, made) if pair[0] != pair[1]]
    check(len(recorded) == len(made) >= least and not wrong, f"{what}: {len(recorded)} lines are the same",
          lambda: f"{len(recorded)} and {len(made)}; {first(wrong, 2)}")


def check_job(options, what, words):
    with Folder() as folder:
        # The first event of a run, which times are told from, is one that both have.
        done = train(options, folder, *JOB, *words, TRACETOOL_EVENTS="default" + "".join(f",-{kind}" for kind in UNWRITTEN))
        check(done.returncode == 0, f"{what}: it was recorded", done.stderr)
        write_again(options, folder)
        recorded, made = records(f"{folder}/traces"), records(f"{folder}/made")
        check(recorded == made and len(made) == 8, f"{what}: the same records of 8 processes", (recorded, made))
        for name in ("traces", "made"):
            run([options.tracetool, "merge", f"{folder}/{name}", "-o", f"{folder}/{name}.ttrace"])
        check_same(f"{what}, events", *(sorted(lines(options, "dump", f"{folder}/{name}.ttrace")) for name in ("traces", "made")), 8 * 6 * 50)
        told = [lines(options, "analyze", f"{folder}/{name}.ttrace", "--only", "collectives,stragglers,temporal", "--format", "json")
                for name in ("traces", "made")]
        check_same(f"{what}, answers", *told, 6)


def main():
    options = arguments("agent", "simulated", "tracetool", "made")
    for what, words in JOBS.items():
        check_job(options, what, words)
    finish()


if __name__ == "__main__":
    main()
