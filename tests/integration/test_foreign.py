#!/usr/bin/env python3
"""Others in the process, and a CUPTI that is not as the headers say: other profilers, other tools in the injection
variables, a second copy of the agent, older and newer versions, functions that fail, kinds that are refused one by one,
records that nobody knows and times that cannot be. The program is left alone, and what can be had is recorded."""
import math
import os
import re
import shutil

from compare import kind_of, match, recorded_cupti, true_cupti
from harness import Folder, arguments, check, finish, first
from recorded import check_end, faults, record, side_by_side, standins
from truth import CUPTI_KINDS

ON, FAILED, TAKEN = 1, 2, 3  # SourceState
NO_DRIVER = 999
NOT_READY = 600
QUERIES = 2000
GET_VERSION = 2  # CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion
ONE_BY_ONE = 23  # cuptiGetVersion of 12.5, the first that records single calls
LAUNCHES = 200
KINDS = {4: "driver", 5: "runtime", 10: "kernel"}  # CUpti_ActivityKind, of what the program does

# What cuptiGetVersion says: CUDA 11.2, 11.8, 12.3, 12.8, 13.0, and one to come.
VERSIONS = (14, 18, 21, 26, 130000, 140000)

# What odd_cupti.cpp does to a kernel, by its grid.z.
ALMOST_WIDE, WIDE, ENDS_BEFORE_START, NO_END, NO_TIMES, UNKNOWN_KIND, EXTERNAL_CORRELATION = range(2, 9)
NS_WIDE = 2**32
MOST_OFF_NS = 1_000_000  # of a time that went through two clocks, on a machine that is busy
MOST_MISSED = 20  # launches, 5 ms apart, of torch.profiler's begin: they lie in a buffer of ours until we flush
RESOURCES, STATES = 3, 6  # CUpti_CallbackDomain


def cupti(options):
    found = [name for name in os.listdir(standins(options)) if re.fullmatch(r"libcupti\.so\.\d+", name)]
    return os.path.join(standins(options), found[0])


def check_versions(options):
    jobs = side_by_side(lambda version: record(options, "launches", "plain", LAUNCHES, SIM_CUPTI_VERSION=version),
                        VERSIONS)
    newest = jobs[-1]
    left_out = {(line["kind"], line["name"]) for line in newest.rank.of("runtime", "driver", fate=("off",))}
    check(("driver", "cuLaunchKernel") not in left_out and len(left_out) > 3, "some calls are left out", left_out)
    for version, job in zip(VERSIONS, jobs):
        check_end(f"CUPTI {version}", job, 0, "clean", True, left_out=left_out if version < ONE_BY_ONE else frozenset())
        if job.only is not None:
            check(job.only.header["cupti_version"] == version and job.only.kept["kernel"] == LAUNCHES,
                  f"CUPTI {version}: the file says so, and all kernels are recorded", job.only.kept)
            check(job.only.kept["runtime"] == newest.only.kept["runtime"] and
                  job.only.kept["driver"] == newest.only.kept["driver"],
                  f"CUPTI {version}: the same calls are recorded", job.only.kept)


def check_queries(options):
    """A loop that polls an event waits for nothing: its queries leave no waits, whatever CUPTI is there."""
    jobs = side_by_side(lambda version: record(options, "launches", "polling", QUERIES, SIM_CUPTI_VERSION=version),
                        (18, 23, 26))
    for version, job in zip((18, 23, 26), jobs):
        what = f"CUPTI {version}, {QUERIES} queries"
        check(job.done.returncode == 0 and job.only is not None, f"{what}: recorded", job.done)
        if job.only is None:
            continue
        told = [line for line in job.rank.of("sync", fate=("emitted", "off")) if line["result"] == NOT_READY]
        check(len(told) == QUERIES, f"{what}: all found their work unfinished", len(told))
        most = 1 if version == 26 else 1 + len(job.rank.handed)  # of one whose call is in the next buffer nobody knows
        check(1 <= job.only.kept["sync"] <= most, f"{what}: the one wait is recorded, and nothing else as a wait",
              (job.only.kept, most))
        names = {event.name for event in job.only.events if kind_of(event.kind) == "driver"}
        check("cuEventQuery" not in names and "cuEventSynchronize" in names, f"{what}: nor are the calls", names)


