#!/usr/bin/env python3
"""kill -9 at random moments, TRACETOOL_KILLS of them (100): every file reads, says "recovered", holds only what is true,
and, where the ring is large, every record of every buffer that CUPTI handed over (so also those handed over more than a
flush period before), every NVTX call that had returned and every NCCL call up to the last one that was entered. In a small
ring they are there or overwritten.

TRACETOOL_SEED repeats the moments. This cannot show a wrong order of stores (finished ones stay in the page cache); a
unit test of the ring does that.
"""
import os
import random
import signal
import subprocess
import time
from collections import Counter

from compare import match, totals
from harness import Folder, arguments, check, clean_environment, files_below, finish, first
from truth import ALL_CUPTI_KINDS, FOREVER, HOST_KINDS, command, load, read_recording, wait_for_pids

RANKS = 2
FLUSH_MS = 20
# And the latest moment of a kill, in seconds after the start, where the first ring is there USUAL_S after it.
USUAL_S = 0.06
JOBS = (("large ring", ["--ring-bytes", "16M", "--steps", 2000, "--step-us", 5000], 0.6),
        ("small ring", ["--ring-bytes", "256K", "--steps", 100000, "--burst", 200], 0.2))


def stretch(options):
    """How many times as long as usual a job needs to start, on this machine in this build."""
    with Folder() as folder:
        started = time.monotonic()
        job = subprocess.Popen(command(options, folder, "--ranks", RANKS, *JOBS[0][1]), cwd=folder, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=clean_environment())
        pids = wait_for_pids(os.path.join(folder, "truth"), job)
        while not files_below(os.path.join(folder, "traces"), ".ring") and time.monotonic() < started + 30:
            time.sleep(0.002)
        took = time.monotonic() - started
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        job.wait(timeout=60)
    return took / USUAL_S


def kill_ranks(options, folder, more, moments):
    """Starts a job and kills each rank at its moment, in seconds after the start."""
    job = subprocess.Popen(command(options, folder, "--ranks", RANKS, *more), cwd=folder, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           env=clean_environment(TRACETOOL_FLUSH_MS=FLUSH_MS))
    started = time.monotonic()
    for moment, pid in sorted(zip(moments, wait_for_pids(os.path.join(folder, "truth"), job))):
        time.sleep(max(0.0, started + moment - time.monotonic()))
        os.kill(pid, signal.SIGKILL)
    return job.wait(timeout=60)


def entered(rank):
    """The numbers of the NCCL calls after which their thread did anything at all, such as the launch inside the call."""
    last, found = {}, set()
    for line in rank.lines:
        if line.get("tid") in last:
            found.add(last.pop(line["tid"]))
        if line["kind"] == "nccl_call":
            last[line["tid"]] = line["seq"]
    return found


def promised(rank):
    """The lines of truth whose records must not be missing: handed over, or the call has returned or entered NCCL."""
    handed = {seq for each in rank.handed for begin, end in each["seqs"] for seq in range(begin, end + 1)}
    inside = entered(rank)
    return [line for line in rank.of(*ALL_CUPTI_KINDS, *HOST_KINDS)
            if (line["seq"] in handed if line["kind"] in ALL_CUPTI_KINDS else
                line["after"] != FOREVER or line["seq"] in inside)]


def faults(rank, recording, due, large):
    """What is wrong with the recording of a killed rank."""
    matched = match(rank, recording.events)
    if recording.state != "recovered":
        yield f"its state is {recording.state}"
    if matched.extra:
        yield f"not in the truth: {first(matched.extra)}"
    kept = {line["seq"] for line, event in matched.pairs}
    missing = [line for line in due if line["seq"] not in kept]
    if large and missing:
        yield f"missing: {first(missing)}"
    said, true, least = totals(recording.kept + recording.overwritten + recording.lost), rank.counts(), Counter(
        line["kind"] for line in due)
    for kind in ALL_CUPTI_KINDS + HOST_KINDS:
        if not least[kind] <= said[kind] <= true[kind]:
            yield f"{said[kind]} of {kind} are counted, {least[kind]} were handed over, {true[kind]} happened"
    if recording.lost:
        yield f"lost: {recording.lost}"


def read_ranks(folder):
    """pid -> Recording, and the texts of what is refused."""
    found, refused = {}, []
    for path in files_below(os.path.join(folder, "traces"), ".ring"):
        try:
            recording = read_recording.read(path)
            found[recording.header["pid"]] = recording
        except read_recording.BadRecording as error:
            refused.append(str(error))
    return found, refused


def check_job(options, what, more, moments, sums):
    with Folder() as folder:
        code = kill_ranks(options, folder, more, moments)
        found, refused = read_ranks(folder)
        name = f"{what}, killed after {' and '.join(f'{moment:.3f}' for moment in moments)} s"
        wrong = [] if code == 3 else [f"the training ended with {code}"]
        # A file that was not finished being made when its process died has no magic yet: there is nothing in it.
        wrong += [text for text in refused if "never finished being made" not in text]
        for rank in load(os.path.join(folder, "truth"), killed=True):
            due = promised(rank)
            if rank.pid in found:
                wrong += faults(rank, found[rank.pid], due, what == "large ring")
                sums["killed"] += 1
                sums["promised"] += len(due)
                sums["inside NCCL"] += any(line["kind"] == "nccl_call" and line["after"] == FOREVER for line in due)
                sums["wrapped"] += found[rank.pid].header["claimed_blocks"] > found[rank.pid].header["block_count"]
            else:
                sums["too early"] += 1
                wrong += [f"rank {rank.rank} has no recording: {first(due)}"] if due else []
        check(not wrong, name, lambda: "; ".join(wrong))


def main():
    options = arguments("agent", "simulated")
    kills, seed = int(os.environ.get("TRACETOOL_KILLS", "100")), int(os.environ.get("TRACETOOL_SEED", "1"))
    print(f"{kills} kills, TRACETOOL_SEED={seed}")
    dice, sums = random.Random(seed), Counter()
    slower = min(max(1.0, *(stretch(options) for _ in range(3))), 8.0)  # at 9 the large ring could wrap
    print(f"moments {slower:.1f} times as late as usual")
    for number in range((kills + RANKS - 1) // RANKS):
        what, more, latest = JOBS[number % len(JOBS)]
        check_job(options, what, more, [slower * dice.uniform(0.02, latest) for _ in range(RANKS)], sums)
    print(dict(sums))
    check(sums["killed"] > sums["too early"] and sums["promised"] > 100 * sums["killed"] and sums["wrapped"] > 0,
          "most kills came while records were written, some after the ring had wrapped", sums)
    finish()


main()
