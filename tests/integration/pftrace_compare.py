"""A native Perfetto file beside the JSON export of the same trace, and beside the counts of the input."""
import collections
import json
import math
import os
import subprocess
import sys
from decimal import Decimal

from harness import check, first, run
from pftrace_made import export

HERE = os.path.dirname(os.path.abspath(__file__))
POINTS = {"instant", "counter", "flow"}


def events_only(slices):
    return [s for s in slices if s.category != "computed"]


def check_counts(options, name, inputs, trace, arrows=True):
    result = subprocess.run([sys.executable, f"{HERE}/count_json.py", *inputs], capture_output=True, text=True, check=True)
    counted = [json.loads(line) for line in result.stdout.splitlines()]
    slices = sum(n for one in counted for kind, n in one["counts"].items() if kind not in POINTS)
    points = {kind: sum(one["counts"].get(kind, 0) for one in counted) for kind in POINTS}
    have = events_only(trace.slices)
    check(len(have) == slices, f"{name}: {slices} slices as in the input", len(have))
    check(len(trace.instants) == points["instant"], f"{name}: {points['instant']} instants", len(trace.instants))
    pairs = sum(flow["pairs"] for one in counted for flow in one["flows"].values())
    if arrows and any(one["flows"] for one in counted):
        have = len(trace.arrows()) - trace.between_ranks()
        check(have == pairs, f"{name}: {pairs} arrows as in the input", have)


class Json:
    """The Chrome form as a viewer reads it: an arrow binds to the slice that was opened last on its row."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            trace = json.load(file, parse_float=Decimal)
        self.base, self.names, self.slices, self.computed, self.counters = trace["baseTimeNanoseconds"], {}, [], [], []
        opened, ends = collections.defaultdict(list), collections.defaultdict(list)
        for place, e in enumerate(trace["traceEvents"]):
            if e["ph"] == "M" and e["name"] == "process_name":
                self.names[e["pid"]] = e["args"]["name"]
            elif e["ph"] == "X":
                opened[e["pid"], e["tid"]].append((self.ns(e["ts"]), place, e))
                (self.computed if e["cat"] == "computed" else self.slices).append(e)
            elif e["ph"] == "C" and e["cat"] == "computed":
                self.counters.append((self.names[e["pid"]], self.ns(e["ts"]), float(*e["args"].values())))
            elif e["ph"] in "stfi" and e.get("s") != "p":
                opened[e["pid"], e["tid"]].append((self.ns(e["ts"]), place, e))
        for row in opened.values():
            last = None
            for _, _, e in sorted(row, key=lambda o: o[:2]):
                if e["ph"] in "stf":
                    ends[e["id"]].append((e["ph"], last))
                else:
                    last = e
        self.pairs = []
        for arrow in ends.values():
            start = next(e for phase, e in arrow if phase == "s")
            self.pairs += [(start, e) for phase, e in arrow if phase != "s"]

    def ns(self, us):
        return int(us * 1000) + self.base

    def key(self, e):
        args = e.get("args", {})
        return (self.names[e["pid"]], e["cat"], args.get("full name", e["name"]), self.ns(e["ts"]), int(e["dur"] * 1000))


def plain(value):
    """A JSON value as the native form keeps it: what is nested, and null, as text."""
    if isinstance(value, (list, dict)) or value is None:
        return json.dumps(value, separators=(",", ":"), default=float)
    return float(value) if isinstance(value, Decimal) else value


def plain_args(args):
    made = {}
    for key, value in args.items():
        if isinstance(value, str) and value[:1] in "[{":
            try:
                value = json.dumps(json.loads(value), separators=(",", ":"))
            except ValueError:
                pass
        made[key] = plain(value)
    made.pop("full name", None)
    return json.dumps(made, sort_keys=True)


def key(trace, s):
    return trace.process_of(s).name, s.category, s.args.get("full name", s.name), s.start, s.duration


def differences(have, should):
    return lambda: f"only native {first((have - should).items(), 3)}, only JSON {first((should - have).items(), 3)}"


def check_against_json(options, name, inputs, trace, work):
    output = f"{work}/same.json"
    result = run([options.tracetool, "export", "--chrome", *inputs, "-o", output], timeout=600)
    if not check(result.returncode == 0, f"{name}: the JSON export", result.stderr):
        return
    other = Json(output)
    have = collections.Counter((*key(trace, s), plain_args(s.args)) for s in events_only(trace.slices))
    should = collections.Counter((*other.key(e), plain_args(e.get("args", {}))) for e in other.slices)
    check(have == should, f"{name}: {len(other.slices)} slices, times and arguments are those of the JSON export",
          differences(have, should))
    have = collections.Counter(tuple(sorted((key(trace, a), key(trace, b)))) for a, b in trace.arrows())
    should = collections.Counter(tuple(sorted((other.key(a), other.key(b)))) for a, b in other.pairs)
    check(have == should, f"{name}: {len(other.pairs)} arrows join the slices that they join in the JSON export",
          differences(have, should))


def check_computed(options, name, inputs, work, *more):
    """Of traces without counters of their own."""
    output = f"{work}/computed.json"
    trace = export(options, inputs, f"{work}/computed.pftrace", *more)
    result = run([options.tracetool, "export", "--chrome", *inputs, "--max-size", "0", *more, "-o", output], timeout=600)
    if trace is None or not check(result.returncode == 0, f"{name}: the JSON export", result.stderr):
        return
    other = Json(output)
    have = collections.Counter(key(trace, s) for s in trace.slices if s.category == "computed")
    should = collections.Counter(other.key(e) for e in other.computed)
    check(should and have == should, f"{name}: {len(other.computed)} computed slices are those of the JSON export",
          differences(have, should))
    values = sorted((trace.process_of(track).name, ns, value) for track, ns, value in trace.counters)
    same = len(values) == len(other.counters) and all(
        a[:2] == b[:2] and math.isclose(a[2], b[2], rel_tol=1e-4) for a, b in zip(values, sorted(other.counters)))
    check(same, f"{name}: {len(other.counters)} computed values are those of the JSON export", len(values))
