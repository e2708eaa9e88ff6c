#!/usr/bin/env python3
"""`tracetool analyze --only idle|gaps|api|launches|syncs` against a slow program (slow_idle.py), to the nanosecond: on Kineto traces,
and on simulated runs against their truth; that what these planted is what is found; the same from merged files and exports.

  test_idle.py --tracetool PATH --traces DIR [--agent PATH --simulated PATH]
"""
import json
import os
from collections import Counter

import slow_steps
import slow_tables
from harness import Folder, check, finish, first, run
from slow_idle import CAUSES, Process, api, collections_of, of_kineto, of_truth
from test_analyze import check_rows, paths, tables
from trace_sets import folders, inputs
from truth import load, train

MOST_GAPS = 20
NAMES, TIMES = ("before", "next"), ("start_ns", "end_ns", "call_start_ns")
AXIS_NS = 1000


def said_of(options, path, table, *words):
    return tables(options, path, "--only", table, *words).get(table, [])


def without(rows, *keys):
    return [{key: value for key, value in row.items() if key not in keys} for row in rows]


def devices(process):
    return sorted({each.device for each in process.work}, key=str)


def check_gaps(what, said, true):
    """Times count from the start of the trace, and those of recordings are put on one axis, which moves them a little against each
    other. Names are compared apart: of what starts or ends together they may be any."""
    true = true[:MOST_GAPS]
    check_rows(f"{what}: gaps", without(said, *NAMES, *TIMES), without(true, *NAMES, *TIMES))
    shifts = {(one.get("rank"), other[key] - one[key]) for one, other in zip(said, true) for key in TIMES if other[key] is not None}
    far = [max(ns for rank, ns in shifts if rank == of) - min(ns for rank, ns in shifts if rank == of) for of, _ in shifts]
    check(max(far, default=0) <= AXIS_NS, f"{what}: when the gaps are", shifts)


def check_names(what, said, true, work):
    starts, ends = Counter(each.start for each in work), Counter(each.end for each in work)
    alone = [(one, other) for one, other in zip(said, true) if starts[other["end_ns"]] == 1 and ends[other["start_ns"]] == 1]
    wrong = [(one, other) for one, other in alone if any(one[name] != other[name] for name in NAMES)]
    check(not wrong, f"{what}: names of the work around {len(alone)} gaps", lambda: first(wrong))


def check_process(options, what, path, process):
    """Of one process, what whole tables say."""
    true = [{"device": device, **process.idle(device)} for device in devices(process)]
    said = said_of(options, path, "idle")
    check_rows(f"{what}: idle", said, true)
    temporal = said_of(options, path, "temporal")
    check([row["idle_ns"] for row in said] == [row["idle_ns"] for row in temporal] and
          all(sum(row[f"{cause}_ns"] for cause in CAUSES) == row["idle_ns"] for row in said), f"{what}: causes sum to temporal's idle", said)
    longest, gaps = process.longest(), said_of(options, path, "gaps")
    check_gaps(what, gaps, longest)
    check_rows(f"{what}: api", said_of(options, path, "api"), process.api())
    check_rows(f"{what}: syncs", said_of(options, path, "syncs"), process.syncs())
    check_rows(f"{what}: launches", said_of(options, path, "launches"), [process.launched()])
    return gaps, longest


def check_file(options, path):
    events = slow_tables.read_json(path)
    work, calls = of_kineto(events) if events is not None else ([], [])
    if not work:
        return 0
    name, process = os.path.basename(path), Process(work, calls, collections_of(events))
    gaps, longest = check_process(options, name, path, process)
    check_names(name, gaps, longest, work)
    steps = slow_steps.windows_of(events)
    if steps:
        true = [{"device": device, "step": number, **process.idle(device, (begin, end))} for device in devices(process) for begin, end, number in steps]
        said = said_of(options, path, "idle", "--by", "step")
        check_rows(f"{name}: idle by step", said, true)
        temporal = said_of(options, path, "temporal", "--by", "step")
        check([row["idle_ns"] for row in said] == [row["idle_ns"] for row in temporal], f"{name}: by step temporal's idle", said)
        begin, end, number = next(step for step in reversed(steps) if step[0] < step[1])
        check_rows(f"{name}: idle of one step", said_of(options, path, "idle", "--steps", number), [
            {"device": device, **process.idle(device, (begin, end))} for device in devices(process)])
    return 1


def check_job(options, name, files):
    """Ranks read together say what each says alone, from the files, from a merged file, and from our export."""
    with Folder() as folder:
        merged, exported = f"{folder}/run.ttrace", f"{folder}/kineto"
        run([options.tracetool, "merge", *files, "-o", merged])
        run([options.tracetool, "export", "--kineto", *files, "-o", exported])
        for table in ("idle", "syncs", "launches"):
            alone = sorted((row for path in files for row in said_of(options, path, table)), key=lambda row: row["rank"])
            for what, read in (("merged", merged), ("exported and read back", exported)):
                check_rows(f"{name}, {what}: {table}", said_of(options, read, table), alone)
        words = ("--steps", "11", "--ranks", "1")  # of a file with an index parts are read
        if name == "modded-nanogpt-8xh100":
            check_rows(f"{name}: idle of a step, merged", said_of(options, merged, "idle", *words), said_of(options, files[1], "idle", *words))


