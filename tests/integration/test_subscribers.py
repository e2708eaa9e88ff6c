#!/usr/bin/env python3
"""CUPTI's subscribers of version 2 (TRACETOOL_COEXIST=share): alone all is recorded as without; beside another one in the
process both have everything, each in its own clock; where that cannot be had, it is as without, and one line says why. Without
the setting nothing changes."""
import os
import re
import shutil

from harness import Folder, arguments, check, finish, first
from recorded import check_end, faults, record, side_by_side, standins, unfinished
from test_killed_ahead import FLUSH_MS, Load, key, kill_after, recorded_kernels

ON = 1  # SourceState
SUBSCRIBERS, OWN_CLOCKS = 130300, 130400  # cuptiGetVersion of 13.3 and 13.4
BEFORE = 130001
NOT_COMPATIBLE, REFUSED = 14, 39
LAUNCHES = 200
SECONDS = 6


def libcupti(options):
    found = [name for name in os.listdir(standins(options)) if re.fullmatch(r"libcupti\.so\.\d+", name)]
    return os.path.join(standins(options), found[0])


def share(options, name, *more, version=SUBSCRIBERS, **environment):
    return record(options, name, *more, TRACETOOL_COEXIST="share", SIM_CUPTI_VERSION=version,
                  **{"TRACETOOL_BUFFER": "16M", **environment})


def beside(options, how, seconds=SECONDS, **environment):
    return share(options, "subscriber", how, libcupti(options), seconds, **environment)


def others(job):
    """What the other subscriber says: (launched, saw, odd, unfinished), and what was refused."""
    *lines, last = job.done.stdout.splitlines() or [""]
    refused = {(name, int(code)) for name, code in (line.split() for line in lines)}
    return tuple(map(int, re.findall(r"\d+", last))) or (0, 0, -1, -1), refused


def notices(job):
    return [event.code for event in job.only.events if event.kind == "notice"]


def check_default(options):
    what = "without the setting"
    job = record(options, "launches", "plain", LAUNCHES, SIM_CUPTI_VERSION=SUBSCRIBERS)
    check_end(f"{what}: alone", job, 0, "clean", True)
    job = record(options, "subscriber", "beside", libcupti(options), SECONDS, SIM_CUPTI_VERSION=SUBSCRIBERS,
                 TRACETOOL_BUFFER="16M")
    check_end(f"{what}: another subscriber comes", job, 0, "clean", True)
    check(others(job)[1] == {("cuptiSubscribe_v2", REFUSED)}, f"{what}: it is refused, as beside any other tool", job.done)
    job = record(options, "subscriber", "first", libcupti(options), SECONDS, SIM_CUPTI_VERSION=SUBSCRIBERS)
    (launched, saw, *odd), refused = others(job)
    check(launched == saw > 0 and odd == [0, 0] and not refused, f"{what}: one that was first has all", job.done)
    check(len(job.said) == 1 and "is in use by CUPTI for another" in job.said[0], f"{what}: one line says that it holds CUPTI",
          job.done)


def check_alone(options):
    for version in (SUBSCRIBERS, OWN_CLOCKS):
        job = share(options, "launches", "plain", LAUNCHES, version=version)
        check_end(f"shared, CUPTI {version}", job, 0, "clean", True)
        check(job.only is not None and not notices(job) and job.only.kept["kernel"] == LAUNCHES,
              f"shared, CUPTI {version}: all kernels", job.done)
    job = share(options, "launches", "polling", 2000)
    kept = job.only.kept if job.only is not None else {}
    check(kept.get("sync") == 1, "shared: a query that finds its work unfinished is no wait", kept)
    job = share(options, "launches", "plain", LAUNCHES, SIM_CUPTI_DROP_EVERY=7)
    dropped = sum(line.get("fate") == "dropped" for line in job.rank.lines)
    check(job.only is not None and job.only.dropped == dropped > 0, f"shared: CUPTI's {dropped} drops are counted",
          job.done)
    job = share(options, "launches", "slowly", 600, TRACETOOL_FLUSH_MS=200)
    check_end("shared, seldom launches", job, 0, "clean", True)
    check(job.only is not None and not notices(job), "shared, seldom launches: nothing to note", job.done)


