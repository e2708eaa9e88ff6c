"""kill: processes that end in all the ways in which trainings end: what survived against what they had issued, and how many
milliseconds at the end are lost."""
import glob
import os
from collections import namedtuple

import build
import issued
import recording
from places import PROGRAMS
from recording import events

# How a process ends: its exit status, and for each process that uses the GPU (itself, then its workers) the state of its
# recording and whether nothing may be missing.
Way = namedtuple("Way", "status processes")
WHOLE, CUT, LATE = ("clean", True), ("recovered", False), ("clean", False)
NATIVE = {
    "exit": Way(0, [WHOLE]), "sigkill": Way(-9, [CUT]), "abort": Way(-6, [CUT]), "illegal_address": Way(3, [LATE]),
    "os_exit": Way(0, [CUT]), "exception": Way(-6, [CUT]), "thread": Way(0, [LATE]), "fork": Way(0, [WHOLE]),
    "early_fork": Way(0, [WHOLE, WHOLE, WHOLE]), "spawn": Way(0, [WHOLE, WHOLE, CUT]),
}
PYTHON = {
    "exit": Way(0, [WHOLE]), "sigkill": Way(-9, [CUT]), "os_exit": Way(0, [CUT]), "exception": Way(1, [WHOLE]),
    "thread_exit": Way(0, [WHOLE]), "fork": Way(0, [WHOLE]), "spawn": Way(0, [WHOLE, WHOLE, WHOLE]),
}
FATAL_KERNEL, FATAL_MS = 4000, 20_000  # of the loop: the one that breaks the context of the stand-ins, however slow they are
RUN_S = 100  # of all ways once
OF_LOOP = ("6issued", "CUDAFunctor")  # in the names of the loops' kernels, in C++ and in torch


class Setup:
    """How long the processes run, how often, and what may be lost, here."""

    def __init__(self, simulate, limit_s):
        self.ms, self.flush_ms, self.most_ms, self.runs = (300, 20, 250, 1) if simulate else (1500, 200, 1000, 3)
        self.runs = max(1, min(self.runs, limit_s // RUN_S))


def run(part):
    setup, program = Setup(part.simulate, part.limit_s), build.program(part, "ends")
    for how, way in NATIVE.items():
        part.attempt(f"native, {how}", check_way, setup, "native", [program], how, way)
    torch = part.machine.torch
    if not part.simulate and torch and torch["gpu"]:
        script = os.path.join(PROGRAMS, "ends.py")
        for how, way in PYTHON.items():
            part.attempt(f"python, {how}", check_way, setup, "python", [part.machine.python, script], how, way)
    else:
        part.note("the Python variants were left out: " + ("simulated" if part.simulate else "no torch that finds a GPU"))


def check_way(part, setup, language, command, how, way):
    cut, before = [], failures(part)
    for number in range(setup.runs):
        name = f"{language}_{how}_{number}"
        ms, fatal = setup.ms, {}
        if part.simulate and how == "illegal_address":
            ms, fatal = FATAL_MS, {"SIM_FATAL_AFTER": FATAL_KERNEL}
        recorded = recording.run(part, name, [*command, how, "issued", ms], TRACETOOL_FLUSH_MS=setup.flush_ms,
                                 TRACETOOL_EVENTS="light", **fatal)
        title = f"{language}, {how}"
        part.check(recorded.done.returncode == way.status, f"{title}: ends with {way.status}",
                   f"{recorded.done.returncode}: {recorded.done.stderr[-300:]}")
        cut += check_processes(part, setup, title, way, recorded)
        if how == "illegal_address":
            notices = {event.code for event in events(recorded.recordings(), "notice")}
            if part.simulate:  # CUPTI 13.0 tells no such error of a kernel's illegal address; its header names none that it tells
                part.check("fatal" in notices, f"{title}: the recording says that CUPTI ended itself", notices)
            else:
                part.note(f"{title}: CUPTI told {'a' if 'fatal' in notices else 'no'} fatal error")
        if failures(part) == before:
            recorded.discard()
    if cut:
        launches = [max(0, each.issued - each.recorded) for each in cut]
        part.samples(f"{language}, {how}: lost at the end", [each.tail_ms for each in cut], "ms")
        part.samples(f"{language}, {how}: launches lost at the end", launches, "launches")


def failures(part):
    return sum(not check["ok"] for check in part.result["checks"])


def check_processes(part, setup, title, way, recorded):
    """Of each process that said what it issued; what Survived of those of which something may be missing."""
    said = sorted(glob.glob(os.path.join(os.path.dirname(recorded.traces), "issued*")))
    found = {each.header["pid"]: each for each in recorded.recordings()}
    part.check(len(said) == len(found) == len(way.processes), f"{title}: a recording for each process that used the GPU",
               f"{len(way.processes)} expected, {len(said)} issued, {len(found)} recorded")
    cut = []
    for number, (path, (state, whole)) in enumerate(zip(said, way.processes)):
        pid, lines = issued.read_issued(path)
        if pid in found:
            what = f"{title}: process {number}"
            result = issued.survived(lines, blocks_of(found[pid]))
            check_survival(part, setup, what, result, found[pid], state, whole)
            cut += [] if whole or result.tail_ms is None else [result]
    return cut


def blocks_of(found):
    kernels = [event for event in events([found], "kernel", "kernel_wide")
               if any(name in event.shape.name for name in OF_LOOP)]
    return [kernel.shape.grid[0] for kernel in sorted(kernels, key=lambda kernel: kernel.correlation)]


def check_survival(part, setup, what, result, found, state, whole):
    part.check(found.state == state, f"{what}: its recording is {state}", found.state)
    part.check(recording.lost([found]) == 0, f"{what}: nothing is counted as lost", recording.lost([found]))
    if "python" not in what:
        part.check(result.holes == 0, f"{what}: no hole before the end", f"{result.holes} in {result.recorded}")
    seen = f"{result.recorded} of {result.issued} launches, the last {result.tail_ms} ms are missing"
    if whole:
        part.check(result.recorded == result.issued, f"{what}: every launch is there", seen)
    else:
        part.check(result.tail_ms is not None and result.tail_ms <= setup.most_ms,
                   f"{what}: all but the last {setup.most_ms} ms are there", seen)
