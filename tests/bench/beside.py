#!/usr/bin/env python3
"""CPU time, time and peak memory of tracetool beside the tools that people open and load traces with, on the same files: each
command with all that it starts, Chromium's processes too. CPU is user + system. Memory is the most that was seen, of
all processes together with shared pages counted once (PSS), or that one of them had at any time. Where a tool is absent
its rows say so. The second table compares `analyze` of all ranks with HTA, in turns, by the median and the least of all rounds:
`--only temporal` with its load and temporal breakdown, and every table that there is with its load and four analyses (temporal
breakdown, idle time of all ranks, overlap of communication and computation, kernel breakdown). HTA's import is not counted but in its memory. Each is run
twice there: for its memory, then for its times, with nobody looking on, because a look at a process's memory holds it up. The
least of all rounds is what the tools take where nobody else uses the machine; a tenth of a second is disturbed more than four are.

  beside.py --tracetool PATH --traces FOLDER --work FOLDER [--hta PYTHON] [--rounds N] [--only analyze]

--hta: a Python that has HolisticTraceAnalysis. For Perfetto: scripts/setup.sh --viewer.
"""
import argparse
import collections
import glob
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

PROJECT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROCESSOR = f"{PROJECT}/scripts/viewer/trace_processor.py"
COUNT = "select count(*) from slice"
JSON = "import gzip, json, sys\nfor path in sys.argv[1:]: json.loads(gzip.open(path).read())"
NOTHING = '[{"ph": "X", "name": "nothing", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]'
HTA = """import sys
from hta.trace_analysis import TraceAnalysis
if len(sys.argv) > 1: TraceAnalysis(trace_dir=sys.argv[1])"""
# Says what it took from behind the imports on, with all that it started.
HTA_TABLES = """import json, os, sys, time
from hta.trace_analysis import TraceAnalysis
before = os.times()
analysis = TraceAnalysis(trace_dir=sys.argv[1])
table = analysis.get_temporal_breakdown(visualize=False)
if sys.argv[2] == "all":
    analysis.get_idle_time_breakdown(ranks=list(range(len(table))), visualize=False)
    analysis.get_comm_comp_overlap(visualize=False)
    analysis.get_gpu_kernel_breakdown(visualize=False)
after = os.times()
print("\\n" + json.dumps([sum(after[:4]) - sum(before[:4]), after[4] - before[4], len(table)]))"""
Cost = collections.namedtuple("Cost", "cpu_s wall_s peak_mib said")