def check_beside(options):
    cases = [("beside", SUBSCRIBERS), ("beside", OWN_CLOCKS), ("first", SUBSCRIBERS), ("first", OWN_CLOCKS)]
    jobs = side_by_side(lambda case: beside(options, case[0], version=case[1]), cases)
    for (how, version), job in zip(cases, jobs):
        what = f"another subscriber, {how}, CUPTI {version}"
        check_end(what, job, 0, "clean", True)
        (launched, saw, *odd), refused = others(job)
        check(launched == saw > 0 and odd == [0, 0] and not refused,
              f"{what}: it has its {launched} kernels, with its own times and threads", job.done)
        check(job.only is not None and not notices(job), f"{what}: nothing is missing here", job.done)


def check_graphs(options):
    """Another one has chosen launches of graphs as a whole, for all: what we miss is said."""
    what, job = "another subscriber wants whole graphs", beside(options, "graphs")
    check_end(what, job, 0, "clean", True, lines=1)
    check("CUDA graphs as a whole" in job.done.stderr, f"{what}: the line says so", job.done)
    job = beside(options, "graphs", TRACETOOL_EVENTS="default,graph_launch")
    check_end(f"{what}, and so do we", job, 0, "clean", True)
    job = beside(options, "first", TRACETOOL_EVENTS="default,graph_launch", TRACETOOL_VERBOSE=1)
    check("CUPTI does not provide some kinds" in job.done.stderr and "does not provide graph_launch" in job.done.stderr,
          "another subscriber wants nodes of graphs: that whole graphs are not recorded is said", job.done)


def check_end_of_process(options):
    """It records when the process ends, and work runs: what it has is not taken from it, and we keep what had ended."""
    what, job = "another subscriber at the end", beside(options, "unfinished")
    (launched, saw, odd, without_end), _ = others(job)
    check(launched == saw > 0 and odd == without_end == 0, f"{what}: no unfinished record was handed to it", job.done)
    check(not any(each["forced"] for each in job.rank.handed) and not unfinished(job.rank),
          f"{what}: nothing was taken by force", job.rank.handed[-3:])
    if not check(job.only is not None and job.only.state == "clean" and not job.said, f"{what}: a recording", job.done):
        return
    wrong = list(faults(job.rank, job.only, False))
    ended = [line for line in job.rank.of("kernel") if line["end"]]
    check(not wrong and job.only.kept["kernel"] == len(ended) > 0, f"{what}: all {len(ended)} kernels that ended are there",
          (wrong, job.only.kept))


def without_functions(options, folder):
    """A libcupti as before 13.2: a copy in which nobody finds the functions of version 2, but for cuptiSubscribe_v2."""
    with open(libcupti(options), "rb") as file:
        library = file.read()
    names = set(re.findall(rb"\0(cupti(?:Activity\w+|GetTimestamp)_v2)(?=\0)", library))
    check(len(names) >= 11, "the stand-in has the functions", names)
    for name in names:
        library = library.replace(b"\0" + name + b"\0", b"\0" + name[:-2] + b"no\0")
    path = os.path.join(folder, "libcupti.so.13")
    with open(path, "wb") as file:
        file.write(library)
    return path


def check_unavailable(options):
    """No such subscribers here: as without the setting, and one line."""
    cases = (("an old CUPTI, without the functions", {"version": BEFORE}, "cuptiGetTimestamp_v2"),
             ("an old CUPTI", {"version": BEFORE}, "cuptiGetTimestamp_v2"),
             ("an old driver", {"SIM_CUPTI_OLD_DRIVER": 1}, "cuptiSubscribe"),
             *((f"{name} fails", {"TRACETOOL_CUPTI": options.odd_cupti, "ODD_FAIL": f"{name}={code}"}, f"{code})")
               for name, code in (("cuptiSubscribe_v2", 999), ("cuptiGetTimestamp_v2", 15),
                                  ("cuptiActivitySetAttribute_v2", 1), ("cuptiActivityRegisterCallbacks_v2", 14))))
    for name, settings, reason in cases:
        with Folder() as folder:
            if "without" in name:
                settings["TRACETOOL_CUPTI"] = without_functions(options, folder)
            job = share(options, "launches", "plain", LAUNCHES, **settings)
        check_end(name, job, 0, "clean", True, lines=1)
        check("TRACETOOL_COEXIST=share" in job.done.stderr and reason in job.done.stderr, f"{name}: the line says why",
              job.done)
        check(job.only is not None and job.only.header["cupti_state"] == ON and job.only.kept["kernel"] == LAUNCHES,
              f"{name}: all kernels", job.done)


