#!/usr/bin/env python3
"""CPU time and peak memory of tracetool beside the tools that people open and load traces with, on the same files: each
command with all that it starts, Chromium's processes too. CPU is user + system. Memory is the most that was seen, of
all processes together with shared pages counted once (PSS), or that one of them had at any time. Where a tool is absent
its rows say so.

  beside.py --tracetool PATH --traces FOLDER --work FOLDER [--hta PYTHON]

--hta: a Python that has HolisticTraceAnalysis. For Perfetto: scripts/setup.sh --viewer.
"""
import argparse
import glob
import os
import subprocess
import sys
import time

PROJECT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROCESSOR = f"{PROJECT}/scripts/viewer/trace_processor.py"
COUNT = "select count(*) from slice"
JSON = "import gzip, json, sys\nfor path in sys.argv[1:]: json.loads(gzip.open(path).read())"
NOTHING = '[{"ph": "X", "name": "nothing", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]'
HTA = """import sys
from hta.trace_analysis import TraceAnalysis
if len(sys.argv) > 1: TraceAnalysis(trace_dir=sys.argv[1])"""


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
    """(CPU seconds, peak MiB) of the command and all that it starts."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
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
    waited_s = ended[2].ru_utime + ended[2].ru_stime  # exact, but without what was not waited for
    return max(waited_s, sum(cpu_s.values())), peak_kib / 1024


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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("tracetool", "traces", "work"):
        parser.add_argument("--" + name, required=True, type=os.path.abspath)
    parser.add_argument("--hta")
    options = parser.parse_args()
    sys.path.insert(0, os.path.dirname(PROCESSOR))
    import viewers
    options.perfetto = not viewers.missing()
    ranks = sorted(glob.glob(f"{options.traces}/*.json.gz"))
    print(f"load {os.getloadavg()[0]:.1f}\n| tool | of | CPU s | peak MiB |\n|---|---|---|---|", flush=True)
    for tool, what, command in rows(options, ranks, options.work):
        figures = "{:.2f} | {:.0f}".format(*measure(command)) if command else "not installed |"
        print(f"| {tool} | {what} | {figures} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
