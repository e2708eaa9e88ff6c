#!/usr/bin/env python3
"""kill -9 of a program whose host runs ahead of its GPU, so that there is always unfinished work with CUPTI: every kernel
that had ended is in the file, but for the last of each thread: what ended in the last two flush periods, and what one of
CUPTI's buffers holds (LAUNCHES at most).

Where a kernel never ends, all are there but it and those behind it in its stream, and of these the launches: ten
seconds after the last work ended CUPTI is made to hand over what it holds. A kernel that was running then has an unknown end,
once, also where it ends later.
"""
import json
import os
import signal
import subprocess
import time
from collections import Counter, namedtuple

from harness import Folder, arguments, check, clean_environment, finish, first, run
from recorded import side_by_side
from truth import command, load, recordings, wait_for_pids

FLUSH_MS = 20
LAUNCHES = 300  # of a thread, whose kernels may be missing

Load = namedtuple("Load", "name ahead_us rate threads arguments seconds steps environment")
Load.__new__.__defaults__ = ((), 2.5, 100_000, {})
LOADS = (
    Load("500 launches/s, 2 s ahead", 2_000_000, 500, 1, seconds=6),
    Load("4 threads, 2000 launches/s, 1.9 s ahead", 1_900_000, 2000, 4, seconds=6),
    Load("20000 launches/s, 50 ms ahead", 50_000, 20_000, 1),
    Load("8 threads, 20000 launches/s, 50 ms ahead", 50_000, 20_000, 8),
    Load("100000 launches/s, 10 ms ahead", 10_000, 100_000, 1),
    Load("2 threads with 3 streams each, 3000 launches/s, 100 ms ahead", 100_000, 3000, 2, ("--streams", 3)),
    Load("graphs, 10000 kernels/s, 50 ms ahead", 50_000, 10_000, 1, ("--graphs",)),
    Load("4 threads with graphs, 10000 kernels/s, 100 ms ahead", 100_000, 10_000, 4, ("--graphs",)),
)


def start(options, folder, load):
    return subprocess.Popen(
        command(options, folder, "--ranks", 1, "--ring-bytes", "64M", "--ahead-us", load.ahead_us,
                "--rate", load.rate, "--threads", load.threads, "--steps", load.steps, *load.arguments),
        cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=clean_environment(TRACETOOL_FLUSH_MS=FLUSH_MS, TRACETOOL_GUARD_CPU=0, TRACETOOL_GUARD_RATE=0,
                              **load.environment))


def kill_after(options, folder, load, before=None):
    """Kills the program; the moment of the kill by CLOCK_REALTIME, its truth and its recording."""
    job = start(options, folder, load)
    pid = wait_for_pids(os.path.join(folder, "truth"), job)[0]
    time.sleep(load.seconds)
    if before is not None:
        before(folder)
    killed_ns = time.time_ns()
    os.kill(pid, signal.SIGKILL)
    job.wait(timeout=60)
    rank = load_truth(folder)
    return killed_ns, rank, recordings(folder)[rank.pid]


def load_truth(folder):
    return load(os.path.join(folder, "truth"), killed=True)[0]


def key(event):
    return event["correlation"], event.get("graph_node", 0)


def recorded_kernels(recording):
    """(correlation, graph node) -> how often it is there with an end, and without one."""
    ended, unfinished = Counter(), Counter()
    for event in recording.events:
        if event.kind in ("kernel", "kernel_wide"):
            (unfinished if event.end is None else ended)[event.correlation, getattr(event, "graph_node", 0)] += 1
    return ended, unfinished


def check_live(options, folder):
    """What `info` and `doctor` say of a program that runs: how old the newest work in the file is."""
    traces = os.path.join(folder, "traces")
    told = run([options.tracetool, "info", "--json", traces])
    recorder = json.loads(told.stdout)["ranks"][0]["recorder"]
    age_ns = recorder["heartbeat_ns"] - recorder["newest_gpu_end_ns"]
    check(-1e9 < age_ns < 1e9, f"the newest work is {age_ns / 1e6:.0f} ms old while the program runs", recorder)
    for command_line in (["info", traces], ["doctor", traces]):
        said = run([options.tracetool, *command_line])
        check("last recorded GPU activity: " in said.stdout, f"{command_line[0]} says how old", said)


