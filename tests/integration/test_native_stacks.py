#!/usr/bin/env python3
"""TRACETOOL_NATIVE_STACKS: the native stacks of a program without frame pointers are those that gdb finds at the same calls; build ids
are those of the files; exceptions, forks and an exit in the middle are as without the agent; without the setting nothing is recorded."""
import json
import os
import re
import shutil
import sys
from collections import Counter

from call_stacks import PYTHON_CALLS, check_nccl_stacks, nccl_ways, record_python, stacks
from harness import Folder, arguments, check, files_below, finish, first, run, skip
from recorded import Job, environment_of, no_core, program, record

AT = "cuLaunchKernel cuCtxSynchronize cuMemAlloc_v2"
HERE = os.path.dirname(os.path.abspath(__file__))


def under_gdb(options, *words):
    """(the stacks that gdb found, the Job) of one run."""
    with Folder() as folder:
        command = ["gdb", "-nx", "-batch", "-x", os.path.join(HERE, "gdb_stacks.py"), "--args", program(options, "native_stacks"), *words]
        environment = environment_of(options, folder, STACKS_AT=AT, TRACETOOL_NATIVE_STACKS=1)
        done = run(command, cwd=folder, limit=no_core, **environment)
        found = [json.loads(line[6:]) for line in done.stdout.splitlines() if line.startswith("STACK ")]
        return found, Job(folder, done)


def of_program(frames):
    """From the program's call into CUDA on."""
    at = next((i for i, (path, _) in enumerate(frames) if path is None or "/libcuda" not in path), len(frames))
    return frames[at:]


def calls_of(job):
    """(tid, frames as (file, address)) of each recorded stack, from the call on."""
    return [(event.tid, of_program([(os.path.realpath(frame.file), frame.instance) for frame in event.frames])) for event in stacks(job.only)]


def check_like_gdb(options, what, *words, said="done"):
    found, job = under_gdb(options, *words)
    if not check(job.done.returncode == 0 and said in job.done.stdout, f"{what}: runs under gdb", job.done):
        return None
    theirs = [(each["tid"], of_program([tuple(frame) for frame in each["frames"][1:]])) for each in found]
    ours = calls_of(job)
    wrong = [pair for pair in zip(theirs, ours) if pair[0] != pair[1]]
    check(ours and len(ours) == len(theirs) and not wrong, f"{what}: {len(ours)} stacks of up to "
          f"{max((len(frames) for _, frames in ours), default=0)} frames are gdb's", lambda: f"{len(theirs)} of gdb's, {len(ours)} recorded, wrong: {first(wrong, 1)}")
    check(all(frame.what == "native" and frame.name is None for event in stacks(job.only) for frame in event.frames), f"{what}: frames are native and have no name yet")
    return job


def build_id(path):
    found = re.search(r"Build ID: (\w+)", run(["readelf", "-n", path]).stdout)
    return found.group(1) if found else None


def check_objects(job):
    recording = job.only
    known = {each.path: each.build_id for each in recording.objects}
    used = {frame.file for event in stacks(recording) for frame in event.frames}
    check(len(used) >= 3 and used <= set(known), f"each of {len(used)} files of frames is defined", f"{used} {known}")
    wrong = [(path, known[path], build_id(path)) for path in used if known[path] != build_id(path)]
    check(not wrong and any(known.values()), "build ids are those of the files", wrong)


def check_calls(job):
    """Each stack is of the call with its correlation id on its thread."""
    recording = job.only
    calls = {(event.tid, event.correlation): event.name for event in recording.events if event.kind in ("driver", "runtime", "driver_wide", "runtime_wide")}
    names = Counter(calls.get((event.tid, event.correlation)) for event in stacks(recording))
    wanted = {"cuLaunchKernel", "cuCtxSynchronize", "cuMemAlloc_v2", "cudaDeviceSynchronize_v3020"}
    check(set(names) <= wanted and len(names) >= 3, f"stacks belong to calls: {dict(names)}", names)


