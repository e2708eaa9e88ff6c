"""A native Perfetto file through Perfetto's own reader, where TRACE_PROCESSOR names it or scripts/viewer has it."""
import csv
import io
import os
import subprocess
import sys

from harness import check

HERE = os.path.dirname(os.path.abspath(__file__))
ASKED = {
    "slices": "select count(*) from slice", "arrows": "select count(*) from flow",
    "counters": "select count(*) from counter",
    "errors": "select name || ' ' || value from stats where severity in ('error', 'data_loss') and value > 0",
}


def find_processor():
    """The program that TRACE_PROCESSOR names, else the one in Perfetto's UI where scripts/viewer finds that, or None."""
    viewer = os.path.join(HERE, "../../scripts/viewer")
    sys.path.insert(0, viewer)
    import viewers
    return os.environ.get("TRACE_PROCESSOR") or (None if viewers.missing() else f"{viewer}/trace_processor.py")


def ask(processor, sql, path):
    command = [sys.executable, processor] if processor.endswith(".py") else [processor]
    result = subprocess.run([*command, "-Q", sql, path], capture_output=True, text=True, timeout=300)
    if result.returncode != 0:
        raise RuntimeError(result.stderr[-2000:])
    return [row for row in csv.reader(io.StringIO(result.stdout)) if row][1:]


def check_processor(name, path, trace):
    processor = find_processor()
    if not processor:
        return
    have = {what: ask(processor, sql, path) for what, sql in ASKED.items()}
    should = {"slices": len(trace.slices) + len(trace.instants), "arrows": len(trace.arrows()),
              "counters": len(trace.counters)}
    for what, number in should.items():
        check(int(have[what][0][0]) == number, f"{name}: trace_processor counts {number} {what}", have[what])
    check(not have["errors"], f"{name}: trace_processor has no errors", have["errors"])
