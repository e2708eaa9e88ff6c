#!/usr/bin/env python3
"""`tracetool analyze --only critical_path` against a slow program (slow_critical_path.py), to the nanosecond: on Kineto traces of one rank and
of 8 ranks, of all and of some of them, and on simulated runs by their truth; that what these planted holds the path.

  test_critical_path.py --tracetool PATH --traces DIR [--agent PATH --simulated PATH]
"""
import os

import slow_classes
import slow_critical_path as slow
import slow_tables
from harness import Folder, check, first, run
from test_analyze import analyze, count_sets, found_steps, run_checks, tables
from truth import load, train

H100, SOME = "modded-nanogpt-8xh100", range(3, 8)  # without the rank for which the others wait
NEAR = 0.02
WHOLE_NS = ("time_ns", "segments", "top_ns")


def said_of(options, files, *words):
    return tables(options, *files, "--only", "critical_path", *words).get("critical_path", [])


def by_key(rows, with_ranks):
    """Rows by step, rank and class: those of one length may come in any order."""
    rank = lambda row: "all" if row["rank"] is None else row["rank"]
    return {(row.get("step"), rank(row) if with_ranks else None, row["class"]): tuple(row[key] for key in WHOLE_NS) for row in rows}


def check_rows(what, said, true, with_ranks=True):
    one, other = by_key(said, with_ranks), by_key(true, with_ranks)
    wrong = [(key, one.get(key), other.get(key)) for key in {**one, **other} if one.get(key) != other.get(key)]
    check(not wrong and len(said) == len(true), f"{what}: {len(true)} rows as the slow program has them", lambda: first(wrong))
    descending = all(a.get("step") != b.get("step") or a["time_ns"] >= b["time_ns"] for a, b in zip(said, said[1:]))
    check(descending, f"{what}: the longest first", said)
    shares = {}
    for row in said:
        shares[row.get("step")] = shares.get(row.get("step"), 0) + row["share_pct"]
    check(all(abs(share - 100) < 1e-6 for share in shares.values()), f"{what}: shares sum to 100 %", shares)


def check_slow(options, what, files, ranks, meetings, *words, with_ranks=True):
    """Both forms of the table, and how many starts it says that it inferred."""
    whole, by_step, inferred = slow.tables(ranks, meetings)
    check_rows(what, said_of(options, files, *words), whole, with_ranks)
    check_rows(f"{what}, by step", said_of(options, files, "--by", "step", *words), by_step, with_ranks)
    notes = analyze(options, *files, "--only", "critical_path", *words).stdout
    check((f"note: {inferred} kernel" in notes) == (inferred > 0), f"{what}: {inferred} starts are told as inferred", notes[-600:])


def check_set(options, name, files):
    events = [slow_tables.read_json(path) for path in files]
    rules = slow_classes.published()
    if any(each is None for each in events) or (len(files) > 1 and name != H100):
        return 0
    found = [found_steps(options, path, each) if each else [] for path, each in zip(files, events)]
    ranks = [slow.of_kineto(number, each, rules, steps) for number, (each, steps) in enumerate(zip(events, found))]
    if not any(rank.work for rank in ranks):
        check(said_of(options, files) == [], f"{name}: no GPU work, no rows")
        return 0
    meetings = slow.meetings_from_the_end(ranks) if len(ranks) > 1 else {}
    check_slow(options, name, files, ranks, meetings, with_ranks=len(ranks) > 1)
    if name == H100:
        check_h100(options, files, ranks, meetings)
    return 1


def check_h100(options, files, ranks, meetings):
    words = ("--ranks", f"{SOME[0]}-{SOME[-1]}")
    check_slow(options, f"{H100} {' '.join(words)}", files, [ranks[number] for number in SOME], meetings, *words)
    whole = said_of(options, files, "--by", "step")
    late = [row for row in whole if row["rank"] == 1 and row["class"] == "host"]
    check(len(late) >= 3 and all(row["share_pct"] > 90 for row in late), f"{H100}: the host of rank 1, the straggler, holds its steps", late)
    alone = said_of(options, files, "--by", "step", "--steps", 12)
    check(alone == [row for row in whole if row["step"] == 12], f"{H100}: --steps 12 gives the rows of step 12", alone)
    alone = said_of(options, files, "--by", "step", "--time", "60ms-150ms")
    check(alone == [row for row in whole if row["step"] == 11], f"{H100}: --time gives the rows of the step that lies in it on all ranks", alone)
    with Folder() as folder:
        run([options.tracetool, "merge", *files, "-o", f"{folder}/run.ttrace"])
        for read in ((), ("--steps", 11), words):
            one, other = said_of(options, [f"{folder}/run.ttrace"], *read), said_of(options, files, *read)
            check(one == other and one, f"{H100}, merged {read}: the same", lambda: (one[:2], other[:2]))