def check_exclusive(options):
    """A subscriber that allows no other, and one of version 1: CUPTI is theirs, and ours when they leave."""
    job, what = beside(options, "alone", 9), "a subscriber that allows no other"
    check(job.done.returncode == 0 and len(job.said) == 3 and "is in use by CUPTI for another" in job.said[0] and
          "share" in job.said[1] and "has been released" in job.said[2], f"{what}: it is named, and that it left", job.done)
    check(job.only is not None and job.only.header["cupti_state"] == ON and job.only.kept["kernel"] > 0 and
          not list(faults(job.rank, job.only, False)), f"{what}: GPU work is recorded when it has left", job.done)
    job, what = beside(options, "old_first"), "a subscriber of version 1, before us"
    (launched, saw, *odd), refused = others(job)
    check(launched == saw > 0 and odd == [0, 0] and not refused, f"{what}: it has all its {launched} kernels", job.done)
    check(len(job.said) == 1 and "is in use by" in job.said[0], f"{what}: one line says that it holds CUPTI", job.done)
    job, what = beside(options, "old_second"), "a subscriber of version 1, after us"
    _, refused = others(job)
    check(refused == {("cuptiSubscribe", REFUSED), ("cuptiActivityRegisterCallbacks", NOT_COMPATIBLE),
                      ("cuptiActivityEnable", NOT_COMPATIBLE)}, f"{what}: CUPTI refuses it", refused)
    check_end(what, job, 0, "clean", True)


def check_pytorch(options):
    """Where PyTorch is in the process, one line says what its profiler will miss."""
    with Folder() as folder:
        library = os.path.join(folder, "libtorch_cuda.so")
        shutil.copy(os.path.join(options.programs, "libother_tool.so"), library)
        job = share(options, "launches", "plain", LAUNCHES, LD_PRELOAD=library)
        check_end("PyTorch in the process", job, 0, "clean", True, lines=1)
        check("torch.profiler" in job.done.stderr, "PyTorch in the process: the line names torch.profiler", job.done)


def check_finalize(options):
    """Another one ends CUPTI as a whole: that is noticed, said, and ours is subscribed again."""
    what, job = "another ends CUPTI", beside(options, "finalize", 36)
    if not check(job.done.returncode == 0 and len(job.said) == 1 and job.only is not None, f"{what}: one line", job.done):
        return
    check(notices(job) == ["gap", "source_on"], f"{what}: the gap is recorded, and its end", notices(job))
    wrong = list(faults(job.rank, job.only, False))
    last = [event for event in job.only.events if event.kind.startswith("kernel") and event.shape.grid[0] == 2]
    check(not wrong and len(last) > 200, f"{what}: of the last third {len(last)} kernels are recorded", wrong)


def check_hang(options):
    """Nothing is taken by force from a GPU that stands still; it is told, and what was handed over is there."""
    load = Load("a GPU that stands still", 0, 400, 1, ("--streams", 2, "--hang", 2000), 20,
                environment={"TRACETOOL_COEXIST": "share", "SIM_CUPTI_VERSION": SUBSCRIBERS})
    with Folder() as folder:
        _, rank, recording = kill_after(options, folder, load)
    what = load.name
    ended, without_end = recorded_kernels(recording)
    check(not without_end and not any(each["forced"] for each in rank.handed), f"{what}: nothing was taken by force",
          without_end)
    told = [event for event in recording.events if event.kind == "notice" and event.code == "stalled"]
    check(len(told) == 1 and told[0].value == 0, f"{what}: one notice says so", told)
    kernels = rank.of("kernel")
    hung = min((line["start"] for line in kernels if not line["end"]), default=None)
    if hung is None:  # it has no line before it ends
        hung = max(line["end"] for line in kernels if ended[key(line)]) + 1
    missing = [line for line in kernels if line["end"] and not ended[key(line)]]
    early = [line for line in missing if line["end"] < hung - 2 * FLUSH_MS * 1_000_000]
    check(sum(ended.values()) > 1000 and not early, f"{what}: of {len(kernels)} kernels {sum(ended.values())} are there, "
          "all that had ended before", lambda: first(early))


def main():
    options = arguments("agent", "simulated", "programs", "odd_cupti")
    parts = (check_default, check_alone, check_beside, check_graphs, check_end_of_process, check_unavailable, check_exclusive,
             check_pytorch, check_finalize, check_hang)
    side_by_side(lambda part: part(options), parts)
    finish()


main()
