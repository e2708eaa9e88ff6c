#!/usr/bin/env python3
"""A job in several reports of Nsight Systems: one report per rank with a clock of its own is aligned as one report of all ranks is from the start.
Ranks are from NCCL and file names. --with-nsys exports reports by a program nsys, here a stand-in.

  test_nsys_job.py --tracetool PATH
"""
import json
import os
import sqlite3
import time

import nsys_reports
from harness import Folder, arguments, check, finish, run

SHIFTS_NS = (0, 7_000_000, -3_000_000, 41_000_000)  # of the clocks of the reports

FAKE_NSYS = """#!/bin/sh
# Copies the export that was made before: nsys export ... --output=OUT REPORT
echo "Processing events..."
for word in "$@"; do case $word in --output=*) out=${word#--output=};; *.nsys-rep) report=$word;; esac; done
echo "$@" >> "$NSYS_CALLS"
[ "$1" = export ] && cp "$report.made" "$out"
"""


def collectives(options, path):
    done = run([options.tracetool, "analyze", path, "--only", "collectives", "--format", "json"])
    check(done.returncode == 0, f"analyze {os.path.basename(path)}", done.stderr)
    return json.loads(done.stdout)["collectives"]


def calls_of(rows):
    return sorted((row["op"], row["ranks"]) for row in rows)


def check_alignment(options, folder):
    for seed, payloads in ((3, "binary"), (4, None)):
        parts, whole = os.path.join(folder, f"parts{seed}"), os.path.join(folder, f"whole{seed}.sqlite")
        os.mkdir(parts)
        nsys_reports.write_report(whole, "3.28.1", seed, processes=4, gpus=4, payloads=payloads, kernels=True, session=True, normalized=False, mpi=False, steps=12, graphs=None)
        nsys_reports.split_report(whole, [os.path.join(parts, f"rank{i}.sqlite") for i in range(4)], SHIFTS_NS)
        clocks = os.path.join(folder, "clocks.json")
        done = run([options.tracetool, "merge", parts, "-o", f"{parts}.ttrace", "--report", clocks])
        if not check(done.returncode == 0, f"{payloads}: merge", done.stderr):
            continue
        with open(clocks, encoding="utf-8") as file:
            fits = json.load(file)["hosts"]
        corrected = [fit["offset_ns"] + SHIFTS_NS[fit["ranks"][0]] for fit in fits]
        check(len(fits) == 4 and max(corrected) - min(corrected) < 1000, f"{payloads}: the clocks of the reports are aligned", fits)
        merged, truth = collectives(options, f"{parts}.ttrace"), collectives(options, whole)
        check(len(truth) > 0 and calls_of(merged) == calls_of(truth), f"{payloads}: the same collectives", (merged, truth))
        waits = [[sum(wait["wait_ns"] or 0 for wait in row["waits"]) for row in rows] for rows in (merged, truth)]
        check(all(abs(a - b) < 10_000 for a, b in zip(*waits)) and (not payloads or max(waits[1]) > 10_000), f"{payloads}: the same waits", waits)
        info = json.loads(run([options.tracetool, "info", parts, "--json"]).stdout)
        ranks = {rank["source"]: (rank["rank"], rank["rank_source"]) for rank in info["ranks"]}
        source = "content" if payloads else "file name"
        check(ranks == {os.path.join(parts, f"rank{i}.sqlite"): (i, source) for i in range(4)}, f"{payloads}: ranks", ranks)


def check_devices_of_waits(options, folder):
    """Real reports have synchronizations with deviceId 0 on GPU 1. Their context has the right device."""
    path = os.path.join(folder, "waits.sqlite")
    report = nsys_reports.write_report(path, "3.28.1", 6, processes=2, gpus=2, kernels=True, graphs=None, steps=12)
    with sqlite3.connect(path) as db:
        changed = db.execute("UPDATE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION SET deviceId = 0 WHERE deviceId = 1").rowcount
    db.close()
    ranks = json.loads(run([options.tracetool, "info", path, "--json"]).stdout)["ranks"]
    devices = {rank["pid"]: {stream["device"] for stream in rank["streams"]} for rank in ranks}
    check(changed > 0 and devices == {pid: {index} for index, pid in enumerate(report.pids)}, "synchronizations are on the device of their context", devices)


def check_with_nsys(options, folder):
    tools, reports, calls = (os.path.join(folder, name) for name in ("bin", "reports", "calls.txt"))
    os.mkdir(tools)
    os.mkdir(reports)
    with open(os.path.join(tools, "nsys"), "w", encoding="utf-8") as file:
        file.write(FAKE_NSYS)
    os.chmod(file.name, 0o755)
    report = os.path.join(reports, "rank 0.nsys-rep")
    with open(report, "wb") as file:
        file.write(b"NVIDIA Nsight")
    nsys_reports.write_report(f"{report}.made", "3.28.1", 1, processes=1, gpus=1)
    path = {"PATH": f"{tools}:{os.environ['PATH']}", "NSYS_CALLS": calls}

    def calls_of_nsys():
        with open(calls, encoding="utf-8") as file:
            return file.readlines()

    for what, given in (("a report", report), ("a directory", reports), ("a pattern", f"{reports}/*.nsys-rep")):
        done = run([options.tracetool, "info", given, "--json", "--with-nsys"], **path)
        check(done.returncode == 0 and len(json.loads(done.stdout)["ranks"]) >= 1, f"--with-nsys: {what}", done.stderr)
        check(len(calls_of_nsys()) == 1, f"--with-nsys: {what}: the export is made once", calls_of_nsys())
    check("--type=sqlite" in calls_of_nsys()[0] and "--include-blobs=true" in calls_of_nsys()[0], "the words of nsys export", calls_of_nsys())
    later = time.time() + 10
    os.utime(report, (later, later))
    run([options.tracetool, "info", report, "--with-nsys"], **path)
    check(len(calls_of_nsys()) == 2, "--with-nsys: a newer report is exported again")
    os.remove(os.path.join(reports, "rank 0.sqlite"))
    os.remove(f"{report}.made")
    done = run([options.tracetool, "info", report, "--with-nsys"], **path)
    check(done.returncode == 2 and "exit status 1" in done.stderr and os.listdir(reports) == ["rank 0.nsys-rep"], "--with-nsys: nsys fails", done.stderr)
    done = run([options.tracetool, "info", report, "--with-nsys"], PATH=folder)
    check(done.returncode == 2 and "install Nsight Systems" in done.stderr, "--with-nsys without nsys", done.stderr)
    done = run([options.tracetool, "info", report])
    check(done.returncode == 3 and "nsys export --type sqlite" in done.stderr and "--with-nsys" in done.stderr, "a report without --with-nsys", done.stderr)


def main():
    options = arguments("tracetool")
    for each in (check_alignment, check_devices_of_waits, check_with_nsys):
        with Folder() as folder:
            each(options, folder)
    finish()


if __name__ == "__main__":
    main()