def check_iterator(options):
    """What stands behind a record that CUPTI's iterator cannot read is lost, and that is known."""
    for code in (NO_DRIVER, 21):  # what 12.1 and 12.4 answer at a record of no kind; a true end is 12
        job = record(options, "launches", "plain", LAUNCHES, TRACETOOL_CUPTI=options.odd_cupti, ODD_STOP=code,
                     ODD_STOP_AFTER=20, TRACETOOL_FLUSH_MS=500)
        what = f"the iterator stops with {code}"
        check(job.done.returncode == 0 and job.only is not None, f"{what}: the program ends well", job.done)
        if job.only is None:
            continue
        buffers = len(job.rank.handed)
        check(job.only.kept["kernel"] < LAUNCHES, f"{what}: not all could be read", job.only.kept)
        check(0 < job.only.header["discarded_buffers"] <= buffers, f"{what}: the buffers are counted", job.only.header)
        check(len(job.said) == 1 and f"({code})" in job.said[0], f"{what}: one line says so", job.said)
    job = record(options, "launches", "plain", LAUNCHES, TRACETOOL_CUPTI=options.odd_cupti)
    check(job.only is not None and job.only.header["discarded_buffers"] == 0, "a true end is no loss", job.done)


def check_unseen_canary(options):
    """CUPTI never tells of the call by which a loss of the buffers is noticed: they are not given up."""
    job = record(options, "launches", "slowly", 6000, TRACETOOL_CUPTI=options.odd_cupti, ODD_DEAF=GET_VERSION)
    check_end("a canary that was never seen", job, 0, "clean", True)


def check_contexts(options):
    job, what = record(options, "launches", "contexts"), "two devices, two contexts on one"
    check_end(what, job, 0, "clean", True)
    if job.only is None:
        return
    seen = {(event.device, event.context) for event in job.only.events if kind_of(event.kind) == "kernel"}
    check(len(seen) == 3 and {device for device, _ in seen} == {0, 1}, f"{what}: each kernel has its own", seen)


def changed(line):
    """A line of truth as odd_cupti hands it over; None: its record is of a kind that is not a kernel."""
    oddity = line["grid"][2] if line["kind"] == "kernel" else 1
    start, end = line["cupti_start"], line["cupti_end"]
    if oddity in (UNKNOWN_KIND, EXTERNAL_CORRELATION):
        return None
    times = {ALMOST_WIDE: (start, start + NS_WIDE - 1), WIDE: (start, start + NS_WIDE),
             ENDS_BEFORE_START: (start, start - 1000), NO_END: (start, None), NO_TIMES: (0, None)}
    start, end = times.get(oddity, (start, end))
    return {**line, "cupti_start": start, "cupti_end": end}


def check_odd_records(options):
    job = record(options, "launches", "odd", 50, TRACETOOL_CUPTI=options.odd_cupti, ODD_RECORDS=1)
    check(job.done.returncode == 0 and not job.said, "odd records: the program ends well, silently", job.done)
    if not check(job.only is not None, "odd records: there is one recording", job.refused):
        return
    lines = [line for line in map(changed, job.rank.of(*CUPTI_KINDS)) if line is not None]
    expected = sorted(map(str, map(true_cupti, lines)))
    found = sorted(str(recorded_cupti(event)) for event in job.only.events if kind_of(event.kind) in CUPTI_KINDS)
    check(found == expected, f"odd records: {len(expected)} are recorded as CUPTI hands them over, "
          "2^32 - 1 and 2^32 ns, ends before starts and missing ends too",
          lambda: f"missing {first(set(expected) - set(found))}, extra {first(set(found) - set(expected))}")
    wides = [event for event in job.only.events if event.kind == "kernel_wide"]
    check(not any(event.end is not None and 0 <= event.end - event.start < NS_WIDE for event in wides),
          "odd records: what fits the narrow record is in it", first(wides))
    unknown = job.only.header["unknown_activities"]
    check(unknown == 100, "odd records: 50 of an unknown kind and 50 of another user's correlations are counted",
          unknown)


