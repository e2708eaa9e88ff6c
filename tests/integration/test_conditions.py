#!/usr/bin/env python3
"""A recorded program is left alone whatever the agent meets: it is switched off, mistyped settings, forks, no CUPTI, a
folder that it cannot write to, limits. Each says one line at most, and what can be recorded still is."""
import ctypes
import os
import resource
import sys
from collections import Counter

from compare import match, match_host
from harness import Folder, arguments, check, files_below, finish, first, run
from truth import CUPTI_KINDS, HOST_KINDS, load, recordings, train

SMALL = ("--ranks", 1, "--steps", 2, "--ring-bytes", "4M")
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "small_program.py")
FAILED, TAKEN = 2, 3  # SourceState
CAP_DAC_OVERRIDE, PR_CAPBSET_DROP = 1, 24

# What is not a value of the variable. TRACETOOL_DIR has its own checks.
BAD_VALUES = (("TRACETOOL_BUFFER", "12Q"), ("TRACETOOL_BUFFER", "1"), ("TRACETOOL_BUFFER", "-5M"),
              ("TRACETOOL_BUFFER", "99999999999999999999G"), ("TRACETOOL_FLUSH_MS", "soon"),
              ("TRACETOOL_FLUSH_MS", "0"), ("TRACETOOL_VERBOSE", "yes"))


def lines_of(done):
    return done.stderr.splitlines()


def run_small(options, folder, *more, limit=None, **environment):
    """small_program.py with the agent; `limit` runs in the child before the program."""
    standin = os.path.join(os.path.dirname(options.simulated), "standin")
    settings = {"CUDA_INJECTION64_PATH": options.agent, "LD_LIBRARY_PATH": standin, "TRACETOOL_BUFFER": "4M",
                "TRACETOOL_DIR": os.path.join(folder, "traces"), **environment}
    return run([sys.executable, PROGRAM, os.path.join(standin, "libcuda.so.1"), *more], cwd=folder, limit=limit,
               **settings)


def check_disabled(options, value):
    with Folder() as folder:
        done, what = train(options, folder, *SMALL, TRACETOOL_DISABLE=value), f"TRACETOOL_DISABLE={value}"
        check(done.returncode == 0 and not done.stderr, f"{what}: the training ends well, silently", done)
        left = os.listdir(os.path.join(folder, "traces"))
        check(not left, f"{what}: nothing is recorded", left)


def check_recorded(what, folder):
    """There is one recording, and all that happened is in it."""
    rank, found = load(os.path.join(folder, "truth"))[0], recordings(folder)
    if not check(list(found) == [rank.pid], f"{what}: there is one recording", list(found)):
        return
    matched = match(rank, found[rank.pid].events)
    kinds = {line["kind"] for line, event in matched.pairs}
    check(kinds >= {*CUPTI_KINDS, *HOST_KINDS} and not matched.missing and not matched.extra,
          f"{what}: all {len(matched.pairs)} events are recorded",
          lambda: f"{kinds}, missing {first(matched.missing)}, extra {first(matched.extra)}")


def check_bad_values(options):
    for name, value in BAD_VALUES:
        with Folder() as folder:
            more = SMALL[:-2] if name == "TRACETOOL_BUFFER" else SMALL  # --ring-bytes sets it
            done = train(options, folder, *more, **{name: value})
            said, what = lines_of(done), f"{name}={value}"
            check(done.returncode == 0 and len(said) == 1 and what in said[0] and said[0].startswith("tracetool: "),
                  f"{what}: one line says so", done)
            check_recorded(what, folder)


