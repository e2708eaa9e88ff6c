#!/usr/bin/env python3
"""`tracetool analyze --only overlap` against a slow program (slow_overlap.py), and against `temporal`: on Kineto traces, and on
simulated runs.

  test_overlap.py --tracetool PATH --traces DIR [--agent PATH --simulated PATH]
"""
import json
import os

import slow_overlap
import slow_steps
import slow_tables
from harness import Folder, check, run
from test_analyze import check_rows, run_checks, tables
from trace_sets import folders, inputs
from truth import load, train

ORDER = ("rank", "step", "device", "communicator", "comm_ns", "count")


def ordered(rows):
    return sorted(rows, key=lambda row: [str(row.get(key)) for key in ORDER])


def named(rows, **more):
    return [{"device": device, "communicator": group[0], "description": group[1], **more, **row}
            for (device, group), row in rows.items()]


def check_file(options, path):
    """Returns whether it has communication."""
    events = slow_tables.read_json(path)
    works = list(slow_overlap.groups_of_kineto(events)) if events is not None else []
    if not works:
        return False
    name = os.path.basename(path)
    compute = [each for each in slow_tables.of_kineto(events) if each.kind == "compute"]
    said = tables(options, path, "--only", "overlap").get("overlap", [])
    check_rows(f"{name}: overlap", ordered(said), ordered(named(slow_overlap.rows(works, compute, None))))
    check_sums(options, name, [path], said)
    steps = slow_steps.windows_of(events)
    if steps:
        true = [row for begin, end, number in steps
                for row in named(slow_overlap.rows(works, slow_tables.clipped(compute, begin, end), [(begin, end)]), step=number)]
        check_rows(f"{name}: overlap by step", ordered(tables(options, path, "--only", "overlap", "--by", "step")["overlap"]), ordered(true))
    return True


def check_sums(options, name, files, said, by=()):
    """Where nothing is shared, rows add up to `temporal`."""
    key = lambda row: (row["rank"], row["device"], row.get("step"))
    for row in tables(options, *files, "--only", "temporal", *by)["temporal"]:
        own = [each for each in said if key(each) == key(row)]
        alone = sum(each["comm_ns"] - each["shared_ns"] for each in own)
        if any(each["shared_ns"] for each in own):
            check(alone < (row["comm_ns"] or 0) < sum(each["comm_ns"] for each in own), f"{name}: shared time is counted in each", (row, own))
        else:
            check(alone == (row["comm_ns"] or 0) and sum(each["exposed_ns"] for each in own) == (row["exposed_comm_ns"] or 0),
                  f"{name}: as temporal", (row, own))


def check_traces(options):
    compared = 0
    with folders(options.traces) as some:
        for folder in some:
            for _, files in inputs(folder):
                compared += sum(check_file(options, path) for path in files)
        check(compared >= 8, f"{compared} files were compared", compared)


def check_worked_example(options):
    """Two groups whose work overlaps, and compute over parts of both; in ns: dp 1000-5000, tp 4000-6000 and 4500-7000, compute
    2000-4200, 3000-3500 and 6500-9000, a copy 5000-6500."""
    work = lambda name, start, end, stream, category="kernel", **args: {
        "ph": "X", "cat": category, "name": name, "pid": 0, "tid": stream, "ts": start / 1000, "dur": (end - start) / 1000,
        "args": {"device": 0, "stream": stream, "correlation": start + stream, **args}}
    group = lambda name: {"Process Group Name": name, "Process Group Description": name + "_pg", "Collective name": "allreduce", "In msg nelems": 4,
                          "Out msg nelems": 4, "Group size": 2, "dtype": "Float"}
    nccl = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"
    events = [work(nccl, 1000, 5000, 20, **group("dp")), work(nccl, 4000, 6000, 21, **group("tp")), work(nccl, 4500, 7000, 22, **group("tp")),
              work("gemm", 2000, 4200, 7), work("gelu", 3000, 3500, 8), work("gemm", 6500, 9000, 7),
              work("Memcpy DtoD (Device -> Device)", 5000, 6500, 9, "gpu_memcpy")]
    with Folder() as folder:
        path = f"{folder}/two.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": events, "distributedInfo": {"rank": 0}}, file)
        check_file(options, path)
        said = ordered(tables(options, path, "--only", "overlap")["overlap"])
        true = [{"communicator": "dp", "count": 1, "comm_ns": 4000, "hidden_ns": 2200, "exposed_ns": 1800, "shared_ns": 1000, "overlap_pct": 55.0},
                {"communicator": "tp", "count": 2, "comm_ns": 3000, "hidden_ns": 700, "exposed_ns": 2300, "shared_ns": 1000, "overlap_pct": 70 / 3}]
        check_rows("two groups at once", said, true)


def check_simulated(options):
    for words in ((), ("--copy-engine",)):
        with Folder() as folder:
            what = f"simulated {' '.join(words)}"
            done = train(options, folder, "--ranks", 4, "--steps", 4, *words)
            check(done.returncode == 0, f"{what}: it was recorded", done.stderr)
            merged = f"{folder}/run.ttrace"
            run([options.tracetool, "merge", f"{folder}/traces", "-o", merged])
            job = load(os.path.join(folder, "truth"))
            for form, path in (("recordings", f"{folder}/traces"), ("merged", merged)):
                said = tables(options, path, "--only", "overlap").get("overlap", [])
                for rank in job:
                    works = list(slow_overlap.groups_of_truth(rank))
                    check(works and all(group is not None for _, group in works), f"{what}: each work is of a communicator", len(works))
                    compute = [each for each in slow_tables.of_truth(rank) if each.kind == "compute"]
                    true = [{"rank": rank.rank, "device": device, **row} for (device, _), row in slow_overlap.rows(works, compute, None).items()]
                    of_rank = [row for row in said if row["rank"] == rank.rank]
                    order = lambda rows: sorted(rows, key=lambda row: row["comm_ns"])
                    check_rows(f"{what}, {form}, rank {rank.rank}: overlap", order(of_rank), order(true))
                    check(all(row["communicator"] for row in of_rank), f"{what}, {form}: communicators are named", of_rank)
                check_sums(options, f"{what}, {form}", [path], said)
                by_step = tables(options, path, "--only", "overlap", "--by", "step").get("overlap", [])
                check_sums(options, f"{what}, {form}, by step", [path], by_step, ("--by", "step"))


if __name__ == "__main__":
    run_checks(check_worked_example, check_traces, simulated=(check_simulated,))