def check_refused_kinds(options):
    """Each kind that the agent asks for, refused alone: all others are recorded, and none of that one."""
    with Folder() as folder:
        log = os.path.join(folder, "log")
        record(options, "launches", "plain", 10, TRACETOOL_CUPTI=options.odd_cupti, ODD_LOG=log)
        with open(log, encoding="utf-8") as file:
            kinds = sorted({int(line) for line in file})
    check(len(kinds) >= 6, f"the agent asks for the kinds {kinds}", kinds)
    jobs = side_by_side(lambda kind: record(options, "launches", "plain", LAUNCHES, ODD_REFUSE=kind,
                                            TRACETOOL_CUPTI=options.odd_cupti), kinds)
    for kind, job in zip(kinds, jobs):
        what = f"kind {kind} is refused"
        good = job.done.returncode == 0 and len(job.said) <= 1 and job.only is not None
        wrong = list(faults(job.rank, job.only, True)) if good else [str(job.done)]
        kept = {kind_of(event.kind) for event in job.only.events} if good else {}
        numbers = {number for number, name in KINDS.items() if name in kept}
        check(good and not wrong and numbers == KINDS.keys() - {kind}, f"{what}: all the rest is recorded",
              f"{wrong}, {kept}")


def check_callbacks(options):
    """Whatever is recorded, no code of ours runs in a launch: of CUPTI's callbacks none is of an API call."""
    for events in ("light", "default", "all"):
        with Folder() as folder:
            log = os.path.join(folder, "log")
            job = record(options, "launches", "plain", 10, TRACETOOL_CUPTI=options.odd_cupti, ODD_CALLBACKS=log,
                         TRACETOOL_EVENTS=events)
            with open(log, encoding="utf-8") as file:
                domains = {int(line) for line in file}
        check(job.only is not None and RESOURCES in domains and domains <= {RESOURCES, STATES},
              f"{events}: callbacks of resources and states only", domains)


def check_refused_functions(options):
    for plan, state in (("cuptiSubscribe=999", FAILED), ("cuptiSubscribe=35", FAILED), ("cuptiSubscribe=39", TAKEN),
                        ("cuptiGetVersion=999", FAILED),
                        ("cuptiEnableCallback=35", FAILED), ("cuptiActivityRegisterCallbacks=35", FAILED),
                        ("cuptiActivityEnable=35 cuptiActivityEnableDriverApi=35", FAILED),
                        ("cuptiActivitySetAttribute=27", ON), ("cuptiActivityEnableDriverApi=27", ON),
                        ("cuptiActivityEnableRuntimeApi=27", ON)):
        job = record(options, "early", 0, 5, TRACETOOL_CUPTI=options.odd_cupti, ODD_FAIL=plan)
        said = 0 if state == ON else 1
        check(job.done.returncode == 0 and len(job.said) == said, f"{plan}: {said} lines say so", job.done)
        if check(job.only is not None, f"{plan}: there is one recording", job.refused):
            kept, header = job.only.kept, job.only.header
            check(kept["nvtx_mark"] == 5 and (kept["kernel"] == 100) == (state == ON) and
                  header["cupti_state"] == state, f"{plan}: what can be had is recorded, and the state is {state}",
                  f"{kept} {header['cupti_state']}")


