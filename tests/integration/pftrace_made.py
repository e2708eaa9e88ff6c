"""Native Perfetto files of traces that are made up: hostile names, compression, arrows at render stages."""
import gzip
import json
import os
import shutil

import pftrace
from harness import check, run


def export(options, inputs, output, *more):
    result = run([options.tracetool, "export", "--pftrace", *inputs, "-o", output, *more], timeout=600)
    if not check(result.returncode == 0, f"export --pftrace {' '.join(more)} of {os.path.basename(inputs[0])}", result.stderr):
        return None
    try:
        return pftrace.Trace().read(output)
    except pftrace.Broken as error:
        check(False, f"what was written of {inputs[0]}", error)
        return None


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
        check(trace is not None and len(trace.arrows()) == said["flows"] == arrows,
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
