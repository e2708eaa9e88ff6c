"""Calls of CUDA and NCCL out of functions of Python (cuda_calls.py), and what is recorded of where they come from."""
import json
import os
import sys

from harness import Folder, check, run
from real_nccl import find_nccl
from recorded import Job, environment_of, no_core

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON_CALLS = ("inner", "outer", "outer", "outer", "outer", "<module>")


def stacks(recording):
    return sorted((event for event in recording.events if event.kind == "stack"), key=lambda event: event.time)


def record_python(options, what, *words, **environment):
    with Folder() as folder:
        done = run([sys.executable, os.path.join(HERE, "cuda_calls.py"), options.torch, *words], cwd=folder, limit=no_core,
                   **environment_of(options, folder, TRACETOOL_TORCH="stacks", **environment))
        job = Job(folder, done)
        job.info = run([options.tracetool, "info", f"{folder}/traces"])
        job.chrome = run([options.tracetool, "export", "--chrome", f"{folder}/traces", "-o", "-"]).stdout
        rows = json.loads(run([options.tracetool, "analyze", f"{folder}/traces", "--only", "stacks", "--format", "json"]).stdout or "{}").get("stacks", [])
    check(done.returncode == 0 and job.only is not None, f"{what}: is recorded", done)
    return job, rows


def nccl_ways(options):
    """(arguments, variables) by which NCCL is called: its ranges tell of it, or its functions are interposed; the real one where there is one."""
    ways = [([os.path.join(options.programs, "libnccl_ranges.so"), "itself"], {}),
            ([os.path.join(options.programs, "libnccl_silent.so"), "loader"], {"LD_PRELOAD": options.agent})]
    return ways + ([([find_nccl(), "itself"], {})] if find_nccl() else [])


def check_nccl_stacks(what, recording, rows, native):
    calls = {(event.tid, event.time) for event in recording.events if event.kind == "nccl_call" and event.bytes}
    found = [event for event in stacks(recording) if event.reason == "nccl_call"]
    of_python = {(event.tid, event.time): event for event in found if any(frame.what == "python" for frame in event.frames)}
    told = {key: tuple(frame.name for frame in event.frames if frame.what == "python") for key, event in of_python.items() if key in calls}
    check(len(calls) == 10 and len(told) >= 5 and set(told.values()) == {PYTHON_CALLS}, f"{what}: {len(told)} of {len(calls)} calls have the functions of Python", (calls, told))
    check({event.correlation for event in found} == {None}, f"{what}: stacks are found by the time of the call", found)
    files = {os.path.basename(frame.file) for event in of_python.values() for frame in event.frames if frame.what == "native"}
    check(any(name.startswith("libffi") for name in files) == bool(native), f"{what}: native frames", files)
    pops = sorted((event.tid, event.time) for event in recording.events if event.kind == "nvtx_pop")
    true = sum(next(end for tid, end in pops if tid == call[0] and end >= call[1]) - call[1] for call in told)
    said = sum(row["cpu_ns"] for row in rows if ": inner" in row["stack"])
    check(true == said > 0, f"{what}: the time of these calls is below their stacks", (true, said, rows))