def check_forks(options):
    with Folder() as folder:
        done = run_small(options, folder, "100", "fork", TRACETOOL_FLUSH_MS=60_000)
        expected = ["idle child 0", "child that calls 0", "child that ends as a program does 768",
                    "child that is killed 9", "done"]
        check((done.stdout.splitlines(), done.returncode, done.stderr) == (expected, 0, ""),
              "forks: the program and its children do what they did", done)
        found = recordings(folder)
        if check(len(found) == 1, "forks: the children leave no recording", sorted(found)):
            (pid, recording), = found.items()
            calls = Counter(event.name for event in recording.events if event.kind.startswith("runtime"))
            check(calls["cudaMalloc_v3020"] == 200, "forks: the parent's 200 calls are recorded, no other", calls)
            tids = {event.tid for event in recording.events if hasattr(event, "tid") and event.kind != "overhead"}
            check(tids == {pid} and recording.state == "clean", "forks: all are the parent's, whose file is closed",
                  f"{tids} of {pid}, {recording.state}")


def check_without_cupti(options, what, expected_state, words, **environment):
    with Folder() as folder:
        done = train(options, folder, *SMALL, **environment)
        said = lines_of(done)
        check(done.returncode == 0 and len(said) == 1 and all(word in said[0] for word in words),
              f"{what}: one line says so", done)
        rank, found = load(os.path.join(folder, "truth"))[0], recordings(folder)
        if not check(list(found) == [rank.pid], f"{what}: there is one recording", list(found)):
            return
        recording = found[rank.pid]
        host = match_host(rank.of(*HOST_KINDS), [e for e in recording.events if e.kind != "clock"])
        kinds = {line["kind"] for line, event in host.pairs}
        check(kinds == set(HOST_KINDS) and not host.missing and not host.extra,
              f"{what}: all {len(host.pairs)} NVTX and NCCL events are recorded",
              lambda: f"{kinds}, missing {first(host.missing)}, extra {first(host.extra)}")
        header = recording.header
        check(header["cupti_state"] == expected_state and (header["cupti_error"] == 39) == (expected_state == TAKEN),
              f"{what}: the file says so", (header["cupti_state"], header["cupti_error"]))
        check(recording.identity["rank"] == 0, f"{what}: the rank is known", recording.identity)


def obey_permissions():
    """In the child: root keeps to the permissions of files, too."""
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)


def check_folder(options, what, make, limit=None, **environment):
    """The folder of the recordings cannot be written to, or the file not be made."""
    with Folder() as folder:
        traces = make(folder)
        done = run_small(options, folder, "100", limit=limit, TRACETOOL_DIR=traces, **environment)
        said = lines_of(done)
        check((done.returncode, done.stdout) == (0, "done\n"), f"{what}: the program ends as it did", done)
        check(len(said) == 1 and said[0].startswith("tracetool: "), f"{what}: one line says so", done.stderr)
        left = files_below(folder, ".ring")
        check(not left, f"{what}: no file is left", left)


def read_only(folder):
    traces = os.path.join(folder, "traces")
    os.mkdir(traces, 0o500)
    return traces


def below_a_file(folder):
    with open(os.path.join(folder, "file"), "w", encoding="utf-8"):
        return os.path.join(folder, "file", "traces")


def check_control(options):
    """What the checks of folders and limits stand on: without an obstacle the small program is recorded."""
    with Folder() as folder:
        done = run_small(options, folder, "100")
        calls = Counter(event.name for each in recordings(folder).values() for event in each.events
                        if event.kind == "runtime")
        check((done.returncode, done.stdout, done.stderr) == (0, "done\n", "") and calls["cudaMalloc_v3020"] == 100,
              "the small program is recorded", f"{done}, {calls}")


def main():
    options = arguments("agent", "simulated")
    check_control(options)
    check_disabled(options, 1)
    check_disabled(options, "yes")  # whoever wants it off gets it off
    check_bad_values(options)
    check_forks(options)
    check_without_cupti(options, "CUPTI is taken", TAKEN, ("CUPTI is in use by",), SIM_CUPTI_TAKEN=1)
    check_without_cupti(options, "no libcupti", FAILED, ("/nowhere/libcupti",), TRACETOOL_CUPTI="/nowhere/libcupti.so")
    check_folder(options, "a read-only folder", read_only, obey_permissions)
    check_folder(options, "a folder below a file", below_a_file)
    check_folder(options, "a file size limit", lambda folder: os.path.join(folder, "traces"),
                 lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20)))
    finish()


main()
