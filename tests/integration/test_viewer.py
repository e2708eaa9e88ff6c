#!/usr/bin/env python3
"""The exports in the viewers that people open them in, offline (scripts/viewer): Perfetto's UI and the trace viewer of
chrome://tracing hold every slice and every arrow, at its time, and have nothing to complain of.

  test_viewer.py --tracetool PATH --traces FOLDER [--agent PATH --simulated PATH]     exit 77 where no viewer is
"""
import argparse
import collections
import glob
import json
import os
import re
import sys
from decimal import Decimal

from harness import Folder, check, first, finish, run, skip

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts/viewer"))
import viewers  # noqa: E402

SLICES = """select coalesce(process.name, upid_of.name), slice.name, slice.category, slice.ts, slice.dur from slice
  left join thread_track on slice.track_id = thread_track.id left join thread using (utid)
  left join process using (upid)
  left join process_track on slice.track_id = process_track.id
  left join process as upid_of on process_track.upid = upid_of.upid"""
ARROWS = """select a.name, a.ts, b.name, b.ts from flow join slice a on a.id = slice_out join slice b on b.id = slice_in"""
ERRORS = "select name, severity, value from stats where severity in ('error', 'data_loss') and value > 0"


def ns(us):
    return int(us * 1000)


def slices_of(trace):
    """What the JSON says, read by Python: Counter of (name, category, start, duration), in nanoseconds."""
    return collections.Counter((e["name"], e["cat"], ns(e["ts"]), ns(e.get("dur", 0)))
                               for e in trace if e["ph"] in "Xi")


def arrows_of(trace):
    return collections.Counter(e["ph"] for e in trace if e["ph"] in "sf")["f"]


def said(summary):
    """The numbers that export prints; what it computed besides the events are slices and values like others."""
    line = re.search(r"([\d,]+) slices, ([\d,]+) instants, ([\d,]+) counter values, ([\d,]+) flows", summary)
    computed = re.search(r"derived tracks: ([\d,]+) slices .*, ([\d,]+) counter values", summary)
    if not line:
        return [-1] * 4
    slices, instants, counters, arrows = (int(number.replace(",", "")) for number in line.groups())
    more_slices, more_values = (int(number.replace(",", "")) for number in computed.groups()) if computed else (0, 0)
    between_ranks = re.search(r"([\d,]+) flows between ranks", summary)
    arrows += int(between_ranks[1].replace(",", "")) if between_ranks else 0
    return [slices + more_slices, instants, counters + more_values, arrows]


def differences(have, should):
    return lambda: f"only in the viewer {first((have - should).items(), 3)}, only in the file {first((should - have).items(), 3)}"


def check_perfetto(name, file, trace, summary):
    slices, instants, _, arrows = said(summary)
    with viewers.Perfetto(file) as viewer:
        rows, flows, errors = viewer.rows(SLICES), viewer.rows(ARROWS), viewer.rows(ERRORS)
    have = collections.Counter((row[1], row[2], row[3], row[4]) for row in rows)
    check(have == slices_of(trace), f"{name}: Perfetto holds every slice at its time", differences(have, slices_of(trace)))
    check(len(rows) == slices + instants, f"{name}: Perfetto counts what export said", f"{len(rows)}: {summary}")
    check(len(flows) == arrows == arrows_of(trace), f"{name}: Perfetto draws every arrow", f"{len(flows)}: {summary}")
    check(not errors, f"{name}: Perfetto's trace processor has no error", errors)
    check(all(row[0] for row in rows), f"{name}: every slice is in a process with a name")


def check_catapult(name, file, summary):
    slices, instants, counters, arrows = said(summary)
    have = viewers.count_in_catapult(file)
    check(not have["warnings"], f"{name}: the viewer of chrome://tracing has no warning", have["warnings"])
    check(have["slices"] + have["instants"] == slices + instants, f"{name}: it holds every slice", f"{have}: {summary}")
    check(have["arrows"] == arrows, f"{name}: it draws every arrow", f"{have}: {summary}")


def check_export(options, name, source, work):
    file = f"{work}/{name}.json"
    result = run([options.tracetool, "export", "--chrome", *source, "-o", file])
    summary = result.stdout + result.stderr
    if not check(result.returncode == 0, f"{name}: exported", summary):
        return
    with open(file, encoding="utf-8") as text:
        trace = json.load(text, parse_float=Decimal, parse_int=Decimal)["traceEvents"]
    check_perfetto(name, file, trace, summary)
    check_catapult(name, file, summary)


def sources(options, work):
    """(name, inputs) of what is looked at."""
    if options.simulated:
        result = run([options.simulated, "--agent", options.agent, "--dir", f"{work}/traces", "--ranks", "2", "--steps", "5"])
        check(result.returncode == 0, "a simulated run is recorded", result.stderr)
        yield "simulated", [f"{work}/traces"]
    ranks = sorted(glob.glob(f"{options.traces}/modded-nanogpt-8xh100/rank[01]-*"))
    if ranks:
        yield "h100", ranks
    else:
        print(f"left out: the H100 traces, which are not in {options.traces}")


def main():
    parser = argparse.ArgumentParser()
    for name in ("tracetool", "traces", "agent", "simulated"):
        parser.add_argument("--" + name, required=name in ("tracetool", "traces"), type=os.path.abspath)
    options = parser.parse_args()
    if viewers.missing():
        skip(f"no {viewers.missing()}: scripts/setup.sh --viewer fetches them")
    with Folder() as work:
        for name, source in sources(options, work):
            check_export(options, name, source, work)
    finish()


if __name__ == "__main__":
    main()
