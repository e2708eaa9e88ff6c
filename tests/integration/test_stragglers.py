#!/usr/bin/env python3
"""`tracetool analyze --only stragglers`: who is late, by how much and why, on simulated runs with planted causes and without one,
against their truth, and on the traces of 8 H100s.

  test_stragglers.py --tracetool PATH --traces DIR [--agent PATH --simulated PATH]
"""
import glob
import os

from harness import Folder, check, finish, run
from test_analyze import analyze, paths, tables
from trace_sets import folders
from truth import load, train

AXIS_NS = 1000
STEPS, RANKS = 20, 4  # 10 are too few: a busy machine may delay one, and the rest could be chance
SHAPE = {"--ranks": RANKS, "--steps": STEPS, "--step-us": 40_000}  # so long that delays of a busy machine are small
TRIES = 8
# Cause, rank, how many ms it is late at most in all collectives together, options.
PLANTED = (
    ("host", 1, 1_200, ("--straggler", 1, "--straggler-us", 20_000)),
    ("host", 2, 1_200, ("--straggler", 2, "--straggler-us", 20_000, "--hosts", RANKS, "--clock-offset-us", 50_000)),
    ("slow_kernels", 2, 2_000, ("--slow-gpu", 2, "--slow-gpu-factor", 2)),
    ("copy", 3, 1_200, ("--pageable", 3, "--batch-mib", 64)),
    ("more_work", 0, 1_200, ("--more-work", 0, "--step-us", 80_000)),
    ("host", 3, 2_000, ("--item-sync", 3, "--step-us", 20_000, "--layers", 40)),
)
EVIDENCE = {"host": "its GPU idled", "slow_kernels": "the same kernels took", "copy": "Memcpy HtoD (Pageable -> Device)",
            "more_work": "its GPU computed"}


def trained(options, folder, *words):
    """A training of SHAPE, but for what `words` say otherwise."""
    shape = [each for word, value in SHAPE.items() if word not in words for each in (word, value)]
    return train(options, folder, *shape, *words)


def lateness(job):
    """rank -> (ns late, ns waited, times last), as the truth has it."""
    by_time = {}
    for rank in job:
        kernels = sorted((line for line in rank.of("kernel") if "late" in line), key=lambda line: line["start"])
        for number, line in enumerate(kernels):
            by_time.setdefault(number, {})[rank.rank] = line
    sums = {rank.rank: [0, 0, 0] for rank in job}
    for lines in by_time.values():
        last = max(lines.values(), key=lambda line: line["start"])
        for rank, line in lines.items():
            sums[rank][0] += max(0, line["late"])
            sums[rank][1] += last["start"] - line["start"]
            sums[rank][2] += line is last
    return len(by_time), sums


def check_sums(what, rows, job, one_clock):
    count, true = lateness(job)
    near = count * AXIS_NS if one_clock else count * 4_000  # by ends, which are 3 us apart
    error = 0 if one_clock else count * 10_000  # of two clocks that are aligned by ends: late is what is above it
    wrong = [(row, true[row["rank"]]) for row in rows
             if not -near <= true[row["rank"]][0] - row["late_ns"] <= near + error or abs(row["waited_ns"] - true[row["rank"]][1]) > near]
    check(count > 0 and len(rows) == len(job) and not wrong, f"{what}: late and waited as the truth has them, of {count} collectives", wrong)
    check(sum(row["times_last"] for row in rows) == count, f"{what}: one is the last in each", rows)
    check(all(row["last_completed"].endswith(f":{count - 1}") for row in rows), f"{what}: the last collective ended on all", rows)


def late_enough(job):
    """The ranks that the truth has late for about a fiftieth of the time: nobody else may be named."""
    _, true = lateness(job)
    work = [line for rank in job for line in rank.of("kernel")]
    span = max(line["end"] for line in work) - min(line["start"] for line in work)
    return {rank for rank, (late_ns, _, _) in true.items() if late_ns > span / 60}


def is_planted_most(job, most_ms):
    """A busy machine delays ranks, too: a run tells something where the truth has the others together less than a quarter as late, and
    the planted ones by about as much as is planted. `most_ms`: rank -> how late it may be."""
    _, true = lateness(job)
    least = min(true[rank][0] for rank in most_ms)
    others = [late_ns for rank, (late_ns, _, _) in true.items() if rank not in most_ms]
    return sum(others) <= least / 4 and all(true[rank][0] <= ms * 1e6 for rank, ms in most_ms.items())


