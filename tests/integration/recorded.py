"""Runs one of the programs of programs/ on the stand-ins, recorded, and compares with what happened."""
import concurrent.futures
import os
import resource
import shutil
import subprocess
import tempfile

from compare import match, totals
from harness import check, files_below, first, run
from truth import AGENTS_OWN, Rank, read_recording

WORKERS = 4


class Job:
    """What a recorded program did: `done` (its end), `rank` (the truth), `found` (pid -> Recording), `refused` (why a
    file could not be read)."""

    def __init__(self, folder, done):
        self.folder, self.done, self.found, self.refused = folder, done, {}, []
        for path in files_below(os.path.join(folder, "traces"), ".ring"):
            try:
                recording = read_recording.read(path)
                self.found.setdefault(recording.header["pid"], []).append(recording)
            except read_recording.BadRecording as error:
                self.refused.append(str(error))
        self.rank = Rank(None, None, os.path.join(folder, "truth"))

    @property
    def said(self):
        return self.done.stderr.splitlines()

    @property
    def only(self):
        """The one recording; None where there is none, or more."""
        all_of_them = [recording for each in self.found.values() for recording in each]
        return all_of_them[0] if len(all_of_them) == 1 and not self.refused else None


def program(options, name):
    return os.path.join(options.programs, name)


def standins(options):
    return os.path.join(os.path.dirname(options.simulated), "standin")


def no_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def environment_of(options, folder, **more):
    """Of a recorded program; a value of None takes a variable out."""
    chosen = {"CUDA_INJECTION64_PATH": options.agent, "LD_LIBRARY_PATH": standins(options), "TRACETOOL_BUFFER": "2M",
              "TRACETOOL_DIR": os.path.join(folder, "traces"), "TRACETOOL_FLUSH_MS": 20,
              "SIM_TRUTH": os.path.join(folder, "truth"), "TRACETOOL_GUARD_CPU": 0, "TRACETOOL_GUARD_RATE": 0, **more}
    return {name: value for name, value in chosen.items() if value is not None}


def record(options, name, *arguments, limit=no_core, timeout=60, **environment):
    """A Job; its folder is gone when this returns. The exit code is None where it had to be killed for its time."""
    folder = os.path.realpath(tempfile.mkdtemp(prefix="tracetool-test-"))
    command = [program(options, name), *map(str, arguments)]
    try:
        done = run(command, cwd=folder, timeout=timeout, limit=limit, **environment_of(options, folder, **environment))
        return Job(folder, done)
    except subprocess.TimeoutExpired:
        return Job(folder, subprocess.CompletedProcess(command, None, "", f"it does not end within {timeout} s"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def side_by_side(function, items):
    """function(item) for each, some at a time, results in order."""
    with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
        return list(pool.map(function, items))


def unfinished(rank):
    return {seq for each in rank.handed for seq in each["unfinished"]}


def handed(rank):
    """What CUPTI handed over complete, so that it must be there, whatever happened to the process."""
    return {seq for each in rank.handed for begin, end in each["seqs"] for seq in range(begin, end + 1)} - \
        unfinished(rank)


def was_running(event):
    """A record as a forced flush takes it from work that has not ended."""
    return event.kind == "kernel_wide" and event.end is None


def faults(rank, recording, complete, left_out=frozenset()):
    """What is wrong with what is kept: all of it is true, and nothing is missing of what was handed over, or, with
    `complete`, of what happened. `left_out`: (kind, name) of calls that CUPTI tells and the agent does not record."""
    matched = match(rank, recording.events)
    extra = [event for event in matched.extra if not was_running(event)]
    if extra:
        yield f"not in the truth: {first(extra)}"
    if len(matched.extra) - len(extra) > len(unfinished(rank)):
        yield f"more unfinished kernels than were handed over: {first(matched.extra)}"
    due = handed(rank)
    missing = [line for line in matched.missing if (complete or line["seq"] in due) and
               (line["kind"], line.get("name")) not in left_out]
    if missing:
        yield f"missing: {first(missing)}"
    if not matched.pairs:
        yield "nothing is recorded"


def check_end(what, job, code, state, complete, lines=0, left_out=frozenset()):
    """The program ended with `code` and `lines` lines from the agent, and its one recording says `state`."""
    said = [line for line in job.said if line.startswith("tracetool: ")]
    check(job.done.returncode == code and len(said) == lines, f"{what}: ends with {code}", job.done)
    recording = job.only
    if not check(recording is not None, f"{what}: there is one recording", f"{job.found}, {job.refused}, {job.done}"):
        return
    wrong = list(faults(job.rank, recording, complete, left_out))
    check(recording.state == state and not wrong, f"{what}: {state}, "
          f"{sum(recording.kept.values())} records, {'all' if complete else 'all that was handed over'}",
          lambda: f"{recording.state}: " + "; ".join(wrong))


def check_conserved(what, rank, recording):
    """Per kind: kept + overwritten + lost = truth; and what is kept is true."""
    said = totals(recording.kept + recording.overwritten + recording.lost)
    for own in AGENTS_OWN:
        said.pop(own, None)
    true = rank.counts()
    check(said == true, f"{what}: kept + overwritten + lost = truth, {dict(true)}", said)
    matched = match(rank, recording.events)
    check(matched.pairs and not matched.extra, f"{what}: all {len(matched.pairs)} kept events are true",
          lambda: first(matched.extra))
