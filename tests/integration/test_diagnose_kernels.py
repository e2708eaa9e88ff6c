#!/usr/bin/env python3
"""`tracetool diagnose`: rules of copies, memory, kernels and steps. What they find in the real sets, whose reasons were looked at one
by one; in simulated runs what was planted, on its rank, and nothing in a healthy one.

  test_diagnose_kernels.py --tracetool PATH --traces DIR [--agent PATH --simulated PATH]
"""
import json
import re
import shlex
from collections import defaultdict

import slow_tables
from harness import Folder, check, run
from test_analyze import run_checks
from trace_sets import folders, inputs
from truth import is_sanitized, train

RULES = ("pageable-copy", "allocation-in-step", "allocation-retries", "fp32-matmul", "memory-bound-kernels", "copy-cast", "single-tensor-optimizer", "backward-long", "memory-peak",
         "memory-growth", "fragmentation", "step-outlier", "slow-first", "recording-overhead", "unfused-attention", "unaligned-matmul", "launch-queue-full")
# Of real sets: the ResNets copy batches of 18 MiB from pageable memory; the H100 runs a model layer by layer, whose norms
# cast to float and back; the A100 multiplies TF32 with kernels named align1; the host of the ResNet with times in ns is 1,000 launches ahead; the V100's SGD has a kernel for each parameter; the MI210 runs batch norms of bfloat16.
KNOWN = {"num_workers_0.pt.trace.json.gz": {"pageable-copy"}, "num_workers_4.pt.trace.json.gz": {"pageable-copy"}, "top-level-array.pt.trace.json.gz": {"pageable-copy", "single-tensor-optimizer"},
         "h100-qwen-inference.json.gz": {"copy-cast", "memory-bound-kernels"}, "v100-rank1of2-216k-events.json.gz": {"single-tensor-optimizer"},
         "mi210-gpu-only.json.gz": {"memory-bound-kernels"}, "a100-rank0of16.json.gz": {"unaligned-matmul"}, "v100-ns-resolution.pt.trace.json.gz": {"launch-queue-full"}}
SYNTHESIZED = {"event-sync.json.gz": {"fp32-matmul"}}  # its one kernel


TRIES = 5
MIB = 1 << 20


def diagnose(options, *words):
    done = run([options.tracetool, "diagnose", *map(str, words), "--only", ",".join(RULES), "--format", "json"])
    return json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr, "findings": []}


def check_traces(options):
    with folders(options.traces) as some:
        for folder in some:
            for name, files in inputs(folder):
                diagnosis = diagnose(options, *files)
                said = {each["rule"] for each in diagnosis["findings"]}
                check("failed" not in diagnosis and said == (KNOWN if folder == options.traces else SYNTHESIZED).get(name, set()), f"{name}: what is known of it", diagnosis)
                for each in diagnosis["findings"]:
                    words = shlex.split(each["next_command"])
                    check(words[0] in ("tracetool", "ncu"), f"{name}: {each['rule']} has a command that a shell can read", words)
                    if words[0] == "ncu":
                        pattern = re.compile(words[words.index("--kernel-name") + 1].removeprefix("regex:"))
                        check(any(pattern.search(kernel) for kernel in functions(files)), f"{name}: a kernel has the name that ncu is to look for", words)


def check_copies_within(options):
    """copy-cast against a slow sum over all of each file's time: of the union of all work, what is not in that of the rest."""
    fired = 0
    with folders(options.traces) as some:
        for path in (files[0] for folder in some for _, files in inputs(folder) if len(files) == 1):
            events = slow_tables.read_json(path)
            devices = defaultdict(list)
            for work in slow_tables.of_kineto(events or []):
                devices[work.device].append(work)
            if not devices:
                continue
            diagnosis = diagnose(options, path, "--time", "0s-")
            true = 0
            for works in devices.values():
                rest = [(work.start, work.end) for work in works if work.launch is None or not re.search("copy_kernel_cuda|copy_device_to_device", work.name)]
                alone = slow_tables.length([(work.start, work.end) for work in works]) - slow_tables.length(rest)
                true = max(true, alone if alone * 20 > diagnosis["length_ns"] else 0)
            said = [each["saving_ns"] for each in diagnosis["findings"] if each["rule"] == "copy-cast"]
            check(said == [true] * (true > 0), f"{path.rsplit('/', 1)[-1]}: copies within the GPU as the slow program sums them", (said, true))
            fired += true > 0
    check(True, f"{fired} files have many")


def functions(files):
    """Names of functions as ncu has them: without what they return, namespaces, template arguments and parameters."""
    for path in files:
        for event in slow_tables.read_json(path) or []:
            if event.get("cat") == "kernel":
                yield re.sub(r"[<(].*", "", event["name"].removeprefix("void ").replace("(anonymous namespace)::", "")).split("::")[-1]


def recorded(options, folder, *words):
    done = train(options, folder, "--ranks", 2, "--steps", 12, *words)
    check(done.returncode == 0, "a run was recorded", done.stderr)
    return diagnose(options, f"{folder}/traces")


def tried(options, what, holds, *words):
    """A busy machine delays steps: one of several runs has to hold."""
    diagnosis = {}
    for _ in range(TRIES):
        with Folder() as folder:
            diagnosis = recorded(options, folder, *words)
            if holds(diagnosis):
                break
    check(holds(diagnosis), what, diagnosis)
    return diagnosis


def of_program(diagnosis):
    """The findings, without those that a busy machine causes in any program."""
    return [each for each in diagnosis["findings"] if each["rule"] not in ("step-outlier", "slow-first", "straggler", "host-late")]


def check_simulated(options):
    if is_sanitized(options, "simulated runs"):
        return
    tried(options, "a healthy run: nothing", lambda diagnosis: of_program(diagnosis) == [])
    tried(options, "memory that is allocated in no time: nothing", lambda diagnosis: of_program(diagnosis) == [], "--memory")
    # In each step 64 and 32 MiB, at 5 GB/s.
    said = tried(options, "copies of pageable memory, on their rank", lambda diagnosis: [(each["rule"], each["ranks"]) for each in of_program(diagnosis)] == [("pageable-copy", [1])],
                 "--pageable", 1, "--batch-mib", 64)
    first = of_program(said)[0] if of_program(said) else {"evidence": [], "saving_ns": 0}
    copied_ns = len(said["steps"]) * 96 * MIB / 5
    check(copied_ns <= first["saving_ns"] < 1.2 * copied_ns, "their saving is their time, and little idle time", (copied_ns, said))
    check(first["evidence"] and all(abs(at["end_ns"] - at["start_ns"] - 64 * MIB / 5) < 10_000 for at in first["evidence"]), "the largest are shown", first)


if __name__ == "__main__":
    run_checks(check_traces, check_copies_within, simulated=(check_simulated,))