def check_flood(options):
    """What is above the rate is counted; a stack that is seen again is not defined again."""
    calls = 4000
    job = record(options, "native_stacks", "flood", calls, TRACETOOL_NATIVE_STACKS=1, TRACETOOL_BUFFER="16M")
    recording = job.only
    if not check(recording is not None and job.done.returncode == 0, "flood: is recorded", job.done):
        return
    taken, left = len(stacks(recording)), recording.header["stacks_left_out"]
    check(taken + left == 4 * calls + 1 and not recording.lost["stack"], f"flood: {taken} stacks and {left} left out are all calls", (taken, left, 4 * calls + 1))
    span = max(event.time for event in stacks(recording)) - min(event.time for event in stacks(recording))
    # A thread may end while the other one prepares the stacks: one burst is sure.
    check(20 <= taken <= 2 * (20 + 100 * span / 1e9) + 21, f"flood: at most 100 a second and thread over {span / 1e6:.0f} ms", taken)
    different = {tuple(event.frames) for event in stacks(recording)}
    check(2 <= len(different) <= 5, "flood: the same stacks come again", len(different))


def outcome(options, name, *words, **environment):
    job = record(options, name, *words, **environment)
    return job, (job.done.returncode, job.done.stdout)


def check_as_without(options, what, code, *words):
    _, without = outcome(options, "native_stacks", *words, CUDA_INJECTION64_PATH=None)
    for _ in range(3):  # on a busy machine it may end before it launches
        # With room for all launches until the end.
        job, with_stacks = outcome(options, "native_stacks", *words, TRACETOOL_NATIVE_STACKS=1, TRACETOOL_BUFFER="128M")
        taken = len(stacks(job.only)) if job.only is not None else 0
        if taken > 0 or with_stacks != without:
            break
    check(without[0] == code and with_stacks == without and taken > 0, f"{what}: as without the agent, with {taken} stacks",
          f"{with_stacks} instead of {without}, {job.done.stderr} {job.refused}")
    check(not [line for line in job.said if line.startswith("tracetool: ")], f"{what}: nothing is said", job.said)


def check_off(options):
    for setting, lines in ((None, 0), ("0", 0), ("yes", 1)):
        job = record(options, "native_stacks", "calls", TRACETOOL_NATIVE_STACKS=setting)
        recording, said = job.only, [line for line in job.said if line.startswith("tracetool: ")]
        check(recording is not None and not stacks(recording) and not recording.objects and recording.header["stacks_left_out"] == 0
              and len(said) == lines, f"TRACETOOL_NATIVE_STACKS={setting}: no stack", said)


def check_descriptors(options):
    """libunwind keeps no descriptor that a program could get as its own."""
    job = record(options, "launches", "reuse", 200, TRACETOOL_NATIVE_STACKS=1, SIM_TRUTH=None)
    check(job.done.returncode == 0 and job.only is not None and len(stacks(job.only)) > 0, "nothing is written into a program's files", job.done)


def check_python(options):
    """Python's frames stand where its interpreter's would begin: libcuda, ctypes, then functions of Python and nothing else."""
    job, _ = record_python(options, "python", TRACETOOL_NATIVE_STACKS=1)
    if job.only is None:
        return
    joined = [event.frames for event in stacks(job.only) if any(frame.what == "python" for frame in event.frames)]
    names = {tuple(frame.name for frame in frames if frame.what == "python") for frames in joined}
    check(names == {PYTHON_CALLS}, f"python: {len(joined)} stacks have its functions", names)
    parts = [[frame.what for frame in frames] for frames in joined]
    check(all(part == sorted(part) and part[0] == "native" for part in parts), "python: native frames, then Python's", first(parts))
    check(all("_ctypes" in "".join(frame.file for frame in frames if frame.what == "native") for frames in joined), "python: through ctypes")


def check_nccl(options):
    for words, environment in nccl_ways(options):
        job, rows = record_python(options, "NCCL", *words, TRACETOOL_NATIVE_STACKS=1, **environment)
        if job.only is not None:
            check_nccl_stacks(f"NCCL, {os.path.basename(words[0])}, {words[1]}", job.only, rows, True)


