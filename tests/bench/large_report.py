#!/usr/bin/env python3
"""Time and memory of `tracetool analyze` for synthesized reports of Nsight Systems, with 100,000 and 1 M kernels. Each kernel has a launch call and an
NVTX range, as in a report of a PyTorch program.

  large_report.py --tracetool PATH --work FOLDER [--small]

--small: 50,000 and 100,000 kernels. Exit status 1: a sum is wrong, or the command used more memory than the budget. A missed budget of time is printed,
and does not change the exit status: it holds on two idle cores. The time that SQLite itself takes for the sums is printed, too.
"""
import argparse
import concurrent.futures
import json
import os
import random
import sqlite3
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
import nsys_reports  # noqa: E402
from large_run import MIB, measure, say  # noqa: E402

VERSION, GPUS = "3.28.1", 2
STEP = 400  # kernels in a step of a GPU
INTERVAL = 16_000  # ns from launch to launch
MOST_S = 3
MOST_BYTES = 384 * MIB
# With little memory for sorting, the peak is that of the other parts. Exact percentiles take 8 bytes a kernel.
SORTED_MIB, MOST_GROWTH = "32", 32 * MIB
NAMES = [f"void kernel_{i}<float, (int){32 << i % 4}>(const float *, float *)" for i in range(180)]
KERNEL, RUNTIME, RANGES = "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"


def write_rows(db, table, keys, rows):
    """A table with the published columns; the rows have values for some of them."""
    kinds = ", ".join(f"{name} {kind}" for name, kind, _ in nsys_reports.columns(table, VERSION))
    db.execute(f"CREATE TABLE {table} ({kinds})")
    db.executemany(f"INSERT INTO {table} ({', '.join(keys.split())}) VALUES ({', '.join('?' * len(keys.split()))})", rows)


def thread(at):
    """Returns the global id of the thread that launches a kernel. Each process has one thread and one GPU."""
    return nsys_reports.global_tid(100 + at % GPUS, 100 + at % GPUS)


def kernel_rows(kernels, known):
    dice, free = random.Random(kernels), [0] * GPUS
    for at in range(kernels):
        gpu, name, ns = at % GPUS, dice.randrange(len(NAMES)), dice.randrange(2_000, 60_000)
        start = max(at * INTERVAL + 5_000, free[gpu] + 900)
        free[gpu] = start + ns
        known[NAMES[name]][0] += 1
        known[NAMES[name]][1] += ns
        yield (start, start + ns, gpu, gpu + 1, 7, at // GPUS, nsys_reports.global_tid(100 + gpu), 10 + name, 10 + name, 128, 1, 1, 256, 1, 1, 32)


def call_rows(kernels):
    return ((at * INTERVAL, at * INTERVAL + 4_000, 0, thread(at), at // GPUS, 1, 0) for at in range(kernels))


def range_rows(kernels):
    for at in range(kernels):
        begin = at * INTERVAL
        if at // GPUS % STEP == 0:
            yield (begin - 500, begin + STEP * GPUS * INTERVAL - 1000, 59, thread(at), 3 + at // GPUS // STEP % 2, 0, at * 2)
        yield (begin - 300, begin + 4_300, 59, thread(at), 2, 0, at * 2 + 1)


def write_report(path, kernels):
    """Returns {name: [kernels, ns]}. It keeps no rows: the peak memory of a process includes that of the program that started it."""
    known = {name: [0, 0] for name in NAMES}
    if os.path.exists(path):
        os.remove(path)
    with sqlite3.connect(path) as db:
        names = [(1, "cudaLaunchKernel_v7000"), (2, "aten::mm"), (3, "train"), (4, "validate"), *((10 + i, name) for i, name in enumerate(NAMES))]
        write_rows(db, "StringIds", "id value", names)
        write_rows(db, "META_DATA_EXPORT", "name value", [("EXPORT_SCHEMA_VERSION", VERSION)])
        write_rows(db, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs", [(nsys_reports.SESSION_START,)])
        write_rows(db, KERNEL, "start end deviceId contextId streamId correlationId globalPid demangledName shortName gridX gridY gridZ blockX blockY"
                   " blockZ registersPerThread", kernel_rows(kernels, known))
        write_rows(db, RUNTIME, "start end eventClass globalTid correlationId nameId returnValue", call_rows(kernels))
        write_rows(db, RANGES, "start end eventType globalTid textId domainId eventId", range_rows(kernels))
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
    for kernels in [50_000, 100_000] if options.small else [100_000, 1_000_000]:
        # Another process writes the report, because the peak memory of a child includes that of the process that started it.
        with concurrent.futures.ProcessPoolExecutor(1) as writer:
            known = writer.submit(write_report, path, kernels).result()
        cost = min((measure(options.tracetool, "analyze", path, "--format", "json") for _ in range(3)), key=lambda each: each.wall_s)
        found = {row["name"]: [row["count"], row["sum_ns"]] for row in json.loads(cost.stdout)["kernels"]}
        right, small = found == known, cost.peak_bytes <= MOST_BYTES
        failed |= not right or not small
        say(f"analyze, {kernels} kernels, {os.path.getsize(path) / 1e6:.0f} MB", f"<= {MOST_S} s", cost.wall_s <= MOST_S,
            f"{cost.wall_s:.2f} s, {cost.cpu_s:.2f} s of CPU, {cost.cpu_s / sql_s(path):.1f}x the sums in SQL")
        say("... its peak memory", f"<= {MOST_BYTES // MIB} MiB", small, f"{cost.peak_bytes / MIB:.0f} MiB")
        say("... kernels by name", "as they were made", right, f"{len(found)} names")
        peaks.append(measure(options.tracetool, "analyze", path, "--memory", SORTED_MIB).peak_bytes)
    flat = peaks[1] - peaks[0] <= MOST_GROWTH
    failed |= not flat
    say(f"... its peak memory with --memory {SORTED_MIB}, for both", f"<= {MOST_GROWTH // MIB} MiB more", flat,
        f"{peaks[0] / MIB:.0f} and {peaks[1] / MIB:.0f} MiB")
    os.remove(path)
    sys.exit(failed)


if __name__ == "__main__":
    main()
