#!/usr/bin/env python3
"""`tracetool analyze --only collectives,comm`: each collective is one over its ranks, against a slow program
(slow_collectives.py), to the nanosecond: on Kineto traces, from files and merged, and on simulated runs against their truth.

  test_collectives.py --tracetool PATH --traces DIR [--agent PATH --simulated PATH]
"""
import glob
import json
import os

import slow_collectives
import slow_tables
from harness import Folder, check, finish, first, run
from test_analyze import FLOAT, analyze, paths, same, tables
from trace_sets import folders
from truth import load, train

AXIS_NS = 1000
MATCHED = {"modded-nanogpt-8xh100": 76, "dlrm-8xv100": 8}  # of the real sets, on every rank


def compared(said):
    """A row as the slow program has it."""
    return {**said, "length": said["end_ns"] - said["first_start_ns"]}


def check_rows(what, said, true):
    said = [compared(row) for row in said if row["state"] == "complete"]
    wrong = [(one, other) for one, other in zip(said, true) if not same(one, other)]
    check(len(said) == len(true) > 0 and not wrong, f"{what}: {len(true)} collectives as the slow program has them",
          lambda: f"{len(said)} rows, {first(wrong)}")


def notes(options, *words):
    return analyze(options, *words).stdout


def check_job(options, name, files, is_real):
    events = {rank: slow_tables.read_json(path) for rank, path in enumerate(files)}
    true = slow_collectives.from_the_end({rank: slow_collectives.of_kineto(some) for rank, some in events.items()})
    if is_real:
        check(len(true) == MATCHED[name], f"{name}: {MATCHED[name]} collectives on every rank", len(true))
    with Folder() as folder:
        run([options.tracetool, "merge", *files, "-o", f"{folder}/run.ttrace"])
        for form, read in (("files", files), ("merged", [f"{folder}/run.ttrace"])):
            rows = tables(options, *read, "--only", "collectives")["collectives"]
            check_rows(f"{name}, {form}", rows, true)
            check_comm(f"{name}, {form}", tables(options, *read, "--only", "comm")["comm"], rows)
    some = tables(options, *files, "--only", "collectives", "--ranks", "1")["collectives"]
    check_rows(f"{name}: those of one rank", some, true)


def check_comm(what, said, rows):
    """The sums of `comm` are those of `collectives`."""
    check(sum(row["count"] for row in said) == len(rows) and sum(row["complete"] for row in said) == sum(row["state"] == "complete" for row in rows),
          f"{what}: comm has each collective once", said)
    waits = sum(wait["wait_ns"] for row in rows for wait in row["waits"] if wait["wait_ns"] is not None)
    check(sum(row["wait_ns"] or 0 for row in said) == waits, f"{what}: comm has all that was waited", (said, waits))
    transfers = sum(row["transfer_ns"] or 0 for row in rows)
    check(sum(row["transfer_ns"] or 0 for row in said) == transfers, f"{what}: comm has all transfers", (said, transfers))
    best = max((row["busbw_gb_per_s"] or 0 for row in rows), default=0)
    check(abs(max(row["best_busbw_gb_per_s"] or 0 for row in said) - best) <= FLOAT * best, f"{what}: the best bandwidth", (said, best))


def check_refused(options, name, files):
    said = notes(options, *files, "--only", "collectives")
    rows = tables(options, *files, "--only", "collectives")["collectives"]
    check(not rows and said.count("are not matched") >= 2 and "offset of the clocks" in said, f"{name}: nothing is matched, and it is said why", said)


def check_traces(options):
    read = 0
    with folders(options.traces) as some:
        for folder in some:
            is_real = folder == options.traces
            for name in MATCHED if is_real else ("job-ns",):
                files = sorted(glob.glob(f"{folder}/{name}/*.json*"))
                if len(files) > 1:
                    read += 1
                    check_job(options, name, files, is_real)
            files = sorted(glob.glob(f"{folder}/sampled-2of128/*.json*"))
            if is_real and files:
                check_refused(options, "sampled-2of128", files)
    check(read >= 1, f"{read} jobs were compared", read)


def check_simulated(options):
    for words in ((), ("--hosts", 2), ("--comms", 2), ("--p2p",), ("--graphs",), ("--groups", "--p2p")):
        with Folder() as folder:
            done = train(options, folder, "--ranks", 4, "--steps", 6, *words)
            what = f"simulated {' '.join(map(str, words))}"
            check(done.returncode == 0, f"{what}: it was recorded", done.stderr)
            job = load(os.path.join(folder, "truth"))
            said = tables(options, f"{folder}/traces", "--only", "collectives").get("collectives", [])
            check_against_truth(what, said, job, words)


def check_against_truth(what, said, job, words):
    calls = {}
    for rank in job:
        for key, call in slow_collectives.of_truth(rank).items():
            if key[1] == 1:
                calls.setdefault((key[0], key[3]), {})[rank.rank] = call
    ranks = {rank.rank for rank in job}
    true = [{"communicator": f"0x{communicator:016x}", "ordinal": ordinal, **slow_collectives.row(some)}
            for (communicator, ordinal), some in sorted(calls.items()) if all(call[0] is not None for call in some.values())]
    rows = {(row["communicator"], row["ordinal"]): row for row in said if row["op"] != "send"}
    if "--graphs" not in words:
        check(len(rows) == len(calls), f"{what}: as many collectives as were called", (len(rows), len(calls)))
        check(all(row["state"] == "complete" for row in said), f"{what}: all are complete", [row for row in said if row["state"] != "complete"][:2])
        check(all(row["trouble"] is None and len(row["waits"]) in (2, len(ranks)) for row in said), f"{what}: of all ranks", said[:2])
    else:
        replays = [row for row in said if row["ordinal"] not in {ordinal for _, ordinal in calls}]
        check(len(said) > len(true), f"{what}: replays are there", (len(said), len(true), len(replays)))
        check(all(row["state"] == "complete" for row in said), f"{what}: all are complete", [row for row in said if row["state"] != "complete"][:2])
    if "--groups" not in words and "--graphs" not in words:
        wrong = [(rows.get((row["communicator"], row["ordinal"])), row) for row in true
                 if not alike(rows.get((row["communicator"], row["ordinal"])), row, "--hosts" in words)]
        check(len(true) > 0 and not wrong, f"{what}: {len(true)} collectives as the truth has them", first(wrong))


def alike(said, true, other_clocks):
    """Each process puts CUPTI's times on the axis by clock pairs of its own, which differ by some tens of nanoseconds."""
    if said is None or any(said[key] != true[key] for key in ("op", "bytes", "ranks", "state", "trouble")):
        return False
    waits = list(zip(said["waits"], true["waits"]))
    if any(one["rank"] != other["rank"] or one["exposed_ns"] != other["exposed_ns"] for one, other in waits):
        return False
    return other_clocks or (abs(said["transfer_ns"] - true["transfer_ns"]) <= AXIS_NS and
                            all(abs(one["wait_ns"] - other["wait_ns"]) <= AXIS_NS for one, other in waits))


def main():
    options = paths()
    check_traces(options)
    if options.agent and options.simulated:
        check_simulated(options)
    finish()


if __name__ == "__main__":
    main()