def check_no_driver(options):
    job, what = record(options, "early", 0, 5, SIM_CUPTI_NO_DRIVER=1), "CUPTI error 999"
    check(job.done.returncode == 0 and len(job.said) == 1 and "999" in job.said[0], f"{what}: one line", job.done)
    header = job.only.header if job.only is not None else {}
    check(header.get("cupti_state") == FAILED and header.get("cupti_error") == NO_DRIVER, f"{what}: the file says so",
          header)


def marks(job):
    return [event.name for event in job.only.events if event.kind == "nvtx_mark"] if job.only is not None else None


def names(when, count):
    return [f"{when} {number}" for number in range(count)]


def check_early_nvtx(options):
    """NVTX before CUDA: with LD_PRELOAD what came before is recorded; without, it went to nobody, the rest is well."""
    preloaded = {"LD_PRELOAD": options.agent, "CUDA_INJECTION64_PATH": None}
    job = record(options, "early", 20, 5, **preloaded)
    check(marks(job) == names("before", 20) + names("after", 5) and not job.said,
          "NVTX before CUDA, preloaded: all of it is recorded", f"{marks(job)} {job.done}")
    job = record(options, "early", 5000, 5, **preloaded)
    said = (job.only.kept + job.only.lost)["nvtx_mark"] if job.only is not None else None
    check(said == 5005 and marks(job)[-6:] == ["before 4999"] + names("after", 5),
          "much NVTX before CUDA: the newest is kept, the rest is counted as lost", f"{said} {marks(job)}")
    job = record(options, "early", 20, 5)
    check(job.done.returncode == 0 and not job.said and job.only is not None and job.only.kept["kernel"] == 100,
          "NVTX before CUDA, not preloaded: CUDA is recorded", job.done)
    job = record(options, "early", 20, "none", **preloaded)
    check(job.done.returncode == 0 and not job.found and not job.said, "NVTX without CUDA: nothing is left", job.done)


def with_other_tool(options, **variables):
    """A Job, and what called the other tool."""
    with Folder() as folder:
        log = os.path.join(folder, "log")
        job = record(options, "early", 5, 5, LD_PRELOAD=options.agent, OTHER_TOOL_LOG=log,
                     **{"CUDA_INJECTION64_PATH": None, **variables})
        if not os.path.exists(log):
            return job, []
        with open(log, encoding="utf-8") as file:
            return job, file.read().split()


def check_other_tools(options):
    tool = os.path.join(options.programs, "libother_tool.so")
    job, called = with_other_tool(options, NVTX_INJECTION64_PATH=tool)
    check(called == ["InitializeInjectionNvtx2"] and job.done.returncode == 0, "another tool for NVTX: it is called",
          f"{called} {job.done}")
    check(job.only is not None and job.only.kept["kernel"] == 100 and not job.only.kept["nvtx_mark"],
          "another tool for NVTX: GPU work is recorded", job.done)
    job, called = with_other_tool(options, CUDA_INJECTION64_PATH=tool)
    check(called == ["InitializeInjection"] and job.done.returncode == 0, "another tool for CUDA: it is called",
          f"{called} {job.done}")
    check(marks(job) is not None and marks(job)[-5:] == names("after", 5) and not job.said,
          "another tool for CUDA that leaves CUPTI alone: NVTX is recorded", f"{marks(job)} {job.done}")
    check(job.only is not None and job.only.kept["kernel"] == 100, "and GPU work is", job.done)
    job, _ = with_other_tool(options, CUDA_INJECTION64_PATH=tool, SIM_CUPTI_TAKEN=1)
    check(marks(job) is not None and marks(job)[-5:] == names("after", 5) and len(job.said) == 1 and
          job.only.header["cupti_state"] == TAKEN and job.only.header["cupti_holder"],
          "another tool for CUDA that holds CUPTI: NVTX is recorded, and one line says who holds it",
          f"{marks(job)} {job.done}")