# Words, the rank that holds more than half of what any rank holds, and of which classes it holds more than half.
STEPS, RANKS, TRIES = 6, 4, 5
SHAPE = ("--ranks", RANKS, "--steps", STEPS, "--step-us", 20_000)
STRAGGLER_US = 15_000
PLANTED = (
    (("--straggler", 1, "--straggler-us", STRAGGLER_US), 1, ("host",)),
    (("--slow-gpu", 2, "--slow-gpu-factor", 3), 2, ("matmul", "attention", "elementwise", "normalization", "other", "optimizer", "softmax_loss", "reduction", "embedding")),
    (("--item-sync", 3, "--layers", 40), 3, ("host", "launch", "sync", "queued")),
)
OTHERS = (("--slow-link", 60), ("--tiny-kernels",), ("--graphs",), ("--hosts", 2, "--clock-offset-us", 5_000))


def check_simulated(options):
    for words, holder, classes in PLANTED:
        for _ in range(TRIES):  # a busy machine plants more
            rows, job, far = simulated(options, words)
            held = held_of(rows)
            of_rank = {rank: sum(ns for (by, _), ns in held.items() if by == rank) for rank, _ in held}
            of_classes = {rank: sum(ns for (by, each), ns in held.items() if by == rank and each in classes) for rank in of_rank}
            holds = all(2 * held_by.get(holder, 0) > sum(ns for rank, ns in held_by.items() if rank is not None) for held_by in (of_rank, of_classes))
            if holds and not far and ("--straggler" not in words or holds_lateness(rows, job, holder)):
                break
        else:
            check(False, f"{' '.join(map(str, words))}: rank {holder} holds most, and most of {classes}, a straggler its lateness in each step; and each what the truth has", (held, far))
    for words in OTHERS:
        for _ in range(TRIES):
            rows, _, far = simulated(options, words)
            held = held_of(rows)
            if not far and ("--slow-link" not in words or max(held, key=held.get)[0] is None):
                break
        else:
            check(False, f"simulated {' '.join(map(str, words))}: each rank and class held what the truth has, transfers most where links are slow", (far, held))


def simulated(options, words):
    """Rows by step, the truth, and where they differ."""
    what = f"simulated {' '.join(map(str, words))}"
    with Folder() as folder:
        done = train(options, folder, *SHAPE, *words)
        check(done.returncode == 0, f"{what}: it was recorded", done.stderr)
        merged = f"{folder}/run.ttrace"
        run([options.tracetool, "merge", f"{folder}/traces", "-o", merged])
        job = load(os.path.join(folder, "truth"))
        rows = said_of(options, [merged], "--by", "step")
        check(rows and rows == said_of(options, [f"{folder}/traces"], "--by", "step"), f"{what}: the same from recordings as merged", rows[:3])
        check_exported(options, what, folder, merged)
    return rows, job, far_from_truth(rows, job)


def held_of(rows):
    held = {}
    for row in rows:
        key = row["rank"], row["class"]
        held[key] = held.get(key, 0) + row["time_ns"]
    return held


def check_exported(options, what, folder, merged):
    """To the nanosecond what the slow program has of the same events, as the export to Kineto's form has them."""
    run([options.tracetool, "export", "--kineto", merged, "-o", f"{folder}/kineto"])
    rules = slow_classes.published()
    ranks = [slow.of_kineto(number, slow_tables.read_json(f"{folder}/kineto/rank{number}.pt.trace.json.gz"), rules) for number in range(RANKS)]
    check_slow(options, what, [merged], ranks, slow.meetings_from_the_end(ranks))


def far_from_truth(rows, job):
    """What is not nearly what the slow program has of what happened: recordings have times of another clock, and tell nothing of how NCCL works."""
    rules = slow_classes.published()
    ranks = [slow.of_truth(rank, rules) for rank in job]
    said, happened = held_of(rows), held_of(slow.tables(ranks, slow.meetings_from_the_end(ranks))[1])
    whole = sum(happened.values())
    return {key: (said.get(key, 0), happened.get(key, 0)) for key in {**said, **happened} if abs(said.get(key, 0) - happened.get(key, 0)) > NEAR * whole}


def holds_lateness(rows, job, straggler):
    """In each step the host of the straggler holds what it slept at least, but for the first, which may begin behind that."""
    slept = [line["end"] - line["start"] for line in job[straggler].of("host_pause")]
    least = min(ns for ns in slept if ns >= STRAGGLER_US * 1000)
    own = {row["step"]: row["time_ns"] for row in rows if row["rank"] == straggler and row["class"] == "host"}
    return all(own.get(step, 0) >= least for step in range(1, STEPS))


def check_all(options):
    read = count_sets(options, check_set)
    check(read >= 3, f"{read} sets of files were compared", read)


if __name__ == "__main__":
    run_checks(check_all, simulated=(check_simulated,))