def check_load(options, load):
    with Folder() as folder:
        live = (lambda at: check_live(options, at)) if load is LOADS[0] else None
        killed_ns, rank, recording = kill_after(options, folder, load, live)
    kernels = rank.of("kernel")
    tids = {line["correlation"]: line["tid"] for line in rank.of("runtime", "driver")}
    ended, unfinished = recorded_kernels(recording)
    known = {key(line): line for line in kernels}
    due = [line for line in kernels if line["end"] < killed_ns - 2 * FLUSH_MS * 1_000_000]
    missing = Counter(tids.get(line["correlation"]) for line in due if not ended[key(line)])
    newest = max((known[each]["end"] for each in ended if each in known), default=0)
    in_flight = len(set(tids) - {line["correlation"] for line in kernels})
    what = f"{load.name}: {len(tids) / load.seconds:.0f} launches/s, {in_flight} in flight"
    check(len(due) > 3 * LAUNCHES * load.threads and in_flight >= load.threads, f"{what}, {len(kernels)} kernels had ended",
          len(due))
    check(not missing or max(missing.values()) <= LAUNCHES,
          f"{what}, {sum(ended.values())} kept, each thread misses {max(missing.values(), default=0)} at most, "
          f"the newest ended {(killed_ns - newest) / 1e6:.0f} ms before the kill", lambda: dict(missing))
    twice = [each for each, count in ended.items() if count > 1]
    check(not twice and not unfinished, f"{load.name}: none twice, none unfinished",
          lambda: f"{first(twice)}, {len(unfinished)}")


Hang = namedtuple("Hang", "load kept_launches ends")
HANGS = (
    Hang(Load("one of two streams hangs", 0, 400, 1, ("--streams", 2, "--hang", 100), 16.5), None, False),
    Hang(Load("a stream hangs, launches go on", 0, 60, 1, ("--hang", 50), 17.5), LAUNCHES, False),
    Hang(Load("four threads hang", 20_000, 2000, 4, ("--hang", 300), 16), None, False),
    Hang(Load("graphs behind a kernel that hangs", 20_000, 2000, 1, ("--graphs", "--hang", 20), 14), None, False),
    Hang(Load("a kernel of 13 s", 0, 60, 1, ("--hang", 50, "--hang-us", 13_000_000), None, 1700), None, True),
)


def check_unfinished(what, recording, ended, unfinished):
    """Each kernel is there once, and the notices tell how many have no end."""
    twice = [each for each, count in (ended + unfinished).items() if count > 1]
    check(not twice, f"{what}: no kernel is there twice", lambda: first(twice))
    told = [event.value for event in recording.events if event.kind == "notice" and event.code == "stalled"]
    check(unfinished and sum(told) == len(unfinished), f"{what}: the notices {told} count all that have no end",
          len(unfinished))


def check_hang(options, hang):
    what = hang.load.name
    with Folder() as folder:
        if hang.ends:
            job = start(options, folder, hang.load)
            check(job.wait(timeout=60) == 0, f"{what}: the program ends", job.returncode)
            rank = load_truth(folder)
            recording = recordings(folder)[rank.pid]
        else:
            _, rank, recording = kill_after(options, folder, hang.load)
    kernels = [line for line in rank.of("kernel") if line["end"]]
    ended, unfinished = recorded_kernels(recording)
    check_unfinished(what, recording, ended, unfinished)
    missing = [line for line in kernels if not ended[key(line)] and not (hang.ends and unfinished[key(line)])]
    check(kernels and not missing, f"{what}: all {len(kernels)} kernels that ended are there, {len(unfinished)} without an end",
          lambda: first(missing))
    launches = {line["correlation"] for line in rank.of("runtime", "driver")}
    told = {event.correlation for event in recording.events if event.kind.startswith(("runtime", "driver"))}
    lacking = len(launches - told)
    check(lacking <= (hang.kept_launches or 0), f"{what}: of {len(launches)} launches {lacking} are missing", lacking)


def check_seldom(options, _):
    """A buffer takes 16 s to fill: CUPTI is emptied once, in vain, and then not so soon again."""
    load = Load("8 launches/s, 2 s ahead", 2_000_000, 8, 1, seconds=33)
    with Folder() as folder:
        _, rank, recording = kill_after(options, folder, load)
    ended, unfinished = recorded_kernels(recording)
    check_unfinished(load.name, recording, ended, unfinished)
    check(len(unfinished) <= 20, f"{load.name}: {len(unfinished)} kernels were taken while they waited", unfinished)


def check_stall(options, case):
    (check_seldom if case is None else check_hang)(options, case)


def main():
    options = arguments("agent", "simulated", "tracetool")
    # What hangs does nothing: the loads run meanwhile, one after another.
    side_by_side(lambda part: part(), [
        lambda: side_by_side(lambda case: check_stall(options, case), [None, *HANGS]),
        lambda: [check_load(options, each) for each in LOADS]])
    finish()


if __name__ == "__main__":
    main()