def check_two_copies(options):
    with Folder() as folder:
        copy = os.path.join(folder, "libagent_of_another_version.so")
        shutil.copy(options.agent, copy)
        for what, variables in (("preloaded and named to CUDA", {"LD_PRELOAD": copy}),
                                ("named to NVTX and to CUDA", {"NVTX_INJECTION64_PATH": copy}),
                                ("both preloaded", {"LD_PRELOAD": f"{copy}:{options.agent}"})):
            job = record(options, "early", 0, 5, **variables)
            check(job.done.returncode == 0 and not job.said and job.only is not None and job.only.state == "clean",
                  f"two copies, {what}: there is one recording, closed", f"{job.done} {job.found}")
            check(marks(job) == names("after", 5) and job.only.kept["kernel"] == 100,
                  f"two copies, {what}: all is recorded once", f"{marks(job)} {job.done}")


def check_released(options):
    """CUPTI is another's for half a second; our thread tries again after two."""
    what, job = "CUPTI is taken and let go", record(options, "launches", "slowly", 3000, SIM_CUPTI_TAKEN_MS=500)
    check(job.done.returncode == 0 and len(job.said) == 2, f"{what}: one line says each", job.done)
    if not check(job.only is not None and job.only.state == "clean", f"{what}: there is one recording", job.refused):
        return
    wrong = list(faults(job.rank, job.only, True))
    check(not wrong and 0 < job.only.kept["kernel"] < 3000, f"{what}: all that CUPTI gave is recorded", wrong)
    first_ns = min(event.start for event in job.only.events if event.kind == "kernel")
    on = [event for event in job.only.events if event.kind == "notice" and event.code == "source_on"]
    check(len(on) == 1 and job.only.wall(on[0].time, "mono_ns") < job.only.wall(first_ns) + 100_000_000 and
          job.only.header["cupti_state"] == ON, f"{what}: the file says since when", f"{on} {job.only.header}")
    used = {event.context for event in job.only.events if event.kind == "kernel"}
    check(used <= job.only.contexts.keys(), f"{what}: the context that was there before is known", job.only.contexts)


def check_fatal(options):
    """An error of the GPU that stays: CUPTI ends itself, and with it its records of the last moments."""
    what, job = "a sticky error", record(options, "launches", "failing", 300, SIM_FATAL_AFTER=200)
    check(job.done.returncode == 0 and re.match(r"taken (199|20\d)\b", job.done.stdout) and len(job.said) == 1,
          f"{what}: the program goes on as it would, one line says so", job.done)
    if not check(job.only is not None and job.only.state == "clean", f"{what}: there is one recording", job.refused):
        return
    wrong = list(faults(job.rank, job.only, False))
    check(not wrong and job.only.kept["kernel"] > 50, f"{what}: all that was handed over is recorded", wrong)
    fatal = [event for event in job.only.events if event.kind == "notice" and event.code == "fatal"]
    header = job.only.header
    check(len(fatal) == 1 and fatal[0].text and header["cupti_state"] == FAILED and
          header["cupti_error"] == fatal[0].value != 0, f"{what}: the recording says which", f"{fatal} {header}")


def notices(job):
    return [(event.code, event.end) for event in job.only.events if event.kind == "notice"]


