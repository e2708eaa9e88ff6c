#!/usr/bin/env python3
"""Hosts that notice what is done to them (programs/sensitive.cpp): no thread-specific key is left, a thread is cancelled,
a thread has the least stack that there is, the environment is being read, errno is looked at late, signals are meant
for certain threads. Each ends as it would without the agent, and is recorded where it can be."""
import os

from harness import Folder, arguments, check, files_below, finish, run
from truth import read_recording

# What, more arguments, and the events that its recording has.
HOSTS = (("keys", (), {}), ("cancelled", (), {"nccl_call": 1, "nvtx_push": 1, "nvtx_pop": 2}),
         ("cancelled_fork", (), {"nccl_call": 1, "nvtx_push": 1, "nvtx_pop": 2}),
         ("small_stack", (16,), {"nccl_call": 1, "nvtx_push": 1, "nvtx_pop": 2}),
         ("errno", (), {"nccl_call": 100, "nvtx_push": 100, "nvtx_pop": 200}),
         ("signals", (0,), {"nccl_call": 1, "nvtx_push": 1, "nvtx_pop": 2}))
EVENTS = 20_000
OWN_THREADS = 2  # with a spool; the disk's thread has ended by then


def check_host(options, what, more, counts, kind, place):
    """`place`: where the folder of the recordings is made; None: beside the program's."""
    name = f"{what}, {kind}"
    with Folder() as folder:
        plain = run([options.program, what, *map(str, more)], cwd=folder)
        check(plain.returncode == 0, f"{name}: holds without the agent", plain)
        traces = os.path.join(place or folder, f"tracetool-test-{os.getpid()}")
        try:
            done = run([options.program, what, *map(str, more)], cwd=folder, LD_PRELOAD=options.agent,
                       TRACETOOL_DIR=traces, TRACETOOL_BUFFER="1M", TRACETOOL_MODE="spool", RANK=3)
            check((done.returncode, done.stderr) == (0, ""), f"{name}: holds with it", done)
            files = files_below(traces, ".ring")
            if check(len(files) == 1, f"{name}: there is one recording", files):
                recording = read_recording.read(files[0])
                kept = {kind: recording.kept[kind] for kind in ("nccl_call", "nvtx_push", "nvtx_pop")
                        if recording.kept[kind]}
                check(kept == counts and recording.state == "clean", f"{name}: what it did is there", recording.kept)
                lost = sum(count for kind, count in recording.lost.items() if kind != "clock")
                check(lost == (0 if counts else 4), f"{name}: what has no place is counted", recording.lost)
        finally:
            run(["rm", "-rf", traces])


def check_signals(options):
    """Nobody's signal is ours: the agent's threads block all of them, and it handles none."""
    with Folder() as folder:
        done = run([options.program, "signals", str(OWN_THREADS)], cwd=folder, LD_PRELOAD=options.agent,
                   TRACETOOL_DIR=folder, TRACETOOL_BUFFER="1M", TRACETOOL_MODE="spool")
        check((done.returncode, done.stderr) == (0, ""), "signals: they reach the program's own threads only", done)


def check_undisturbed(options):
    """While it records, a thread of the program makes no system call, waits for no lock and allocates nothing; also
    where the ring goes round."""
    with Folder() as folder:
        command = [options.program, "undisturbed", str(EVENTS)]
        if run(command, cwd=folder).returncode != 0:
            print("left out: undisturbed: the clock is a system call here, or seccomp is not allowed", flush=True)
            return
        done = run(command, cwd=folder, LD_PRELOAD=options.agent, TRACETOOL_DIR=folder, TRACETOOL_BUFFER="1M")
        check((done.returncode, done.stderr) == (0, ""), "undisturbed: no system call, no lock, no allocation", done)
        recording = read_recording.read(files_below(folder, ".ring")[0])
        counts = recording.kept + recording.overwritten + recording.lost
        check(counts["nccl_call"] == EVENTS + 3 and recording.overwritten["nccl_call"] > 0 and
              not recording.lost["nccl_call"], "undisturbed: and its events are recorded", counts)


def check_bad_value(options):
    """A line is said on that stack, too."""
    with Folder() as folder:
        done = run([options.program, "small_stack", "16"], cwd=folder, LD_PRELOAD=options.agent, TRACETOOL_DIR=folder,
                   TRACETOOL_BUFFER="1M", TRACETOOL_EVENTS="everything")
        check(done.returncode == 0 and len(done.stderr.splitlines()) == 1, "small_stack, a bad value: one line", done)


def check_environment(options):
    with Folder() as folder:
        done = run([options.program, "environment"], cwd=folder, SENSITIVE_AGENT=options.agent)
        check((done.returncode, done.stderr) == (0, ""), "loaded late: the table that others may be reading stays", done)
        done = run([options.own_environ], cwd=folder, SENSITIVE_AGENT=options.agent)
        check((done.returncode, done.stderr) == (0, ""), "loaded late: an environ of the program's own is left alone", done)


def main():
    options = arguments("agent", "program", "own_environ")
    places = [("a folder of its own", None)]
    if os.access("/dev/shm", os.W_OK):
        places.append(("memory", "/dev/shm"))
    for kind, place in places:
        for host in HOSTS:
            check_host(options, *host, kind, place)
    check_signals(options)
    check_undisturbed(options)
    check_bad_value(options)
    check_environment(options)
    finish()


main()
