#!/usr/bin/env python3
"""A real PyTorch with the agent loaded, on a machine without a GPU: DataLoader workers, torchrun, exceptions and NVTX end as
they do without it, and nothing is left behind. Skipped where the Python of TRACETOOL_PYTHON (else this one) has no torch.

The programs are in pytorch_programs.py. With a GPU they would be recorded; this test is about those that are not."""
import os
import re
import sys
import time
import uuid

from harness import Folder, arguments, check, files_below, finish, first, run, skip

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pytorch_programs.py")
PYTHON = os.environ.get("TRACETOOL_PYTHON", sys.executable)
TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")

# What is run, how its Python is started, and the exit code that it must have anyway.
CASES = (("loader", (), 0), ("distributed", TORCHRUN, 0), ("distributed_failure", TORCHRUN, 1), ("exception", (), 1),
         ("exit_in_thread", (), 0), ("exit_code", (), 7), ("killed", (), -9), ("nvtx", (), 0), ("profiler", (), 0),
         ("cuda", (), 0))
# What differs from one run to the next: pids, times, ports, addresses, folders.
CHANGING = re.compile(r"0x[0-9a-f]+|/tmp/\S+|[\d.]+")


def lines(text):
    """In any order: the ranks of a job write as they come."""
    return sorted(CHANGING.sub("#", line) for line in text.splitlines())


def processes_with(mark):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as file:
                found += [pid] if mark.encode() in file.read() else []
        except OSError:
            pass
    return found


def left_behind(cwd, traces, mark):
    give_up = time.monotonic() + 5
    while processes_with(mark) and time.monotonic() < give_up:
        time.sleep(0.1)
    left = files_below(cwd) + [f"process {pid}" for pid in processes_with(mark)]
    return left + (["the traces folder"] if os.path.exists(traces) else [])


def outcome(what, how, **environment):
    """Exit code, output and errors of one run, and what it left behind."""
    with Folder() as folder:
        cwd, traces, mark = os.path.join(folder, "cwd"), os.path.join(folder, "traces"), uuid.uuid4().hex
        os.mkdir(cwd)
        done = run([PYTHON, *how, PROGRAMS, what], cwd=cwd, OMP_NUM_THREADS=1, PYTHONDONTWRITEBYTECODE=1, TEST_MARK=mark,
                   TRACETOOL_DIR=traces, **environment)
        return (done.returncode, sorted(done.stdout.splitlines()), lines(done.stderr)), left_behind(cwd, traces, mark)


def differences(got, wanted):
    return [pair for pair in zip(("exit code", "output", "errors"), got, wanted) if pair[1] != pair[2]]


def check_case(what, how, code, agent):
    wanted, _ = outcome(what, how)
    check(wanted[0] == code, f"{what}: exits with {code} without the agent", wanted)
    for variables in (("LD_PRELOAD",), ("LD_PRELOAD", "CUDA_INJECTION64_PATH")):
        got, left = outcome(what, how, **dict.fromkeys(variables, agent))
        name = f"{what}: {' and '.join(variables)}"
        check(got == wanted, f"{name}: same output and exit code", lambda: first(differences(got, wanted)))
        check(not left, f"{name}: nothing is left behind", first(left))


def main():
    options = arguments("agent")
    version = run([PYTHON, "-c", "import torch; print(torch.__version__, torch.cuda.is_available())"])
    if version.returncode != 0:
        skip(f"{PYTHON} has no torch (TRACETOOL_PYTHON names one that has)")
    print(f"torch {version.stdout.strip()}")
    if version.stdout.endswith("True\n"):
        skip("there is a GPU: these programs would be recorded")
    for what, how, code in CASES:
        check_case(what, how, code, options.agent)
    finish()


main()
