"""What the tests of `export` share: a small trace, the command, and its output, read by Python."""
import collections
import gzip
import json
import os
import subprocess


def load(data):
    return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)


def slices(trace):
    return [e for e in trace["traceEvents"] if e["ph"] == "X"]


def key(event):
    return event["pid"], event.get("cat"), event["name"], round(event["ts"] * 1000), round(event["dur"] * 1000)


def multiset(events):
    return collections.Counter(key(e) for e in events)


class Tool:
    def __init__(self, program, trace):
        self.program, self.trace = program, trace

    def run(self, *options, trace=None, **more):
        return subprocess.run([self.program, "export", trace or self.trace, *options], capture_output=True, **more)

    def json(self, *options):
        result = self.run("--perfetto", "--no-computed", "--max-size", "0", *options, "-o", "-")
        return load(result.stdout) if result.returncode == 0 else result.stderr.decode()


def small_rank(rank, steps=4, kernels=30):
    """Kineto JSON of a rank whose GPU work runs late: a good half of a step after its launch."""
    events, correlation = [], 1
    for step in range(steps):
        begin = 1000.5 * step
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step + 3}", "pid": 10, "tid": 10,
                       "ts": begin, "dur": 1000.25})
        for i in range(kernels):
            at = begin + 10 + 30 * i
            events += [
                {"ph": "X", "cat": "cpu_op", "name": f"aten::op{i}", "pid": 10, "tid": 10, "ts": at - 2, "dur": 20},
                {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 10, "tid": 10, "ts": at, "dur": 5.125,
                 "args": {"correlation": correlation}},
                {"ph": "X", "cat": "kernel", "name": f"kernel{i}", "pid": 0, "tid": 7, "ts": at + 600, "dur": 25.001,
                 "args": {"correlation": correlation, "stream": 7, "device": 0}},
                {"ph": "s", "id": correlation, "pid": 10, "tid": 10, "ts": at, "cat": "ac2g", "name": "ac2g"},
                {"ph": "f", "id": correlation, "pid": 0, "tid": 7, "ts": at + 600, "cat": "ac2g", "name": "ac2g", "bp": "e"}]
            correlation += 1
    return {"schemaVersion": 1, "distributedInfo": {"rank": rank, "world_size": 3}, "baseTimeNanoseconds": 1759276800000000000,
            "traceEvents": events}


def write_ranks(folder, count, **more):
    os.mkdir(folder)
    for rank in range(count):
        with open(f"{folder}/rank{rank}.json", "w", encoding="utf-8") as file:
            json.dump(small_rank(rank, **more), file)
    return folder


def ranks_of(whole):
    return {e["pid"]: int(e["args"]["name"].split()[1]) for e in whole["traceEvents"]
            if e["ph"] == "M" and e["name"] == "process_name"}
