#!/usr/bin/env python3
"""TRACETOOL_TORCH=stacks without native stacks: calls of CUDA that wait or allocate, and calls of NCCL, have Python's stack, at most so
many a second; what is left out is told.

  test_call_stacks.py --agent PATH --simulated PATH --programs DIR --torch PATH --tracetool PATH
"""
import os

from call_stacks import PYTHON_CALLS, check_nccl_stacks, nccl_ways, record_python, stacks
from harness import arguments, check, finish, skip
from test_torch import is_known_python


def check_python_alone(options):
    """Without native stacks calls that wait or allocate have Python's frames."""
    job, rows = record_python(options, "python alone")
    if job.only is None:
        return
    some = stacks(job.only)
    names = {tuple(frame.name for frame in event.frames) for event in some}
    check(len(some) >= 5 and names == {PYTHON_CALLS} and {frame.what for event in some for frame in event.frames} == {"python"}, f"python alone: {len(some)} stacks have its functions", names)
    check(any(row["frame"].endswith(": inner") and row["cpu_ns"] > 0 for row in rows), "python alone: the time of these calls is below them", rows[:2])


def check_nccl(options):
    """The stack of each call has its time, on its thread."""
    for words, environment in nccl_ways(options):
        job, rows = record_python(options, "NCCL", *words, **environment)
        if job.only is not None:
            check_nccl_stacks(f"NCCL, {os.path.basename(words[0])}, {words[1]}", job.only, rows, False)


def check_rate(options):
    """Python's stacks have the same rate; what is above is counted, and said once."""
    calls = 300
    path = os.path.join(options.programs, "libnccl_ranges.so")
    job, _ = record_python(options, "rate", path, "itself", str(calls))
    if job.only is None:
        return
    some, left = stacks(job.only), job.only.header["stacks_left_out"]
    times = [event.time for event in some]
    check(20 <= len(some) <= 21 + 100 * (max(times) - min(times)) / 1e9 and 5 * calls < left + len(some) <= 10 * calls + 1, f"rate: {len(some)} stacks, {left} left out", (len(some), left))
    check((job.info.stdout + job.info.stderr).count(f"{left} calls have no stack") == 1, "rate: info says how many, once", job.info)
    check(job.chrome.count(f'"stacks_left_out":{left}') == 1, "rate: an export, too", job.chrome[:500])


def main():
    options = arguments("agent", "simulated", "programs", "torch", "tracetool")
    if not is_known_python():
        skip("the frames of this Python are not known")
    check_python_alone(options)
    check_nccl(options)
    check_rate(options)
    finish()


main()