def check_read(options):
    """tracetool reads the recording: it puts calls and what they launched below their stacks, with the names of functions."""
    with Folder() as folder:
        done = run([program(options, "native_stacks"), "flood", "40"], cwd=folder, **environment_of(options, folder, TRACETOOL_NATIVE_STACKS=1))
        told = run([options.tracetool, "info", f"{folder}/traces"])
        dumped = run([options.tracetool, "dump", *files_below(f"{folder}/traces", ".ring")])
        rows = json.loads(run([options.tracetool, "analyze", f"{folder}/traces", "--only", "stacks", "--format", "json"]).stdout)["stacks"]
        exported = run([options.tracetool, "export", "--folded", f"{folder}/traces", "-o", "-"])
        chrome = run([options.tracetool, "export", "--chrome", f"{folder}/traces", "-o", "-"]).stdout
    check(done.returncode == 0 and told.returncode == 0 and "unknown to this tracetool" not in told.stdout + told.stderr, "tracetool info knows all records", told)
    kinds = Counter(match.group(1) for match in re.finditer(r"^(?:byte|  )\D*\d+: (stack|object|frame) ", dumped.stdout, re.M))
    launched = sum(row["gpu_count"] for row in rows)
    check(0 < launched <= 80, f"{launched} kernels are below stacks", rows[:2])
    has_names = "libdw" in run(["ldd", options.tracetool]).stdout
    below = [line for line in exported.stdout.splitlines() if line.count(";") > 3]
    place = r"(^|[; )])(\(anonymous namespace\)::)?flood\(int, char\*\*\)" if has_names else r"native_stacks\+0x"
    check(below and all(re.search(place, line) and ";cuLaunchKernel;small_kernel(float*) " in line for line in below), "folded stacks have the program's functions", lambda: (exported, first(below, 2)))
    check(re.search(r'"stack of a call".*"Call stack": "[^"]*' + ("main" if has_names else "native_stacks"), chrome), "an export has them as instants")
    check(dumped.returncode == 0 and kinds["object"] >= 3 and kinds["frame"] > 10, "tracetool dump shows objects and frames", kinds)


def check_symbols(options):
    """Of a program that is gone names are found where TRACETOOL_SYMBOLS says, and stay in a merged file."""
    def below_flood(path, **environment):
        return len(re.findall(r"flood\(int", run([options.tracetool, "export", "--folded", path, "-o", "-"], **environment).stdout))

    with Folder() as folder:
        moved, kept = f"{folder}/moved", f"{folder}/kept"
        os.mkdir(kept)
        shutil.copy(program(options, "native_stacks"), moved)
        done = run([moved, "flood", "20"], cwd=folder, **environment_of(options, folder, TRACETOOL_NATIVE_STACKS=1))
        os.rename(moved, f"{kept}/moved")
        traces, symbols = f"{folder}/traces", {"TRACETOOL_SYMBOLS": f"/nowhere:{kept}"}
        run([options.tracetool, "merge", traces, "-o", f"{folder}/run.ttrace"], **symbols)
        counts = below_flood(traces), below_flood(traces, **symbols), below_flood(f"{folder}/run.ttrace")
    has_names = "libdw" in run(["ldd", options.tracetool]).stdout
    check(done.returncode == 0 and counts[0] == 0 and counts[1] == counts[2] and (counts[1] > 0) == has_names, "names are found in TRACETOOL_SYMBOLS, and kept", (done, counts))


def main():
    options = arguments("agent", "simulated", "programs", "torch", "tracetool")
    if shutil.which("gdb") is None:
        skip("gdb is not installed")
    job = record(options, "native_stacks", "calls", TRACETOOL_NATIVE_STACKS=1)
    if any("without libunwind" in line for line in job.said):
        skip("the agent is built without libunwind (scripts/setup.sh fetches it)")
    check(job.only is not None and len(stacks(job.only)) > 5, "stacks are recorded", job.done)
    check_objects(job)
    check_calls(job)
    check_flood(options)
    check_as_without(options, "exceptions", 0, "throws")
    check_as_without(options, "exit in the middle", 3, "exits")
    check_as_without(options, "forks in the middle", 0, "forks")
    check_off(options)
    check_descriptors(options)
    check_python(options)
    check_symbols(options)
    check_nccl(options)
    check_read(options)
    check_like_gdb(options, "calls", "calls")
    libraries = [os.path.join(options.programs, f"libreloaded_{size}.so") for size in (512, 1024)]
    check_like_gdb(options, "reload", "reload", *libraries, said="the same address")
    finish()


main()
