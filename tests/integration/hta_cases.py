#!/usr/bin/env python3
"""Small traces on which HTA and tracetool differ (docs/why-not-hta.md). Each is a folder with one rank, for both of them.

  hta_cases.py FOLDER           writes FOLDER/NAME/rank0.json for every case
"""
import json
import os
import sys

STREAM = 7


def kernel(name, start, end, correlation, stream=STREAM):
    return {"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": stream, "ts": start, "dur": round(end - start, 3),
            "args": {"device": 0, "context": 1, "stream": stream, "correlation": correlation, "grid": [1, 1, 1], "block": [32, 1, 1]}}


def call(name, start, end, correlation, category="cuda_runtime"):
    return {"ph": "X", "cat": category, "name": name, "pid": 42, "tid": 42, "ts": start, "dur": round(end - start, 3),
            "args": {"correlation": correlation}}


def launched(name, at, start, end, correlation, stream=STREAM, function="cudaLaunchKernel", category="cuda_runtime"):
    return [call(function, at, at + 4, correlation, category), kernel(name, start, end, correlation, stream)]


def step(number, start, end):
    return {"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{number}", "pid": 42, "tid": 42, "ts": start, "dur": end - start, "args": {}}


def stream_sync():
    """The host waits for the stream, and launches only then: the GPU idles from 110 to 210."""
    wait = {"ph": "X", "cat": "cuda_sync", "name": "Stream Sync", "pid": 0, "tid": STREAM, "ts": 110, "dur": 60,
            "args": {"stream": STREAM, "correlation": 3, "device": 0, "context": 1, "cuda_sync_kind": "Stream Sync"}}
    return launched("first", 0, 10, 110, 1) + [call("cudaStreamSynchronize", 20, 170, 3), wait] + launched("second", 200, 210, 310, 2)


def launched_before():
    """The host is a step ahead: the first kernel was launched before the profile began."""
    return [step(1, 100, 200), step(2, 200, 300), step(3, 300, 400), kernel("of the step before", 100, 190, 1)] + \
        launched("next", 150, 190, 280, 2) + launched("last", 250, 280, 370, 3)


def last_step():
    """Two steps; the second has the longer kernel."""
    return [step(1, 0, 100), step(2, 100, 400)] + launched("one", 10, 20, 90, 1) + launched("two", 110, 120, 390, 2)


def triton():
    """Of two kernels one is launched as Triton's are, by the driver."""
    return launched("aten", 0, 10, 60, 1) + launched("triton", 20, 200, 260, 2, function="cuLaunchKernel", category="cuda_driver")


def graph():
    """A graph of three kernels, launched by one call."""
    return [call("cudaGraphLaunch", 0, 8, 1)] + [kernel("node", 10 + 20 * i, 25 + 20 * i, 1) for i in range(3)]


def short_kernels():
    """100 kernels of 2.4 us, each 0.6 us behind the one before: idle for a fifth of the time."""
    return [each for i in range(100) for each in launched("short", round(3.0 * i + 0.1, 3), round(10.3 + 3.0 * i, 3), round(12.7 + 3.0 * i, 3), 1000 + i)]


def two_streams():
    """The GPU is busy all the time; its second stream is not."""
    return launched("compute", 0, 10, 500, 1) + launched("ncclDevKernel_AllReduce", 5, 20, 40, 2, 20) + launched("ncclDevKernel_AllReduce", 300, 310, 340, 3, 20)


def overlapping():
    """In one stream the second kernel begins before the first has ended, as programmatic dependent launch lets it."""
    return launched("long", 0, 10, 110, 1) + launched("within", 5, 20, 30, 2) + launched("behind", 8, 130, 140, 3)


CASES = (stream_sync, launched_before, last_step, triton, graph, short_kernels, two_streams, overlapping)


def write(folder):
    for case in CASES:
        os.makedirs(os.path.join(folder, case.__name__), exist_ok=True)
        with open(os.path.join(folder, case.__name__, "rank0.json"), "w", encoding="utf-8") as file:
            # HTA finds the rank by a line that has it, with a space.
            file.write('{"distributedInfo": {"rank": 0, "world_size": 1},\n"traceEvents": [\n')
            file.write(",\n".join(json.dumps(event) for event in sorted(case(), key=lambda event: event["ts"])) + "\n]}\n")


if __name__ == "__main__":
    write(sys.argv[1])
