#!/usr/bin/env python3
"""What goes wrong in jobs of several ranks is found and named, and the rest is merged: a rank whose host stops, ranks that issue
different collectives, a rank that is missing, cut, or there twice, two jobs in one folder, a wall clock that is set.

  test_across_ranks.py --agent PATH --simulated PATH --tracetool PATH
"""
import collections
import json
import os
import re
import shutil
import signal
import subprocess
import time

from harness import Folder, arguments, check, clean_environment, files_below, finish, run, wait_until
from truth import command, load, train

RANKS, STEPS, BUCKETS = 4, 8, 4
JOB = ("--ranks", RANKS, "--hosts", RANKS, "--buckets", BUCKETS)
ALL = STEPS * BUCKETS


def rings(folder):
    """By rank: in a job of one rank a host, names begin with the host's."""
    return sorted(files_below(folder, ".ring"), key=os.path.basename)


def analyze(options, path, analysis):
    done = run([options.tracetool, "analyze", path, "--only", analysis, "--format", "json"])
    return json.loads(done.stdout)[analysis] if done.returncode == 0 else done.stderr


def notes(options, path, analysis="collectives"):
    return [line for line in run([options.tracetool, "analyze", path, "--only", analysis]).stdout.splitlines() if line.startswith("note: ")]


def states(rows):
    return dict(collections.Counter(row["state"] for row in rows))


def merged(options, folder, what, *words):
    done = run([options.tracetool, "merge", *words, f"{folder}/traces", "-o", f"{folder}/run.ttrace"])
    check(done.returncode == 0, f"{what}: the rest is merged", done.stderr)
    return f"{folder}/run.ttrace", done.stderr


def recorded(options, folder, *words, steps=STEPS):
    done = train(options, folder, *JOB, "--steps", steps, *words)
    check(done.returncode == 0, f"{' '.join(map(str, words)) or 'a job'}: it was recorded", done.stderr)


def calls_in(path):
    """How many collectives of the communicator of all ranks the truth of a rank has so far."""
    if not os.path.exists(path):
        return 0
    with open(path, encoding="utf-8") as lines:
        return sum('"kind":"nccl_call"' in line for line in lines)


def check_stuck(options):
    """Rank 1 stops in the middle, and somebody kills the job."""
    first = STEPS // 2 * BUCKETS
    with Folder() as folder:
        started = subprocess.Popen(command(options, folder, *JOB, "--steps", STEPS, "--stuck", 1), cwd=folder, env=clean_environment(), start_new_session=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda: all(calls_in(f"{folder}/truth.rank{rank}") > first for rank in (0, 2, 3)), 60)
            time.sleep(2)  # the agent collects what has ended
        finally:
            os.killpg(started.pid, signal.SIGKILL)
            started.wait()
        check(calls_in(f"{folder}/truth.rank1") == first, "stuck: rank 1 called no more", calls_in(f"{folder}/truth.rank1"))
        path, _ = merged(options, folder, "stuck")
        for form, read in (("files", f"{folder}/traces"), ("merged", path)):
            rows = {row["ordinal"]: row for row in analyze(options, read, "collectives")}
            opened = sorted(ordinal for ordinal, row in rows.items() if row["state"] == "open")
            check(opened and opened[0] == first, f"stuck, {form}: number {first} is the first that had not ended", opened or states(rows.values()))
            check("not in the trace of rank 1" in rows[first]["trouble"] and "not ended on ranks 0, 2-3" in rows[first]["trouble"],
                  f"stuck, {form}: and who waits for whom", rows[first])
            said = " ".join(notes(options, read))
            expected = f"number {first} had not ended; ranks 0-3 completed number {first - 1} last; it is not in the trace of rank 1"
            check(expected in said, f"stuck, {form}: a note says where each rank is", said)


def check_mismatch(options):
    first = STEPS // 2 * BUCKETS + BUCKETS - 2  # here the sizes differ for the first time
    with Folder() as folder:
        recorded(options, folder, "--leaves-out", 1)
        path, _ = merged(options, folder, "mismatch")
        rows = {row["ordinal"]: row for row in analyze(options, path, "collectives")}
        wrong = sorted(ordinal for ordinal, row in rows.items() if row["state"] == "mismatch")
        check(wrong and wrong[0] == first, f"mismatch: number {first} is the first", wrong or states(rows.values()))
        check(re.match(r"rank 1 called all_reduce of 7340032 bytes.*, the others all_reduce of 26214400 bytes", rows[first]["trouble"]),
              "mismatch: and which rank called what", rows[first])
        check(rows[ALL - 1]["trouble"] == "not in the trace of rank 1", "mismatch: rank 1 has one less", rows[ALL - 1])


