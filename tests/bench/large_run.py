#!/usr/bin/env python3
"""Time and memory of merging and analysing large runs, with synthesized ones: from the parts of their nodes 1,024 ranks with 10,000 and 100,000
events each, and 10,000 ranks with 2,000; from recordings the first of these. Offsets of clocks are compared with those that were planted.

  large_run.py --tracetool PATH --maker PATH --work FOLDER [--small]

--maker: tests/bench/many_ranks of a build. FOLDER: some 8 GB are written there, and removed. --small: a few ranks, to try it out. Memory is
the maximum resident set size; a rate is of wall time. Exit status 1: a command used more memory than the number of ranks allows, in a run of
2 steps.
"""
import argparse
import collections
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

MIB, GIB = 1 << 20, 1 << 30
FIXED, PER_RANK = GIB // 4, GIB * 3 // 4 // 10_000  # bytes that every command may use: 1 GiB for 10,000 ranks
RANKS_PER_HOST = 8
Cost = collections.namedtuple("Cost", "wall_s cpu_s peak_bytes stdout")


def measure(*command):
    begin = time.monotonic()
    with tempfile.TemporaryFile("w+", encoding="utf-8") as out, open(os.devnull, "w", encoding="utf-8") as nothing:
        process = subprocess.Popen(command, stdout=out, stderr=nothing)
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{' '.join(command[:3])} ...: exit status {process.returncode}")
        out.seek(0)
        return Cost(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, out.read())


def say(what, budget, holds, text):
    """`budget` "": there is none."""
    print(f"{what:<52} {budget:<30} {'' if not budget else 'held' if holds else 'MISSED':<7} {text}", flush=True)


def cost_text(cost, events=None):
    rate = f"{events / cost.wall_s / 1e6:.2f} M events/s, " if events else ""
    return f"{rate}{cost.wall_s:.2f} s, {cost.cpu_s:.2f} s of CPU, {cost.peak_bytes / 2**20:.0f} MiB"


def check_clocks(report, planted):
    """The largest error of an offset, in ns, and whether each planted one lies within its bounds."""
    with open(report, encoding="utf-8") as file:
        hosts = {int(host["host"][4:]): host for host in json.load(file)["hosts"]}
    errors = [abs(-hosts[number]["offset_ns"] - ahead) for number, ahead in enumerate(planted)]
    return max(errors), len(hosts)


def merge_run(options, hosts, steps, *form):
    """(events, merge's cost)"""
    inputs, merged, report = f"{options.work}/inputs", f"{options.work}/run.ttrace", f"{options.work}/clocks.json"
    shutil.rmtree(inputs, ignore_errors=True)
    made = measure(options.maker, inputs, str(hosts), str(RANKS_PER_HOST), str(steps), *form).stdout.split()
    events, planted = int(made[0]), [int(each) for each in made[1:]]
    merge = measure(options.tracetool, "merge", *sorted(glob.glob(f"{inputs}/*")), "-o", merged, "--report", report)
    shutil.rmtree(inputs)
    ranks = hosts * RANKS_PER_HOST
    say(f"merge {ranks} {' '.join(form) or 'ranks'} x {events // ranks} events", ">= 3 M events/s, <= 1 GiB",
        events / merge.wall_s >= 3e6 and merge.peak_bytes <= GIB, f"{cost_text(merge, events)}, {os.path.getsize(merged) / events:.2f} B an event")
    error, count = check_clocks(report, planted)
    say("... offsets of the clocks", "all hosts", count == hosts, f"{count} hosts, the largest error {error / 1e3:.1f} us")
    return events, merge


def one_run(options, hosts, steps):
    """(events, what each command cost)"""
    merged, step, page = f"{options.work}/run.ttrace", f"{options.work}/step.json", f"{options.work}/report.html"
    events, merge = merge_run(options, hosts, steps)
    costs = {"merge": merge}
    for tables in ("collectives", "stragglers", "temporal,kernels"):
        costs[tables] = cost = measure(options.tracetool, "analyze", merged, "--only", tables, "--format", "json")
        rate = tables == "collectives" and steps > 2
        say(f"... analyze --only {tables}", f"{'>= 3 M events/s, ' if rate else ''}<= 1 GiB",
            cost.peak_bytes <= GIB and (not rate or events / cost.wall_s >= 3e6), cost_text(cost, events))
    listed = subprocess.run([options.tracetool, "analyze", "--list"], check=True, capture_output=True, text=True).stdout
    every = ",".join(re.findall(r"^(\w+):", listed, re.MULTILINE))
    for name, command in (("info", ["info", merged]), ("analyze, every table", ["analyze", merged, "--only", every, "--format", "json"]), ("diagnose", ["diagnose", merged]),
                          ("report", ["report", merged, "-o", page]), ("diff with itself", ["diff", merged, merged])):
        costs[name] = cost = measure(options.tracetool, *command)
        say(f"... {name}", "<= 1 GiB", cost.peak_bytes <= GIB, cost_text(cost, events))
    export = measure(options.tracetool, "export", "--perfetto", merged, "--ranks", "0-7", "--steps", str(steps // 2), "-o", step)
    say("... export one step of 8 ranks", "<= 2 s" if steps > 2 else "", export.wall_s <= 2, f"{cost_text(export)}, {os.path.getsize(step) / 1e6:.1f} MB")
    return events, costs


def check_memory(options, hosts):
    """Every command on a run of 2 steps, as well as exports and another merge of all ranks. Returns false if one used too much memory."""
    _, costs = one_run(options, hosts, 2)
    merged, out = f"{options.work}/run.ttrace", f"{options.work}/whole"
    allowed = FIXED + PER_RANK * hosts * RANKS_PER_HOST
    for form in ("pftrace", "perfetto", "chrome", "kineto", "merge", "merge --partial"):
        words = form.split() if form.startswith("merge") else ["export", f"--{form}"]
        name = " ".join(words) + " of all ranks"
        os.makedirs(out)
        costs[name] = cost = measure(options.tracetool, *words, merged, "-o", f"{out}/{words[-1].strip('-')}")
        shutil.rmtree(out)
        say(f"... {name}", "<= 1 GiB", cost.peak_bytes <= GIB, cost_text(cost))
    above = {name: cost.peak_bytes for name, cost in costs.items() if cost.peak_bytes > allowed}
    say(f"the memory of every command, {hosts * RANKS_PER_HOST} ranks", f"<= {allowed >> 20} MiB", not above, ", ".join(f"{name} {peak >> 20} MiB" for name, peak in above.items()))
    return not above


def main():
    parser = argparse.ArgumentParser()
    for name in ("tracetool", "maker", "work"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    hosts = 2 if options.small else 128
    few, few_costs = one_run(options, hosts, 2 if options.small else 10)
    many, many_costs = one_run(options, hosts, 4 if options.small else 100)
    for what in few_costs:
        grown, took = many / few, many_costs[what].wall_s / few_costs[what].wall_s
        say(f"{what}: {grown:.1f} times the events", "at most 1.05 times that" if what in ("merge", "collectives") else "", took <= 1.05 * grown, f"{took:.2f} times the time")
    merge_run(options, hosts, 2 if options.small else 10, "rings")
    is_bounded = check_memory(options, 4 if options.small else 1250)
    for name in ("run.ttrace", "clocks.json", "step.json", "report.html"):
        os.remove(f"{options.work}/{name}")
    return 0 if is_bounded else 1


if __name__ == "__main__":
    sys.exit(main())
