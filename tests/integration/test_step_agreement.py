#!/usr/bin/env python3
"""What tables, exports and comparisons say of training steps never contradicts each other: lengths, busy time, kernels and
FLOP of each step, from every trace that names its steps and from a simulated run whose host runs ahead of the GPU.

  test_step_agreement.py --tracetool PATH --traces DIR [--agent PATH --simulated PATH]
"""
import json
from collections import Counter, defaultdict

from harness import Folder, check, run
from test_analyze import run_checks, tables
from trace_sets import folders, inputs
from truth import train

H100 = "modded-nanogpt-8xh100"
# Between the ends of the work that consecutive steps launched, measured by a program of its own: on every rank within these, in ms.
H100_STEPS = {10: (36.05, 36.33), 11: (47.33, 48.36), 12: (42.70, 42.80), 13: (41.13, 41.81)}


def keyed(rows, *columns):
    """{(process, device, step): values}; steps of one number keep their order."""
    found, times = {}, Counter()
    for row in rows:
        key = (row["rank"], row.get("device"), row["step"])
        found[*key, times[key]] = tuple(row[column] for column in columns)
        times[key] += 1
    return found


def check_input(options, name, paths):
    """How many steps were compared."""
    said = tables(options, *paths, "--only", "steps,temporal,step_phases,idle,mfu", "--by", "step")
    rows = [row for row in said.get("steps", []) if row["device"] is not None]
    if not rows:
        return 0
    steps = keyed(rows, "duration_ns", "busy_ns", "exposed_comm_ns")
    check(keyed((row for row in said["temporal"] if row["device"] is not None), "span_ns", "busy_ns", "exposed_comm_ns") == steps,
          f"{name}: temporal and steps agree on {len(steps)} steps")
    busy = {key: values[1] for key, values in steps.items()}
    phases = keyed(said["step_phases"], "busy_ns")
    check(all(busy[key] == values[0] for key, values in phases.items()), f"{name}: step_phases and steps agree on busy time", phases)
    idle = keyed((row for row in said["idle"] if row["device"] is not None), "idle_ns")
    check(all(steps[key][0] - steps[key][1] == values[0] for key, values in idle.items()), f"{name}: idle and steps agree on idle time", idle)
    lengths = keyed(said["mfu"], "step_ns")
    check(all(steps[key][0] == values[0] for key, values in lengths.items()), f"{name}: mfu and steps agree on lengths", lengths)
    check_ends(name, rows)
    check_whole(options, name, paths, said)
    check_kernels(options, name, paths, rows)
    return len(steps)


def check_whole(options, name, paths, by_step):
    """Idle time of all steps of a GPU is no more than that of the whole trace, but for what a note says is before its first work."""
    for table in ("temporal", "idle"):
        idle = Counter()
        for row in by_step[table]:
            idle[row["rank"], row["device"]] += row["idle_ns"] or 0
        whole = Counter()
        for row in tables(options, *paths, "--only", table)[table]:
            whole[row["rank"], row["device"]] += row["idle_ns"] or 0
        more = {gpu: ns - whole[gpu] for gpu, ns in idle.items() if ns > whole[gpu]}
        said = "before the first GPU work in the trace" in run([options.tracetool, "analyze", *map(str, paths), "--only", table, "--by", "step"]).stdout
        check(said or not more, f"{name}: {table} says why steps idle longer than the trace", more)


def check_ends(name, rows):
    """Each step begins when the work before it had ended: not before the step before it ends, on any device of a process."""
    ends = {}
    for row in sorted(rows, key=lambda row: row["host_start_ns"]):
        key = row["rank"], row["device"]
        if not check(row["start_ns"] >= ends.get(key, row["start_ns"]), f"{name}: steps of a GPU follow each other", row):
            return
        ends[key] = row["start_ns"] + row["duration_ns"]


def check_kernels(options, name, paths, rows):
    """Of the last step: what kernels counts in it, and an export writes of it, is what steps says."""
    number = rows[-1]["step"]
    own = {row["rank"]: row["kernels"] for row in rows if row["step"] == number}
    once = Counter((row["rank"], row["device"]) for row in rows if row["step"] == number)
    if max(once.values()) > 1 or len({key[0] for key in once}) < len(once):
        return  # a number that comes again, or several GPUs of one process
    words = (*paths, "--steps", number)
    counted = sum(row["count"] for row in tables(options, *words, "--only", "kernels").get("kernels", []))
    check(counted == sum(own.values()), f"{name}: kernels and steps agree on the kernels of step {number}", (counted, own))
    with Folder() as folder:
        done = run([options.tracetool, "export", "--chrome", *map(str, words), "--no-computed", "-o", f"{folder}/out.json"])
        check(done.returncode == 0, f"{name}: step {number} is exported", done.stderr)
        with open(f"{folder}/out.json", encoding="utf-8") as file:
            written = sum(event.get("ph") == "X" and event.get("cat", "").lower() == "kernel" for event in json.load(file)["traceEvents"])
    check(written == counted, f"{name}: an export of step {number} has its kernels", (written, counted))
    whole = tables(options, *words, "--only", "temporal").get("temporal", [])
    alone = {(row["rank"], row["device"]): row["duration_ns"] for row in rows if row["step"] == number and row["duration_ns"] > 0}
    check({(row["rank"], row["device"]): row["span_ns"] for row in whole if row["span_ns"]} == alone, f"{name}: --steps {number} lasts as long as the step", (whole, alone))


def check_h100(options, files):
    rows = tables(options, *files, "--only", "steps")["steps"]
    wrong = [row for row in rows if not H100_STEPS[row["step"]][0] <= row["duration_ns"] / 1e6 <= H100_STEPS[row["step"]][1]]
    check(len(rows) == 32 and not wrong, f"{H100}: each step lasts from the end of the work before it to the end of its own", wrong)
    mfu = tables(options, *files, "--only", "mfu")["mfu"]
    check(all(abs(row["operator_tflop"] - 11.29) < 0.01 for row in mfu), f"{H100}: each step launches 11.29 TFLOP", mfu)
    flop, steps = defaultdict(float), defaultdict(float)
    for row in tables(options, *files, "--only", "flops", "--by", "rank")["flops"]:
        flop[row["rank"]] += row["flop"] * row["count"] / 1e12
    for row in mfu:
        steps[row["rank"]] += row["operator_tflop"]
    check(all(abs(flop[rank] - steps[rank]) < 1e-6 for rank in flop), f"{H100}: mfu's steps sum to flops", (dict(flop), dict(steps)))
    nvjet = {number: sum(row["sum_ns"] for row in tables(options, files[3], "--steps", number, "--only", "kernels")["kernels"] if row["name"].startswith("nvjet"))
             for number in H100_STEPS}
    check(all(13.2e6 < ns < 13.8e6 for ns in nvjet.values()), f"{H100}: each step launches 13.3 to 13.7 ms of matrix products", nvjet)


def check_traces(options):
    count = 0
    with folders(options.traces) as some:
        for folder in some:
            for name, files in inputs(folder):
                count += check_input(options, name, files)
                if name == H100:
                    check_h100(options, files)
    check(True, f"{count} steps were compared")


def check_simulated(options):
    with Folder() as folder:
        done = train(options, folder, "--ranks", 2, "--steps", 8, "--ahead-us", 30_000)
        check(done.returncode == 0, "a host runs ahead", done.stderr)
        check(check_input(options, "a host that runs ahead", [f"{folder}/traces"]) == 16, "2 ranks of 8 steps were compared")


if __name__ == "__main__":
    run_checks(check_traces, simulated=(check_simulated,))
