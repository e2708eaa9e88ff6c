#!/usr/bin/env python3
"""A real PyTorch with the agent loaded, on a machine without a GPU: DataLoader workers, torchrun, exceptions and NVTX end as
they do without it, and nothing is left behind. The programs of scripts/gpu_check work on the CPU, as far as that goes.
Skipped where the Python of TRACETOOL_PYTHON (else this one) has no torch.

The programs are in pytorch_programs.py. With a GPU they would be recorded; this test is about those that are not."""
import json
import os
import re
import sys
import time
import uuid
from collections import Counter

from harness import Folder, arguments, check, files_below, finish, first, run, skip

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pytorch_programs.py")
GPU_CHECK = os.path.join(os.path.dirname(PROGRAMS), "..", "..", "scripts", "gpu_check", "programs")
PYTHON = os.environ.get("TRACETOOL_PYTHON", sys.executable)
TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2")

# What is run, how its Python is started, and the exit code that it must have anyway.
CASES = (("loader", (), 0), ("distributed", TORCHRUN, 0), ("distributed_failure", TORCHRUN, 1), ("exception", (), 1),
         ("exit_in_thread", (), 0), ("exit_code", (), 7), ("killed", (), -9), ("nvtx", (), 0), ("profiler", (), 0),
         ("cuda", (), 0))
# What differs from one run to the next: pids, times, ports, addresses, folders, how gloo noticed that a rank has gone.
CHANGING = re.compile(r"0x[0-9a-f]+|/tmp/\S+|[\d.]+|(Read error|Connection closed by peer).*")


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


def check_steps():
    """The training that answers to commands: here tiny, and without a device."""
    done = run([PYTHON, f"{GPU_CHECK}/torch_steps.py", "--device", "cpu", "--tiny"], OMP_NUM_THREADS=1,
               commands="about\nrun main 3\nprofile small 2 cpu\nkernels main 2 cpu\nquit\n")
    check(done.returncode == 0, "gpu_check's training ends with 0", done.stderr[-500:])
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    check([len(answer.get("steps_ms", ())) for answer in answers] == [0, 3, 2, 2], "it answers each command", answers)
    check(all(0 < sum(answer["steps_ms"]) <= answer["wall_ms"] for answer in answers[1:]), "steps lie in windows", answers)
    check(answers[-1]["kernels"] == {}, "there are no kernels on a CPU", answers[-1])


def check_operators(agent):
    """What gpu_check's part operators compares with torch.profiler: operators and modules, in its window and in another one."""
    sys.path[:0] = [os.path.dirname(GPU_CHECK), os.path.join(GPU_CHECK, "..", "..", "..", "examples")]
    import operators_compare as compare
    import read_recording
    with Folder() as folder:
        done = run([PYTHON, f"{GPU_CHECK}/torch_steps.py", "--device", "cpu", "--tiny"], OMP_NUM_THREADS=1, LD_PRELOAD=agent, TRACETOOL_TORCH="all",
                   TRACETOOL_DIR=f"{folder}/traces", TRACETOOL_BUFFER="64M", commands=f"run main 50\ntrace main 3 {folder}/profile.json\nrun main 3\nquit\n")
        files = files_below(f"{folder}/traces", ".ring")
        if not check(done.returncode == 0 and len(files) == 1, "operators: one recording", done):
            return
        recording, windows = read_recording.read(files[0]), [json.loads(line) for line in done.stdout.splitlines()][1:]
        with open(f"{folder}/profile.json", encoding="utf-8") as file:
            theirs = compare.profiled(json.load(file)["traceEvents"])
    for what, window in zip(("beside torch.profiler", "afterwards"), windows):
        ours = compare.Recorded(recording, window).seen()
        check(ours.operators == theirs.operators, f"{sum(ours.operators.values())} operators {what}: by name", lambda: compare.differences(ours.operators, theirs.operators))
        check(ours.modules and ours.modules == theirs.modules, f"{sum(ours.modules.values())} in modules {what}: by class and name", lambda: first(compare.differences(ours.modules, theirs.modules).items()))


def check_ranks(how, calls_of):
    """What the ranks of a job log of their collectives: by `calls_of`, the number of calls of each kind."""
    with Folder() as folder:
        shape = [word for name, value in (("layers", 1), ("width", 32), ("length", 16), ("steps", 2))
                 for word in (f"--{name}", str(value))]
        done = run([PYTHON, *TORCHRUN, f"{GPU_CHECK}/torch_ranks.py", "--how", how, "--calls", folder, "--device", "cpu",
                    *shape], OMP_NUM_THREADS=1)
        if not check(done.returncode == 0, f"gpu_check's {how} ends with 0", done.stderr[-500:]):
            return
        logs = []
        for rank in range(2):
            with open(f"{folder}/rank{rank}.json", encoding="utf-8") as file:
                logs.append(json.load(file))
    check(logs[0]["calls"] == logs[1]["calls"] and logs[0]["calls"], f"{how}: both ranks asked for the same", logs)
    check(not logs[0]["unknown"] and all(size > 0 for _, _, size in logs[0]["calls"]), f"{how}: every call is known", logs)
    seen = Counter(op for _, op, _ in logs[0]["calls"])
    check(all(seen[op] >= least for op, least in calls_of.items()), f"{how}: the calls of its steps are among them", seen)


def main():
    options = arguments("agent")
    version = run([PYTHON, "-c", "import torch; print(torch.__version__, torch.cuda.is_available())"])
    if version.returncode != 0:
        skip(f"{PYTHON} has no torch (TRACETOOL_PYTHON names one that has)")
    print(f"torch {version.stdout.strip()}")
    if version.stdout.endswith("True\n"):
        skip("there is a GPU: these programs would be recorded")
    check_steps()
    check_operators(options.agent)
    check_ranks("ddp", {"ncclAllReduce": 2, "ncclBroadcast": 1})
    check_ranks("fsdp", {"ncclAllGather": 4, "ncclReduceScatter": 4})
    for what, how, code in CASES:
        check_case(what, how, code, options.agent)
    finish()


main()
