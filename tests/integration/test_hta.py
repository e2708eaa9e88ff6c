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

import trace_sets
from gpu_time import gaps, shares, true_waits, true_work
from harness import Folder, check, files_below, finish, run, skip
from kineto_files import frozen, load
from simulated_profiles import profiles, same

TABLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hta_tables.py")
PYTHON = os.environ.get("TRACETOOL_HTA_PYTHON", "")


def tables(folder, *more):
    result = subprocess.run([PYTHON, TABLES, folder, *more], capture_output=True, text=True)
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


def main():
    parser = argparse.ArgumentParser()
    for name in ("tracetool", "traces", "agent", "simulated"):
        parser.add_argument("--" + name, required=name in ("tracetool", "traces"), type=os.path.abspath)
    options = parser.parse_args()
    if not PYTHON or run([PYTHON, "-c", "import hta"]).returncode != 0:
        skip("TRACETOOL_HTA_PYTHON names no Python that has HolisticTraceAnalysis")
    if options.agent:
        check_simulated(options)
    with trace_sets.folders(options.traces) as folders:
        for folder in folders:
            for name, paths in trace_sets.inputs(folder):
                compare(options.tracetool, name, paths)
    finish()


main()
