#!/usr/bin/env python3
"""Reports of Nsight Systems that `nsys export --type sqlite` wrote: tables, merged files and exports against SQL on the file itself (slow_nsys.py), on
synthesized reports of each schema (nsys_reports.py); files that are damaged or something else. With a directory in TRACETOOL_NSYS_FIXTURES, also the
public reports in it.

  test_nsys.py --tracetool PATH
"""
import collections
import glob
import gzip
import json
import os
import shutil
import sqlite3
from decimal import Decimal

import nsys_reports
import slow_nsys
from harness import Folder, arguments, check, finish, first, run
from nsys_reports import MINIMAL, VERSIONS, write_report
from slow_nsys import KERNEL, MEMCPY, RUNTIME, Sum

BAD_CONTENT = 3
SEEDS = 3
SECRET = "do-not-copy"
# Figures of public reports: kernels (count, ns), kernels with a launch
PUBLIC = {"mfu_2gpu_before": ((4010, 535_200_650), 3986), "mfu_2gpu_after": ((3587, 488_835_406), None), "h100_2gpu_1s": ((3442, 44_829_522), 1632),
          "healthy_1pct": ((400, 400_000_000), 400)}


def tracetool(options, *words):
    return run([options.tracetool, *map(str, words)])


def printed(options, what, *words):
    """The JSON that a command prints."""
    done = tracetool(options, *words)
    return json.loads(done.stdout) if check(done.returncode == 0, f"{what}: {' '.join(words[:1])}", done.stderr) else None


def equal(found, true, what):
    if isinstance(true, dict) and isinstance(found, dict):
        detail = lambda: first((key, found.get(key), true.get(key)) for key in sorted({*found, *true}, key=str) if found.get(key) != true.get(key))
    else:
        detail = lambda: f"{found} and not {true}"
    check(found == true, what, detail)


def added(pairs):
    """Sums of the values of each key, member by member."""
    sums = {}
    for key, values in pairs:
        sums[key] = tuple(map(sum, zip(sums.get(key, (0,) * len(values)), values)))
    return sums


def check_info(options, what, path, report):
    found = printed(options, what, "info", path, "--json")
    if found is None:
        return None
    counts = collections.Counter()
    for rank in found["ranks"]:
        counts.update(rank["counts"])
    true = {"kernel": report.count(KERNEL), "memcpy": report.count(MEMCPY), "memset": report.count(slow_nsys.MEMSET), "runtime": report.calls_of(driver=False),
            "driver": report.calls_of(driver=True), "nvtx and nccl": report.count("NVTX_EVENTS", f"{slow_nsys.RANGES} OR {slow_nsys.MARKS}"),
            "sync": report.count(slow_nsys.SYNC), "cuda_event": report.all("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_CUDA_EVENT")[0][0]
            if report.columns("CUPTI_ACTIVITY_KIND_CUDA_EVENT") else 0, "graph": report.count(slow_nsys.GRAPH)}
    counts["nvtx and nccl"] = counts["nvtx"] + counts["nccl"]
    equal({kind: counts[kind] for kind in true}, true, f"{what}: counts of info")
    return found["ranks"]


def check_tables(options, what, path, report):
    found = printed(options, what, "analyze", path, "--only", "kernels,copies,api,launches,regions", "--format", "json")
    if found is None:
        return
    true = report.kernels()
    equal({row["name"]: (row["count"], row["sum_ns"]) for row in found["kernels"]}, true, f"{what}: kernels by name")
    copies = added((row["direction"], (row["count"], row["bytes"], row["time_ns"])) for row in found["copies"] if row["operation"] == "memcpy")
    equal(copies, report.copies(), f"{what}: copies by direction")
    sets = added((1, (row["count"], row["bytes"], row["time_ns"])) for row in found["copies"] if row["operation"] == "memset")
    equal(sets.get(1, (0, None, None)), report.memsets(), f"{what}: memsets")
    equal({row["name"]: (row["count"], row["sum_ns"]) for row in found["api"]}, report.calls(), f"{what}: calls")
    equal(sum(row["count"] for row in found["launches"]), report.launches(), f"{what}: launches")