def planted_run(options, folder, what, most_ms, *words):
    """(rows, ranks that may be named) of a run in which the planted ranks are late most."""
    for number in range(TRIES):
        place = os.path.join(folder, str(number))
        os.mkdir(place)
        done = trained(options, place, *words)
        check(done.returncode == 0, f"{what}: it was recorded", done.stderr)
        job = load(os.path.join(place, "truth"))
        rows = tables(options, f"{place}/traces", "--only", "stragglers")["stragglers"]
        check_sums(what, rows, job, "--hosts" not in words)
        if is_planted_most(job, most_ms):
            return rows, late_enough(job)
    check(False, f"{what}: of {TRIES} runs one in which the machine delays others little", lateness(job))
    return None, None


def check_named(what, rows, late, causes):
    """`causes`: planted rank -> why it is late."""
    named = {row["rank"]: row["cause"] for row in rows if row["straggler"]}
    planted = {rank: cause for rank, cause in named.items() if rank in causes}
    return check(planted == causes and set(named) <= late, f"{what} (late: {sorted(late)})", rows)


def check_planted(options):
    for cause, rank, most_ms, words in PLANTED:
        with Folder() as folder:
            what = " ".join(map(str, words))
            rows, late = planted_run(options, folder, what, {rank: most_ms}, *words)
            if rows and check_named(f"{what}: rank {rank} is late because of {cause}", rows, late, {rank: cause}):
                row = rows[rank]
                check(EVIDENCE[cause] in row["evidence"], f"{what}: the evidence", row)
                check(row["others_waited_ns"] > row["late_ns"], f"{what}: the others waited for it", row)
                check("--item-sync" not in words or "cudaStreamSynchronize" in row["evidence"], f"{what}: where its host was", row)


def check_two(options):
    """Two that are late together do not hide each other."""
    with Folder() as folder:
        rows, late = planted_run(options, folder, "two", {1: 3_000, 4: 3_000}, "--ranks", 6, "--slow-gpu", 4, "--slow-gpu-factor", 2,
                                 "--straggler", 1, "--straggler-us", 30_000)
        if rows:
            check_named("two that are late are both named", rows, late, {1: "host", 4: "slow_kernels"})


def check_healthy(options):
    """Nobody is planted. A busy machine may delay a rank by itself, so that only the truth says who was late."""
    for words in ((), ("--slow-link",), ("--hosts", RANKS)):
        with Folder() as folder:
            what = f"healthy {' '.join(map(str, words))}"
            done = trained(options, folder, "--step-us", 100_000, *words)
            check(done.returncode == 0, f"{what}: it was recorded", done.stderr)
            job = load(os.path.join(folder, "truth"))
            rows = tables(options, f"{folder}/traces", "--only", "stragglers")["stragglers"]
            check_sums(what, rows, job, "--hosts" not in words)
            named, late = [row["rank"] for row in rows if row["straggler"]], late_enough(job)
            check(set(named) <= late, f"{what}: nobody is named whom the truth does not have late (by load, {sorted(late)})", rows)
            said = analyze(options, f"{folder}/traces", "--only", "stragglers").stdout
            check(bool(named) or "note: no stragglers" in said, f"{what}: a run without one says so", said)


def check_h100(options):
    with folders(options.traces) as some:
        for folder in some:
            files = sorted(glob.glob(f"{folder}/modded-nanogpt-8xh100/*.json*"))
            if folder != options.traces or not files:
                continue
            with Folder() as out:
                run([options.tracetool, "merge", *files, "-o", f"{out}/run.ttrace"])
                for read in (files, [f"{out}/run.ttrace"]):
                    rows = tables(options, *read, "--only", "stragglers")["stragglers"]
                    check([row["rank"] for row in rows if row["straggler"]] == [1], "H100: rank 1 is late, and no other", rows)
                    check(rows[1]["cause"] == "host", "H100: its host is why", rows[1])
                    check(max(rows, key=lambda row: row["late_ns"])["rank"] == 1, "H100: it is latest", rows)
            files = sorted(glob.glob(f"{folder}/sampled-2of128/*.json*"))
            said = analyze(options, *files, "--only", "stragglers").stdout
            refused = analyze(options, *files, "--only", "collectives").stdout
            notes = [line for line in refused.splitlines() if "are not matched" in line]
            check(notes and all(line in said for line in notes) and "stragglers are unknown" in said,
                  "sampled-2of128: what was refused is told as `collectives` tells it", said)
            files = sorted(glob.glob(f"{folder}/dlrm-8xv100/*.json*"))
            said = analyze(options, *files, "--only", "stragglers").stdout
            check("note: no stragglers" in said and "the longest wait is for rank 7: 1.309 ms, last in 5 of 8" in said, "dlrm-8xv100: 8 collectives prove nobody late; rank 7 is named", said)


def main():
    options = paths()
    check_h100(options)
    if options.agent and options.simulated:
        check_planted(options)
        check_two(options)
        check_healthy(options)
    finish()


if __name__ == "__main__":
    main()
