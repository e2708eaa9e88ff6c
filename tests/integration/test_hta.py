#!/usr/bin/env python3
"""HTA's tables of an export --kineto are those of the original files, for every real trace that HTA can load. Skipped where
TRACETOOL_HTA_PYTHON names no Python that has HolisticTraceAnalysis.

  test_hta.py --tracetool PATH
"""
import glob
import json
import os
import shutil
import subprocess

from harness import Folder, arguments, check, finish, run, skip

TABLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hta_tables.py")
PYTHON = os.environ.get("TRACETOOL_HTA_PYTHON", "")
JOBS = ("modded-nanogpt-8xh100", "dlrm-8xv100", "sampled-2of128")
# HTA orders what starts together by its place in the file; an export is in the order of time. That the events are the
# same is what test_kineto_export.py shows.
BY_PLACE = {("dlrm-8xv100", "idle time breakdown"), ("h100-qwen-inference.json.gz", "idle time breakdown"),
            ("a100-rank0of16.json.gz", "queue length"), ("a100-rank0of16.json.gz", "queue length over time"),
            ("v100-rank1of2-216k-events.json.gz", "queue length"),
            ("v100-rank1of2-216k-events.json.gz", "queue length over time")}


def tables(folder):
    result = subprocess.run([PYTHON, TABLES, folder], capture_output=True, text=True)
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
            check_tables(name, wanted, found)


def check_tables(name, wanted, found):
    for table in wanted:
        if (name, table) in BY_PLACE:
            print(f"      {name}: {table}: by HTA's order of events that start together", flush=True)
            continue
        check(found[table] == wanted[table], f"{name}: {table}", lambda: f"{str(wanted[table])[:300]} {str(found[table])[:300]}")


def main():
    options = arguments("tracetool")
    if not PYTHON or run([PYTHON, "-c", "import hta"]).returncode != 0:
        skip("TRACETOOL_HTA_PYTHON names no Python that has HolisticTraceAnalysis")
    traces = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "shared", "traces")
    if not os.path.isdir(traces):
        skip("no folder with real traces")
    for job in JOBS:
        compare(options.tracetool, job, sorted(glob.glob(f"{traces}/{job}/*.json*")))
    for path in sorted(glob.glob(f"{traces}/*/*.json*")):
        if os.path.basename(os.path.dirname(path)) not in JOBS:
            compare(options.tracetool, os.path.basename(path), [path])
    finish()


main()
