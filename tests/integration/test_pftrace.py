#!/usr/bin/env python3
"""The native Perfetto export against independent readers: pftrace.py, which knows the protos alone; the JSON export of
the same trace, slice by slice and arrow by arrow; the counts of the input; and Perfetto's own trace_processor, where
TRACE_PROCESSOR names it or scripts/viewer has it.

  test_pftrace.py --tracetool PATH --traces FOLDER [--agent PATH --simulated PATH]
"""
import argparse
import collections
import csv
import glob
import gzip
import io
import json
import os
import re
import shutil
import subprocess
import sys
from decimal import Decimal

import pftrace
from harness import Folder, check, finish, first, run

HERE = os.path.dirname(os.path.abspath(__file__))
SETS = ("modded-nanogpt-8xh100", "dlrm-8xv100", "sampled-2of128")
POINTS = {"instant", "counter", "flow"}
ASKED = {
    "slices": "select count(*) from slice", "arrows": "select count(*) from flow",
    "counters": "select count(*) from counter",
    "errors": "select name || ' ' || value from stats where severity in ('error', 'data_loss') and value > 0",
}


def export(options, inputs, output, *more):
    result = run([options.tracetool, "export", "--pftrace", *inputs, "-o", output, *more], timeout=600)
    if not check(result.returncode == 0, f"export --pftrace {' '.join(more)} of {os.path.basename(inputs[0])}", result.stderr):
        return None
    try:
        return pftrace.Trace().read(output)
    except pftrace.Broken as error:
        check(False, f"what was written of {inputs[0]}", error)
        return None


def events_only(slices):
    return [s for s in slices if s.category != "computed"]


# --- the counts of the input

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
        check(len(trace.arrows()) == pairs, f"{name}: {pairs} arrows as in the input", len(trace.arrows()))


# --- the JSON export of the same trace