def exported(options, what, path, folder):
    """The events of the files that --kineto writes, each a list."""
    out = os.path.join(folder, "kineto")
    shutil.rmtree(out, ignore_errors=True)
    done = tracetool(options, "export", "--kineto", path, "-o", out)
    check(done.returncode == 0, f"{what}: export --kineto", done.stderr)
    files = []
    for name in sorted(glob.glob(f"{out}/*")):
        with (gzip.open if name.endswith(".gz") else open)(name, "rt", encoding="utf-8") as file:
            text = file.read()
        check(SECRET not in text, f"{what}: the environment is not copied")
        files.append(json.loads(text, parse_float=Decimal)["traceEvents"])
    return files


def check_export(options, what, path, report, folder):
    files = exported(options, what, path, folder)
    of = lambda *kinds: [(each, int(Decimal(each["dur"]) * 1000)) for events in files for each in events if each["ph"] == "X" and each.get("cat") in kinds]
    kernels = of("kernel") if not report.has(slow_nsys.GRAPH) else [(each, ns) for each, ns in of("kernel") if "grid" in each["args"]]
    equal(added((each["name"], (1, ns)) for each, ns in kernels), report.kernels(), f"{what}: exported kernels by name")
    equal(added((each["args"]["device"], (1, ns)) for each, ns in kernels), report.kernels("t.deviceId"), f"{what}: exported kernels by device")
    equal(added((each["name"].split()[1], (1, each["args"]["bytes"], ns)) for each, ns in of("gpu_memcpy")), report.copies(), f"{what}: exported copies")
    equal(added((1, (1, each["args"]["bytes"], ns)) for each, ns in of("gpu_memset")).get(1, (0, None, None)), report.memsets(), f"{what}: exported memsets")
    equal(added((each["name"], (1, ns)) for each, ns in of("cuda_runtime", "cuda_driver")), report.calls(), f"{what}: exported calls")
    joined = 0
    for events in files:
        calls = {each["args"]["correlation"] for each in events if each.get("cat") in ("cuda_runtime", "cuda_driver") and each["ph"] == "X"}
        joined += sum(each.get("cat") == "kernel" and "grid" in each["args"] and each["args"]["correlation"] in calls for each in events)
    equal(joined, report.joined(KERNEL)[0], f"{what}: exported kernels with a launch")
    equal(added((each["name"], (1, ns)) for each, ns in of("user_annotation")), report.ranges(), f"{what}: exported ranges")


def check_report(options, what, path, folder):
    """Tables, a merged file and an export of one report."""
    report, merged = slow_nsys.Report(path), os.path.join(folder, "merged.ttrace")
    ranks = check_info(options, what, path, report)
    check_tables(options, what, path, report)
    done = tracetool(options, "merge", path, "-o", merged)
    if check(done.returncode == 0, f"{what}: merge", done.stderr):
        check_info(options, f"{what}, merged", merged, report)
        check_tables(options, f"{what}, merged", merged, report)
        with open(merged, "rb") as file:
            check(SECRET.encode() not in file.read(), f"{what}, merged: the environment is not copied")
    check_export(options, what, path, report, folder)
    return ranks


def check_versions(options, folder):
    for version in (*VERSIONS, MINIMAL):
        for seed in range(SEEDS):
            path = os.path.join(folder, f"report-{version}-{seed}.sqlite")
            what = f"{version}, seed {seed}"
            report = write_report(path, version, seed)
            ranks = check_report(options, what, path, folder)
            if ranks is not None and report.ranks and version != MINIMAL:
                equal({rank["pid"]: rank["rank"] for rank in ranks if rank["counts"].get("kernel")},
                      {pid: rank for pid, rank in report.ranks.items() if report.options["kernels"]}, f"{what}: ranks")


def main():
    options = arguments("tracetool")
    with Folder() as folder:
        check_versions(options, folder)
    finish()


if __name__ == "__main__":
    main()