def check_files(options):
    """One job, of which a file is taken away, cut, or there twice."""
    with Folder() as folder:
        recorded(options, folder, "--ring-bytes", "4M")
        shutil.move(f"{folder}/traces", f"{folder}/whole")
        whole = rings(f"{folder}/whole")
        check(len(whole) == RANKS, "files: one of each rank", whole)

        def again():
            shutil.rmtree(f"{folder}/traces", ignore_errors=True)
            shutil.copytree(f"{folder}/whole", f"{folder}/traces")
            return rings(f"{folder}/traces")[2]

        again()
        path, _ = merged(options, folder, "whole")
        rows = analyze(options, path, "collectives")
        check(states(rows) == {"complete": ALL}, "whole: all are complete", states(rows))
        hosts = json.loads(run([options.tracetool, "info", "--json", path]).stdout)["clocks"]
        check(len(hosts) == RANKS, "whole: each host has a clock", hosts)

        os.remove(again())
        path, _ = merged(options, folder, "missing rank")
        rows = analyze(options, path, "collectives")
        check(states(rows) == {"missing_ranks": ALL} and all(row["trouble"] == "1 of 4 ranks are not in the trace" and row["ranks"] == 3 for row in rows),
              "missing rank: each collective is there without it, and says so", rows[:1])

        ring = again()
        os.truncate(ring, os.path.getsize(ring) // 2)
        path, said = merged(options, folder, "cut")
        check("rank 2: byte" in said and "the file ends here" in said, "cut: it is said where, and of which rank", said)
        rows = analyze(options, path, "collectives")
        check(len(rows) == ALL and set(states(rows)) <= {"complete", "missing_ranks", "no_gpu_work"}, "cut: all collectives of the others are there", states(rows))
        check({row["ranks"] for row in rows} <= {3, 4}, "cut: of three ranks or four", rows[:1])

        ring = again()
        shutil.copy(ring, ring.replace(".ring", "1.ring"))
        done = run([options.tracetool, "merge", f"{folder}/traces", "-o", f"{folder}/twice.ttrace"])
        check(done.returncode == 1 and "duplicate rank 2" in done.stderr and ring in done.stderr and "omit one" in done.stderr and
              not os.path.exists(f"{folder}/twice.ttrace"), "duplicate rank: both files are named, and nothing is merged", done.stderr)


def check_two_jobs(options):
    with Folder() as folder:
        recorded(options, folder)
        recorded(options, folder, "--seed", 2, steps=STEPS + 1)
        path, said = merged(options, folder, "two jobs")
        check("2 runs; using the newest" in said and "--run NAME" in said, "two jobs: it is said which of them is taken", said)
        rows = analyze(options, path, "collectives")
        check(states(rows) == {"complete": ALL + BUCKETS}, "two jobs: nothing of the other is in it", states(rows))


KINDS = ("kernel", "memcpy", "memset", "runtime", "driver")
EVENT = re.compile(r"(\d+) (\d+) X (\w+) rank (\d+), .* correlation=(\d+)")


def against_truth(options, path, rank):
    """By how much CUPTI's events of a rank start later than they did, and how much longer they are."""
    true = {(line["kind"], line["correlation"], line.get("cbid")): line for line in rank.of(*KINDS)}
    starts, durations = [], []
    for line in run([options.tracetool, "dump", path]).stdout.splitlines():
        found = EVENT.match(line)
        if not found or found[3] not in KINDS or int(found[4]) != rank.rank:
            continue
        cbid = re.search(r" cbid=(\d+)", line)
        each = true.get((found[3], int(found[5]), int(cbid[1]) if cbid else None))
        if each is not None:
            starts.append(int(found[1]) - each["start"])
            durations.append(int(found[2]) - (each["end"] - each["start"]))
    return starts, durations


def joins(options, path):
    """What of each collective does not depend on times."""
    return [[row[key] for key in ("ordinal", "op", "bytes", "ranks", "state")] for row in analyze(options, path, "collectives")]


def check_set_clock(options):
    """The wall clock of the last host is set while it is recorded: nothing of its own moves."""
    job, found = ("--step-us", 40_000), {}
    for set_us in (0, 300_000, -300_000):
        what = f"set clock by {set_us // 1000} ms"
        with Folder() as folder:
            recorded(options, folder, *job, *(("--set-clock-us", set_us) if set_us else ()), steps=50)
            rank = load(f"{folder}/truth")[RANKS - 1]
            check(rank.clock.get("set_ns", 0) == set_us * 1000, f"{what}: it was", rank.clock)
            path, said = merged(options, folder, what, "--report", f"{folder}/report.json")
            told = re.findall(r"rank (\d): the wall clock was set (\w+) by (\S+) ms after", run([options.tracetool, "info", path]).stdout)
            is_told = [(rank, way) for rank, way, _ in told] == ([("3", "forward" if set_us > 0 else "back")] if set_us else [])
            check(is_told and all(abs(float(ms) - 300) < 0.1 for _, _, ms in told), f"{what}: it is said of which rank", told)
            found[set_us] = joins(options, path)
            check(len(found[set_us]) == 50 * BUCKETS and all(row[-1] == "complete" and row[-2] == RANKS for row in found[set_us]),
                  f"{what}: each collective is one, of all ranks, with its work", collections.Counter(row[-1] for row in found[set_us]))
            # One offset from the truth, but for the errors of the samples: 5 ns here, more where a reader was put to sleep.
            starts, durations = against_truth(options, path, rank)
            check(len(starts) > 10_000 and max(starts) - min(starts) < 200_000, f"{what}: events lie as they did", (len(starts), min(starts), max(starts)))
            check(max(map(abs, durations)) < 200_000, f"{what}: and last as long", (min(durations), max(durations)))
            with open(f"{folder}/report.json", encoding="utf-8") as file:
                lines = [host["later"] for host in json.load(file)["hosts"]]
            check(not any(lines), f"{what}: and nothing is left to align twice", lines)
    check(found[300_000] == found[0] and found[-300_000] == found[0], "set clock: calls and their work are joined as without it")


def main():
    options = arguments("agent", "simulated", "tracetool")
    check_stuck(options)
    check_mismatch(options)
    check_files(options)
    check_two_jobs(options)
    check_set_clock(options)
    finish()


if __name__ == "__main__":
    main()
