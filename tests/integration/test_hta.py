#!/usr/bin/env python3
"""HTA's tables of an export --kineto are those of the original files, for every trace that HTA can load, synthesized or
real; and of a simulated training, where there are an agent and its stand-ins, they are what really happened. Skipped
where TRACETOOL_HTA_PYTHON names no Python that has HolisticTraceAnalysis.

  test_hta.py --tracetool PATH --traces FOLDER [--agent PATH --simulated PATH]
"""
import argparse
import gzip
import json
import os
import shutil
import subprocess
from collections import Counter

import hta_cases
import trace_sets
from gpu_time import gaps, shares, true_waits, true_work
from harness import Folder, check, files_below, finish, run, skip
from kineto_files import frozen, load
from simulated_profiles import profiles, same
from slow_idle import LAUNCHING_NS, Process, of_kineto, queue
from slow_tables import read_json

TABLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hta_tables.py")
PYTHON = os.environ.get("TRACETOOL_HTA_PYTHON", "")


HTA_LAUNCHES = {"cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync", "cudaMemsetAsync"}


def tables(folder, *more, **environment):
    result = subprocess.run([PYTHON, TABLES, folder, *more], capture_output=True, text=True, env={**os.environ, **environment})
    return json.loads(result.stdout) if result.returncode == 0 else None


def compare(tool, name, files):
    with Folder() as folder:
        before, after = os.path.join(folder, "before"), os.path.join(folder, "after")
        os.mkdir(before)
        for path in files:
            shutil.copy(path, before)
        result = run([tool, "export", "--kineto", *files, "-o", after])
        check(result.returncode == 0, f"{name}: is exported", result.stderr)
        wanted = tables(before)
        if wanted is None:
            return print(f"      {name}: HTA cannot load the original", flush=True)
        found = tables(after)
        if check(found is not None, f"{name}: HTA loads the export"):
            check_tables(tool, name, files, wanted, found)


def check_tables(tool, name, files, wanted, found):
    """HTA takes what starts together by its place in the file, and an export is in the order of time: where a table is
    another one, the original with its own events in the order of the export must give the export's."""
    by_place = {table for table in wanted if found[table] != wanted[table]}
    reordered = in_our_order(tool, files) if by_place else {}
    for table in wanted:
        what = f"{name}: {table}" + (", with the original's events in our order" if table in by_place else "")
        same_as = reordered if table in by_place else wanted
        check(found[table] == same_as[table], what, lambda: f"{str(same_as[table])[:300]} {str(found[table])[:300]}")


def in_our_order(tool, files):
    """HTA's tables of the originals, of which only the order of events is changed."""
    with Folder() as folder:
        for path in files:
            out = os.path.join(folder, "export")
            run([tool, "export", "--kineto", path, "-o", out])
            os.makedirs(os.path.join(folder, "all"), exist_ok=True)
            write_reordered(path, files_below(out)[0], os.path.join(folder, "all", os.path.basename(path)))
            shutil.rmtree(out)
        return tables(os.path.join(folder, "all"))


def write_reordered(path, by, to):
    members, events = load(path)
    place = {frozen(event): i for i, event in enumerate(load(by)[1])}
    lines = [json.dumps(event, default=float) for event in sorted(events, key=lambda event: place[frozen(event)])]
    head = "".join(f"{json.dumps(key)}: {json.dumps(value, default=float)},\n" for key, value in members.items())
    with (gzip.open if to.endswith(".gz") else open)(to, "wt", encoding="utf-8") as file:
        file.write("{" + head + '"traceEvents": [\n' + ",\n".join(lines) + "\n]}")


def check_simulated(options):
    with Folder() as folder:
        made = profiles(options, folder)
        found = tables(made[0], "include_last") if made else None
        if not check(found is not None, "HTA loads the profiles of a simulated training"):
            return
        for each in made[1]:
            rank, work, wanted = each.rank, true_work(each), shares(true_work(each) + true_waits(each))
            times = next(row for row in found["temporal breakdown"] if row[0] == rank)
            times = dict(zip(("idle", "compute", "other work", "whole"), (us * 1000 for us in times[1:])))
            check(same(times, wanted), f"simulated rank {rank}: HTA's temporal breakdown is {wanted} ns", times)
            idle = {stream: 0 for stream in gaps(work)}
            for row in found["idle time breakdown"][0]:
                idle[row[1]] += row[3] * 1000 if row[0] == rank else 0
            check(same(idle, gaps(work)), f"simulated rank {rank}: HTA's idle time is {gaps(work)} ns", idle)
            check_idle(each, f"{made[0]}/rank{rank}.pt.trace.json.gz", found)