class Json:
    """The Chrome form as a viewer reads it: an arrow binds to the slice that was opened last on its row."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            trace = json.load(file, parse_float=Decimal)
        self.base, self.names, self.slices = trace["baseTimeNanoseconds"], {}, []
        opened, ends = collections.defaultdict(list), collections.defaultdict(list)
        for place, e in enumerate(trace["traceEvents"]):
            if e["ph"] == "M" and e["name"] == "process_name":
                self.names[e["pid"]] = e["args"]["name"]
            elif e["ph"] == "X":
                opened[e["pid"], e["tid"]].append((self.ns(e["ts"]), place, e))
                if e["cat"] != "computed":
                    self.slices.append(e)
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


# --- Perfetto's own reader

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


# --- what is looked at

def real_traces(options):
    for name in SETS:
        files = sorted(glob.glob(f"{options.traces}/{name}/*.json*"))
        if files:
            yield name, files
    for path in sorted(glob.glob(f"{options.traces}/*/*.json*")):
        if path.split("/")[-2] not in SETS:
            yield os.path.basename(path), [path]


def check_real(options, work):
    for name, inputs in real_traces(options):
        merged = f"{work}/m.ttrace"
        run([options.tracetool, "merge", *inputs, "-o", merged], timeout=600)
        trace = export(options, [merged], f"{work}/t.pftrace")
        if trace is None:
            continue
        check_counts(options, name, inputs, trace)
        check(trace.compressed_chunks > 0, f"{name}: its packets are compressed")
        if name == SETS[0]:
            check_against_json(options, name, [merged], trace, work)
            check_processor(name, f"{work}/t.pftrace", trace)
            check_gpu_tracks(options, name, inputs, merged, trace, work)


def check_gpu_tracks(options, name, inputs, merged, trace, work):
    staged = export(options, [merged], f"{work}/g.pftrace", "--gpu-tracks")
    if staged is None:
        return
    check_counts(options, f"{name} --gpu-tracks", inputs, staged)
    work_of = lambda t: collections.Counter((s.name, s.start, s.duration) for s in t.slices
                                            if s.gpu is not None or s.category in pftrace.GPU_WORK)
    check(work_of(staged) == work_of(trace), f"{name}: render stages are the kernels, copies and sets")
    check(len(staged.gpus) == 8, f"{name}: eight GPUs are described", staged.gpus)
    kernels = [s for s in staged.slices if s.gpu is not None and s.category == "kernel"]
    check(kernels and all(len(s.args["grid size"]) == 3 and len(s.args["workgroup size"]) == 3 for s in kernels),
          f"{name}: kernels have their launch shape")


def check_simulated(options, work):
    if not options.simulated:
        return
    result = run([options.simulated, "--agent", options.agent, "--dir", f"{work}/traces", "--ranks", "2", "--steps", "5"])
    check(result.returncode == 0, "a simulated run is recorded", result.stderr)
    trace = export(options, [f"{work}/traces"], f"{work}/s.pftrace")
    if trace is None:
        return
    ranks = json.loads(run([options.tracetool, "info", "--json", f"{work}/traces"]).stdout)["ranks"]
    have = collections.Counter((trace.rank_of(s), s.category) for s in trace.slices)
    for rank in ranks:
        for kind, category in (("kernel", "kernel"), ("memcpy", "gpu_memcpy"), ("memset", "gpu_memset"),
                               ("runtime", "cuda_runtime"), ("driver", "cuda_driver"), ("nccl", "nccl")):
            check(have[rank["rank"], category] == rank["counts"].get(kind, 0),
                  f"simulated: rank {rank['rank']} has its {kind} events", have[rank["rank"], category])
    check_against_json(options, "simulated", [f"{work}/traces"], trace, work)
    check_processor("simulated", f"{work}/s.pftrace", trace)


def flow(phase, pid, tid, ts, category, number=1):
    return {"ph": phase, "id": number, "pid": pid, "tid": tid, "ts": ts, "cat": category, "name": category, "bp": "e"}


def check_stage_flows(options, work):
    """Flow events that a render stage cannot hold: of an arrow too many, out of it, in its middle."""
    slices = [("cpu_op", "op", 7, 7, 0, 100, {}), ("cuda_runtime", "cudaLaunchKernel", 7, 7, 10, 5, {"correlation": 9}),
              ("kernel", "k", 0, 7, 60, 10, {"correlation": 9, "stream": 7, "device": 0}), ("cpu_op", "end", 7, 7, 200, 9, {})]
    events = [dict(zip(("cat", "name", "pid", "tid", "ts", "dur", "args"), s), ph="X") for s in slices]
    events += [flow("s", 7, 7, 10, "ac2g", 9), flow("f", 0, 7, 60, "ac2g", 9), flow("s", 7, 7, 10, "more"), flow("f", 0, 7, 60, "more"),
               flow("s", 0, 7, 60, "back"), flow("f", 7, 7, 200, "back"), flow("s", 7, 7, 20, "late"), flow("f", 0, 7, 65, "late")]
    path = f"{work}/stages.json"
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"traceEvents": events, "distributedInfo": {"rank": 0}}, file)
    for more, arrows in (([], 4), (["--gpu-tracks"], 1)):
        trace = export(options, [path], f"{work}/stages.pftrace", *more)
        said = json.loads(run([options.tracetool, "export", "--pftrace", path, "-o", f"{work}/stages.pftrace", "--json", *more]).stdout)
        check(trace is not None and len(trace.arrows()) == said["arrows"] == arrows,
              f"flows at GPU work {' '.join(more)}: {arrows} arrows in the file are those that are said", said)
    check((said["undrawable_flows"], said["one_ended_flows"]) == (3, 3), "what a stage cannot show is said", said)


HOSTILE = ['quote " and \\ backslash', "controls \x00\x01\x1f\x7f", "newline\nand tab\t", "\u20ac \U0001f600 \ufffd",
           "void " + "ns::deep<" * 8000 + "int" + ">" * 8000 + "(int)", " ", "[]{}'`"]


def check_hostile(options, work):
    events = [{"ph": "X", "cat": "cpu_op", "name": name, "pid": 7, "tid": 7, "ts": 10 * i + 0.001, "dur": 5.002,
               "args": {name[:50]: name, "nested": {"a": [name[:50], None, -1.5e300, 18446744073709551615]},
                        "big": 123456789012345678901234567890, "negative": -3, "true": True, "null": None}}
              for i, name in enumerate(HOSTILE)]
    path = f"{work}/hostile.json"
    data = json.dumps({"traceEvents": events, "distributedInfo": {"rank": 0}}).encode()
    with open(path, "wb") as file:
        file.write(data)
    trace = export(options, [path], f"{work}/h.pftrace")
    if trace is None:
        return
    check([s.name for s in trace.slices] == HOSTILE, "hostile names come out as they are", [s.name[:60] for s in trace.slices])
    args = trace.slices[0].args
    check(args[HOSTILE[0]] == HOSTILE[0] and args["negative"] == -3 and args["true"] is True, "and as arguments", args)
    check(json.loads(args["nested"]) == events[0]["args"]["nested"], "what is nested is the same JSON", args)
    check(trace.slices[0].start - trace.slices[1].start == -10_000 and trace.slices[0].duration == 5002, "to the nanosecond")


def check_forms(options, work):
    """The same trace, whatever is compressed."""
    path = f"{work}/hostile.json"
    plain_text = list(pftrace.as_text(pftrace.Trace().read(f"{work}/h.pftrace")))
    whole = export(options, [path], f"{work}/h.pftrace.gz")
    with open(f"{work}/h.pftrace.gz", "rb") as file:
        check(gzip.decompress(file.read())[:1] == b"\x0a", "an ending in .gz compresses the whole file")
    check(whole.compressed_chunks == 0 and list(pftrace.as_text(whole)) == plain_text, "it holds the same, once compressed")
    bare = export(options, [path], f"{work}/b.pftrace", "--compress", "none")
    check(bare is not None and list(pftrace.as_text(bare)) == plain_text, "--compress none holds the same")
    if shutil.which("zstd"):
        small = export(options, [path], f"{work}/z.pftrace", "--compress", "zstd")
        check(small is not None and small.compressed_chunks == 1 and list(pftrace.as_text(small)) == plain_text,
              "--compress zstd holds the same")
    else:
        print("left out: zstd packets: there is no zstd program")
    named = run([options.tracetool, "export", "--perfetto", path, "-o", f"{work}/p.pftrace"])
    check(named.returncode == 0 and list(pftrace.as_text(pftrace.Trace().read(f"{work}/p.pftrace"))) == plain_text,
          "--perfetto with an ending of .pftrace is the native form", named.stderr)


def main():
    parser = argparse.ArgumentParser()
    for name in ("tracetool", "traces", "agent", "simulated"):
        parser.add_argument("--" + name, required=name in ("tracetool", "traces"), type=os.path.abspath)
    options = parser.parse_args()
    with Folder() as work:
        check_hostile(options, work)
        check_forms(options, work)
        check_stage_flows(options, work)
        check_simulated(options, work)
        if not os.path.isdir(options.traces):
            print(f"left out: real traces, which are not in {options.traces}")
        check_real(options, work)
    if not find_processor():
        print("left out: Perfetto's own reader: TRACE_PROCESSOR names none, and scripts/viewer has none")
    finish()


if __name__ == "__main__":
    main()