def check_other_clock(what, job):
    """What was handed over went to the profiler for a while: only what is recorded is looked at. Its times are right,
    but for what came before our first two readings of the new clock: of that no time is known."""
    lines = {(line["kind"], line["correlation"]): line for line in job.rank.of(*CUPTI_KINDS)}
    change = [event for event in job.only.events if event.kind == "notice" and event.code == "clock_changed"]
    start = job.only.wall(change[0].time, "mono_ns") if change else math.inf
    events = [event for event in job.only.events if kind_of(event.kind) in CUPTI_KINDS]
    strange, wrong, unknown = [], [], []
    for event in events:
        line = lines.get((kind_of(event.kind), event.correlation))
        if line is None:
            strange.append(event)
        elif not event.start or event.end is None:
            unknown.append((line, event))
        elif abs(job.only.wall(event.start) - line["start"]) > MOST_OFF_NS or \
                abs(event.end - event.start - line["end"] + line["start"]) > MOST_OFF_NS:
            wrong.append((line, event))
    check(events and not strange, f"{what}: what is recorded has happened", lambda: first(strange))
    check(not wrong, f"{what}: of {len(events) - len(unknown)} times all are right", lambda: (len(wrong), first(wrong)))
    later = min((job.only.wall(clock.mono_ns, "mono_ns") for clock in job.only.clocks
                 if change and clock.mono_ns > change[0].end), default=math.inf)
    early = [line for line, _ in unknown if start - 10_000_000 < line["end"] and line["start"] < later]
    check(len(early) == len(unknown), f"{what}: {len(unknown)} times are unknown, all of when the clock had just changed",
          lambda: first([line for line, _ in unknown if line not in early]))


def check_profiler(options):
    """A profiler in the same process, as torch.profiler does it: its own work is not disturbed, and that we miss
    something is known."""
    library = cupti(options)
    runs = (("buffers", {}), ("buffers", {"TRACETOOL_COEXIST": "retake"}), ("clock", {}), ("finalize", {}),
            ("torch", {}), ("torch122", {"TRACETOOL_COEXIST": "retake"}), ("ticks", {}))
    jobs = side_by_side(lambda each: record(options, "profiler", each[0], library, 24, TRACETOOL_BUFFER="16M",
                                            **each[1]), runs)
    for (how, settings), job in zip(runs, jobs):
        what = f"a profiler takes {how}, {settings.get('TRACETOOL_COEXIST', 'yield')}"
        check(job.done.returncode == 0 and job.done.stdout.endswith("done\n") and job.only is not None,
              f"{what}: the program ends well", job.done)
        if job.only is None or job.done.returncode != 0:
            continue
        check_other_clock(what, job)
        codes = [code for code, _ in notices(job)]
        check(codes.count("clock_changed") == 1, f"{what}: that CUPTI's clock changed is recorded, once", notices(job))
        if how in ("clock", "ticks"):
            check(not job.said, f"{what}: nothing is said", job.said)
            continue
        others = [code for code in codes if code != "clock_changed"]
        check(others == (["gap", "source_on"] if settings else ["gap"]) and len(job.said) == 1,
              f"{what}: that the buffers were taken is recorded, and one line says so", f"{notices(job)} {job.said}")
        launched, saw, damaged, after = map(int, re.findall(r"\d+", job.done.stdout))
        check(damaged == 0, f"{what}: its buffers are as they were", job.done.stdout)
        if not settings:
            missed = MOST_MISSED if how == "torch" else 0
            check(launched - missed <= saw <= launched, f"{what}: it saw its {launched} kernels, but {missed} at most",
                  job.done.stdout)
        if how == "torch" and not settings:
            check(after == 0, f"{what}: when it has ended, nothing comes that it would have to keep", job.done.stdout)
        last = [event for event in job.only.events if kind_of(event.kind) == "kernel" and event.shape.grid[0] == 2]
        check(bool(last) == bool(settings), f"{what}: after it has ended, we {'record' if settings else 'stay out'}",
              f"{len(last)} kernels")


def main():
    options = arguments("agent", "simulated", "programs", "odd_cupti")
    check_versions(options)
    check_queries(options)
    check_iterator(options)
    check_unseen_canary(options)
    check_contexts(options)
    check_odd_records(options)
    check_refused_kinds(options)
    check_callbacks(options)
    check_refused_functions(options)
    check_no_driver(options)
    check_released(options)
    check_fatal(options)
    check_early_nvtx(options)
    check_other_tools(options)
    check_two_copies(options)
    check_profiler(options)
    finish()


main()