def check_idle(each, path, found):
    """Where HTA sees everything, its categories are our gaps: each stream taken for a device, a gap in one piece. Its launch stats are
    our latencies, of the calls that it knows; its queue length's most is ours, of a stream and of the calls that it knows."""
    rank, process = each.rank, Process(*of_kineto(read_json(path), "stream"))
    wanted = Counter()
    for gap in process.inner():
        late = gap.call is not None and gap.call.start > gap.start
        wanted[gap.device, "host_wait" if late else "kernel_wait" if gap.end - gap.start < LAUNCHING_NS else "other"] += gap.end - gap.start
    said = {(row[1], row[2]): row[3] * 1000 for row in found["idle time breakdown"][0] if row[0] == rank and row[3]}
    check(same(said, +wanted), f"simulated rank {rank}: HTA's idle time breakdown of streams is our gaps'", (said, wanted))
    firsts = process.first_work()
    delays = sorted(max(0, work.start - call.end) for call, work in firsts if call.name in HTA_LAUNCHES)
    said = sorted(row[3] * 1000 for row in dict(found["launch stats"])[str(rank)])
    check(len(said) == len(delays) and all(abs(a - b) < 10 for a, b in zip(said, delays)) and len(delays) < len(firsts),
          f"simulated rank {rank}: HTA's launch delays are our latencies, of {len(delays)} of {len(firsts)} launches", (said[-3:], delays[-3:]))
    most = {stream: queue([(call.start, work.start) for call, work in firsts if work.device == stream and call.name in HTA_LAUNCHES | {"cuLaunchKernel"}])
            for stream in {work.device for _, work in firsts}}
    said = {row[1]: row[-1] for row in found["queue length"] if row[0] == rank}
    check(said == {stream: row["queue_max"] for stream, row in most.items() if row["queue_max"]}, f"simulated rank {rank}: the longest queues", (said, most))


def check_cases(options):
    """What docs/why-not-hta.md says of both."""
    with Folder() as folder:
        hta_cases.write(folder)
        us = lambda case, table: {key: value / 1000 if key.endswith("_ns") else value for key, value in json.loads(run(
            [options.tracetool, "analyze", f"{folder}/{case}", "--only", table, "--format", "json"]).stdout)[table][0].items()}
        hta = {case.__name__: tables(f"{folder}/{case.__name__}") for case in hta_cases.CASES}
        temporal = {case: found["temporal breakdown"][0] for case, found in hta.items()}  # rank, idle, compute, other work, whole
        idle = {case: {tuple(row[1:3]): row[3] for row in found["idle time breakdown"][0] if row[3]} for case, found in hta.items()}
        launches = {case: len(dict(found["launch stats"])["0"]) for case, found in hta.items()}
        for what, said, other, ours, our in (
                ("stream_sync", temporal["stream_sync"][1], 40, us("stream_sync", "temporal")["idle_ns"], 100),
                ("launched_before", temporal["launched_before"][4], 180, us("launched_before", "temporal")["span_ns"], 270),
                ("last_step", temporal["last_step"][4], 70, us("last_step", "temporal")["span_ns"], 370),
                ("triton", launches["triton"], 1, us("triton", "launches")["count"], 2),
                ("graph", launches["graph"], 0, us("graph", "launches")["count"], 1),
                ("two_streams", sum(idle["two_streams"].values()), 270, us("two_streams", "idle")["idle_ns"], 0),
                ("overlapping", idle["overlapping"].get((7, "kernel_wait")), -90, us("overlapping", "idle")["queued_ns"], 20)):
            check(said == other and ours == our, f"{what}: HTA has {other}, tracetool {our}", (said, ours))
        rounded = tables(f"{folder}/short_kernels", HTA_DISABLE_NS_ROUNDING="")["temporal breakdown"][0]
        ours = us("short_kernels", "temporal")
        check(rounded[1] == 198 and rounded[4] == 298 and (ours["idle_ns"], ours["span_ns"]) == (59.4, 299.4), "short_kernels: HTA rounds", (rounded, ours))


def main():
    parser = argparse.ArgumentParser()
    for name in ("tracetool", "traces", "agent", "simulated"):
        parser.add_argument("--" + name, required=name in ("tracetool", "traces"), type=os.path.abspath)
    options = parser.parse_args()
    if not PYTHON or run([PYTHON, "-c", "import hta"]).returncode != 0:
        skip("TRACETOOL_HTA_PYTHON names no Python that has HolisticTraceAnalysis")
    check_cases(options)
    if options.agent:
        check_simulated(options)
    with trace_sets.folders(options.traces) as folders:
        for folder in folders:
            for name, paths in trace_sets.inputs(folder):
                compare(options.tracetool, name, paths)
    finish()


main()
