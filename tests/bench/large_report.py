#!/usr/bin/env python3
"""Time and memory of `tracetool analyze` for synthesized reports of Nsight Systems, with 100,000 and 1 M kernels. Each kernel has a launch call and an
NVTX range, as in a report of a PyTorch program.

  large_report.py --tracetool PATH --work FOLDER [--small]

--small: a tenth of the kernels. Exit status 1: a sum is wrong, or the command used more memory than the budget. A missed budget of time is printed,
and does not change the exit status: it holds on two idle cores. The time that SQLite itself takes for the sums is printed, too.
"""
import argparse
import json
import os
import random
import sqlite3
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
import nsys_reports  # noqa: E402
from large_run import MIB, measure, say  # noqa: E402

VERSION, GPUS, STEP = "3.28.1", 2, 400  # kernels in a step
MOST_S = 3
MOST_BYTES = 384 * MIB
NAMES = [f"void kernel_{i}<float, (int){32 << i % 4}>(const float *, float *)" for i in range(180)]
KERNEL, RUNTIME, RANGES = "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"


def write_rows(db, table, rows):
    """A table with the published columns; each row has values for the columns named in the first."""
    columns = nsys_reports.columns(table, VERSION)
    keys = list(rows.keys())
    kinds = ", ".join(f"{name} {kind}" for name, kind, _ in columns)
    db.execute(f"CREATE TABLE {table} ({kinds})")
    db.executemany(f"INSERT INTO {table} ({', '.join(keys)}) VALUES ({', '.join('?' * len(keys))})", zip(*rows.values()))


def write_report(path, kernels):
    """Returns {name: [kernels, ns]}."""
    dice, known = random.Random(kernels), {name: [0, 0] for name in NAMES}
    work = {key: [] for key in ("start", "end", "deviceId", "streamId", "correlationId", "globalPid", "demangledName", "shortName", "gridX", "gridY", "gridZ",
                                "blockX", "blockY", "blockZ", "registersPerThread", "contextId")}
    calls = {key: [] for key in ("start", "end", "eventClass", "globalTid", "correlationId", "nameId", "returnValue")}
    ranges = {key: [] for key in ("start", "end", "eventType", "globalTid", "textId", "domainId", "eventId")}
    free = [0] * GPUS

    def add(rows, *values):
        for column, value in zip(rows.values(), values):
            column.append(value)

    for at in range(kernels):
        gpu, name, ns, begin = at % GPUS, dice.randrange(len(NAMES)), dice.randrange(2_000, 60_000), at * 16_000
        start = max(begin + 5_000, free[gpu] + 900)
        free[gpu] = start + ns
        known[NAMES[name]][0] += 1
        known[NAMES[name]][1] += ns
        tid = nsys_reports.global_tid(100 + gpu, 100 + gpu)
        add(work, start, start + ns, gpu, 7, at // GPUS, nsys_reports.global_tid(100 + gpu), 10 + name, 10 + name, 128, 1, 1, 256, 1, 1, 32, gpu + 1)
        add(calls, begin, begin + 4_000, 0, tid, at // GPUS, 1, 0)
        if at // GPUS % STEP == 0:
            add(ranges, begin - 500, begin + STEP * GPUS * 16_000 - 1000, 59, tid, 3 + at // GPUS // STEP % 2, 0, at * 2)
        add(ranges, begin - 300, begin + 4_300, 59, tid, 2, 0, at * 2 + 1)
    if os.path.exists(path):
        os.remove(path)
    with sqlite3.connect(path) as db:
        names = [(1, "cudaLaunchKernel_v7000"), (2, "aten::mm"), (3, "train"), (4, "validate"), *((10 + i, name) for i, name in enumerate(NAMES))]
        write_rows(db, "StringIds", {"id": [number for number, _ in names], "value": [name for _, name in names]})
        write_rows(db, "META_DATA_EXPORT", {"name": ["EXPORT_SCHEMA_VERSION"], "value": [VERSION]})
        write_rows(db, "TARGET_INFO_SESSION_START_TIME", {"utcEpochNs": [nsys_reports.SESSION_START]})
        for table, rows in ((KERNEL, work), (RUNTIME, calls), (RANGES, ranges)):
            write_rows(db, table, rows)
    db.close()
    return known


def sql_s(path):
    """CPU time of the same sums in SQLite: kernels and calls by name, without joining them."""
    begin = time.process_time()
    with sqlite3.connect(path) as db:
        for table, name in ((KERNEL, "demangledName"), (RUNTIME, "nameId")):
            db.execute(f"SELECT {name}, count(*), sum(end - start), min(end - start), max(end - start) FROM {table} GROUP BY 1").fetchall()
    db.close()
    return time.process_time() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tracetool", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    path, failed, peaks = os.path.join(options.work, "large.sqlite"), False, []
    counts = [10_000, 100_000] if options.small else [100_000, 1_000_000]
    for kernels in counts:
        known = write_report(path, kernels)
        for what, words in (("analyze", ()), ("... --only kernels", ("--only", "kernels"))):
            cost = min((measure(options.tracetool, "analyze", path, *words, "--format", "json") for _ in range(3)), key=lambda each: each.wall_s)
            found = {row["name"]: [row["count"], row["sum_ns"]] for row in json.loads(cost.stdout)["kernels"]}
            right, small = found == {name: sums for name, sums in known.items() if sums[0]}, cost.peak_bytes <= MOST_BYTES
            failed |= not right or not small
            say(f"{what}, {kernels} kernels, {os.path.getsize(path) / 1e6:.0f} MB", f"<= {MOST_S} s", cost.wall_s <= MOST_S,
                f"{cost.wall_s:.2f} s, {cost.cpu_s:.2f} s of CPU, {cost.cpu_s / sql_s(path):.1f}x the sums in SQL")
            say("... its peak memory", f"<= {MOST_BYTES // MIB} MiB", small, f"{cost.peak_bytes / MIB:.0f} MiB")
            say("... kernels by name", "as they were made", right, f"{len(found)} names")
            peaks.append(cost.peak_bytes)
    say("... bytes that a kernel, its call and range add", "none; printed", True, f"{(peaks[-2] - peaks[0]) / (counts[1] - counts[0]):.0f}")
    os.remove(path)
    sys.exit(failed)


if __name__ == "__main__":
    main()