def family():
    """{pid: parent's pid, CPU seconds} of all processes."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        found[int(pid)] = int(fields[1]), (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return found


def descendants(of, everything):
    found, added = {of}, True
    while added:
        added = {pid for pid, (parent, _) in everything.items() if parent in found} - found
        found |= added
    return found & everything.keys()


def kib(pid, file, field):
    try:
        with open(f"/proc/{pid}/{file}", encoding="utf-8") as lines:
            return next((int(line.split()[1]) for line in lines if line.startswith(field)), 0)
    except OSError:
        return 0  # it has ended


def measure(command):
    """What the command and all that it starts cost, and what it says."""
    out = tempfile.TemporaryFile()
    begin_s = time.perf_counter()
    process = subprocess.Popen(command, stdout=out, stderr=subprocess.PIPE)
    cpu_s, peak_kib = {}, 0
    while (ended := os.wait4(process.pid, os.WNOHANG))[0] == 0:
        everything = family()
        alive = descendants(process.pid, everything)
        cpu_s.update({pid: everything[pid][1] for pid in alive})
        together_kib = sum(kib(pid, "smaps_rollup", "Pss:") for pid in alive)
        peak_kib = max([peak_kib, together_kib, *(kib(pid, "status", "VmHWM:") for pid in alive)])
        time.sleep(0.02)
    if ended[1] != 0:
        sys.exit(f"{' '.join(command)}: status {ended[1]}: {process.stderr.read().decode()[-500:]}")
    wall_s = time.perf_counter() - begin_s  # up to the pause between two looks too much
    out.seek(0)
    waited_s = ended[2].ru_utime + ended[2].ru_stime  # exact, but without what was not waited for
    return Cost(max(waited_s, sum(cpu_s.values())), wall_s, peak_kib / 1024, out.read().decode())


def timed(command):
    """The same without its memory, and without looking on: CPU is that of the command and all that it waited for."""
    out, errors = tempfile.TemporaryFile(), tempfile.TemporaryFile()
    begin_s = time.perf_counter()
    process = subprocess.Popen(command, stdout=out, stderr=errors)
    _, status, usage = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - begin_s
    process.returncode = status  # it is waited for
    if status != 0:
        errors.seek(0)
        sys.exit(f"{' '.join(command)}: status {status}: {errors.read().decode()[-500:]}")
    out.seek(0)
    return Cost(usage.ru_utime + usage.ru_stime, wall_s, 0, out.read().decode())


def rows(options, ranks, work):
    one, tool = ranks[0], options.tracetool
    merged, native, chrome = f"{work}/all.ttrace", f"{work}/all.pftrace", f"{work}/all.json"
    native_one = f"{work}/one.pftrace"
    export = [tool, "export", "--max-size", "0"]
    yield "tracetool merge", "all ranks", [tool, "merge", *ranks, "-o", merged]
    yield "tracetool export --pftrace", "the merged file", [*export, "--pftrace", merged, "-o", native]
    yield "tracetool export --chrome", "the merged file", [*export, "--chrome", merged, "-o", chrome]
    yield "tracetool export --pftrace", "all ranks", [*export, "--pftrace", *ranks, "-o", native]
    yield "tracetool export --pftrace", "one rank", [*export, "--pftrace", one, "-o", native_one]
    yield "Python, json.loads", "one rank", [sys.executable, "-c", JSON, one]
    yield "Python, json.loads, one after the other", "all ranks", [sys.executable, "-c", JSON, *ranks]
    yield "HTA, import", "nothing", options.hta and [options.hta, "-c", HTA]
    yield "HTA, TraceAnalysis()", "all ranks", options.hta and [options.hta, "-c", HTA, options.traces]
    with open(f"{work}/nothing.json", "w", encoding="utf-8") as file:
        file.write(NOTHING)
    for what, path in (("one slice", f"{work}/nothing.json"), ("one rank", one),
                       ("our native file of one rank", native_one), ("our Chrome JSON of all ranks", chrome),
                       ("our native file of all ranks", native)):
        yield "Perfetto in Chromium", what, options.perfetto and [sys.executable, PROCESSOR, "-Q", COUNT, path]


def tables(options, ranks, what, only, its):
    """Both in turns; each line is a tool, then how many times as much HTA takes."""
    our_command = [options.tracetool, "analyze", "--only", only, "--format", "json", *ranks]
    their_command = [options.hta, "-c", HTA_TABLES, options.traces, what]
    ours, theirs = [], []
    for _ in range(options.rounds):
        for costs, command in ((ours, our_command), (theirs, their_command)):
            peak_mib = measure(command).peak_mib  # first, so that the timed run finds caches and free memory as it would when repeated
            costs.append(timed(command)._replace(peak_mib=peak_mib))
        cpu_s, wall_s, count = json.loads(theirs[-1].said.splitlines()[-1])
        theirs[-1] = theirs[-1]._replace(cpu_s=cpu_s, wall_s=wall_s)
        if count != len(json.loads(ours[-1].said)["temporal"]) or count != len(ranks):
            sys.exit(f"not a row for each rank: {count}")
    for which, pick in (("median", statistics.median), ("least", min)):
        own, others = ([(pick if i < 2 else statistics.median)(cost[i] for cost in costs) for i in range(3)] for costs in (ours, theirs))
        for tool, figures in ((f"tracetool analyze, {what}", own), (f"HTA, TraceAnalysis() and {its}", others),
                              ("HTA / tracetool", [b / a for a, b in zip(own, others)])):
            print(f"| {tool}, {which} | {figures[0]:.3f} | {figures[1]:.3f} | {figures[2]:.1f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("tracetool", "traces", "work"):
        parser.add_argument("--" + name, required=True, type=os.path.abspath)
    parser.add_argument("--hta")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", choices=["analyze"])
    options = parser.parse_args()
    sys.path.insert(0, os.path.dirname(PROCESSOR))
    import viewers
    options.perfetto = not viewers.missing()
    ranks = sorted(glob.glob(f"{options.traces}/*.json.gz"))
    print(f"load {os.getloadavg()[0]:.1f}\n", flush=True)
    if not options.only:
        print("| tool | of | CPU s | peak MiB |\n|---|---|---|---|", flush=True)
        for tool, what, command in rows(options, ranks, options.work):
            cost = measure(command) if command else None
            print(f"| {tool} | {what} | " + (f"{cost.cpu_s:.2f} | {cost.peak_mib:.0f} |" if cost else "not installed | |"), flush=True)
        print(flush=True)
    print(f"| tables of all ranks, {options.rounds} rounds | CPU s | s | peak MiB |\n|---|---|---|---|", flush=True)
    if options.hta:
        listed = subprocess.run([options.tracetool, "analyze", "--list"], check=True, capture_output=True, text=True).stdout
        tables(options, ranks, "temporal", "temporal", "get_temporal_breakdown()")
        tables(options, ranks, "all", ",".join(re.findall(r"^(\w+):", listed, re.MULTILINE)), "four analyses")
    else:
        print("| HTA | not installed | | |")


if __name__ == "__main__":
    sys.exit(main())