# Words, and the rank whose synchronizations are more by one a layer and step.
LAYERS, STEPS, RANKS = 8, 5, 3
RUNS = (((), None), (("--item-sync", 1), 1), (("--straggler", 1), None), (("--pageable", 2), None), (("--slow-gpu", 1), None),
        (("--slow-link",), None), (("--graphs",), None), (("--tiny-kernels",), None))


def check_simulated(options):
    for words, reads in RUNS:
        with Folder() as folder:
            what = f"simulated {' '.join(map(str, words))}"
            done = train(options, folder, "--ranks", RANKS, "--steps", STEPS, "--layers", LAYERS, *words)
            check(done.returncode == 0, f"{what}: it was recorded", done.stderr)
            merged = f"{folder}/run.ttrace"
            run([options.tracetool, "merge", f"{folder}/traces", "-o", merged])
            job = load(os.path.join(folder, "truth"))
            for path, form in ((f"{folder}/traces", "recordings"), (merged, "merged")):
                check_true(options, f"{what}, {form}", path, job)
            for rank in job:
                check_pauses(f"{what}, rank {rank.rank}", rank)
            said = {row["rank"]: row["count"] for row in said_of(options, merged, "syncs") if row["name"].startswith("cudaStreamSynchronize")}
            true = {rank: STEPS * (LAYERS + 1 if rank == reads else 1) + ("--graphs" in words) for rank in range(RANKS)}
            check(said == true, f"{what}: {sum(true.values())} synchronizations of streams", said)


def check_true(options, what, path, job):
    """Names of kernels are mangled in the truth, and are not compared."""
    of_rank = {rank.rank: Process(*of_truth(rank)) for rank in job}
    with_rank = lambda table: [{"rank": rank, **row} for rank, process in of_rank.items() for row in table(process)]
    check_rows(f"{what}: idle", said_of(options, path, "idle"), with_rank(lambda p: [{"device": each, **p.idle(each)} for each in devices(p)]))
    longest = sorted(with_rank(Process.longest), key=lambda row: (-row["duration_ns"], row["rank"], row["start_ns"]))
    check_gaps(what, said_of(options, path, "gaps"), longest)
    check_rows(f"{what}: api", said_of(options, path, "api", "--by", "rank"), with_rank(Process.api))
    check_rows(f"{what}: api of all ranks", said_of(options, path, "api"), api([(c.name, c.end - c.start) for p in of_rank.values() for c in p.calls]))
    check_rows(f"{what}: syncs", said_of(options, path, "syncs"), with_rank(Process.syncs))
    check_rows(f"{what}: launches", said_of(options, path, "launches"), with_rank(lambda p: [p.launched()]))


def check_pauses(what, rank):
    """While the host slept for data, or as a straggler, its GPU idled for nothing else."""
    process = Process(*of_truth(rank, clock=""))
    idle, late = 0, 0
    for pause in rank.of("host_pause"):
        sums = Counter()
        for gap in process.inner():
            for cause, start, end in gap.parts:
                sums[cause] += max(0, min(end, pause["end"]) - max(start, pause["start"]))
        idle += sum(sums.values())
        late += sums["host_late"] + sums["after_sync"]
    check(idle == late > 0, f"{what}: {idle} ns of idle time while its host slept are the host's", late)


def check_planted(options):
    """What is planted is what its GPU waits for most; a busy machine may plant more, so some tries are made."""
    for words in (("--straggler", 1, "--straggler-us", 20_000), ("--item-sync", 1, "--layers", 40, "--step-us", 40_000), ("--tiny-kernels", "--layers", 60)):
        for _ in range(5):
            with Folder() as folder:
                train(options, folder, "--ranks", 2, "--steps", 6, *words)
                with open(f"{folder}/truth", encoding="utf-8") as file:
                    planted = json.load(file)["planted_idle"]
                said = {row["rank"]: row for row in said_of(options, f"{folder}/traces", "idle")}
            found = [sum(said[each["rank"]][f"{cause}_ns"] for cause in each["causes"]) > said[each["rank"]]["idle_ns"] / 2 for each in planted]
            if planted and all(found):
                break
        check(planted and all(found), f"{' '.join(map(str, words))}: more than half of the idle time is for {planted}", said)


def main():
    options = paths()
    read = 0
    with folders(options.traces) as some:
        for folder in some:
            for name, files in inputs(folder):
                read += sum([check_file(options, path) for path in files])
                if len(files) > 1:
                    check_job(options, name, files)
    check(read >= 8, f"{read} files were compared", read)
    if options.agent and options.simulated:
        check_simulated(options)
        check_planted(options)
    finish()


if __name__ == "__main__":
    main()
