#!/usr/bin/env python3
"""Allocations of PyTorch's caching allocator, on a stand-in of it (programs/c10_cuda_standin.cpp), in a Python without a GPU: what is
recorded is what the allocator reported, with the Python stack that requested it, of several threads, with a fork and an allocation that
fails. `tracetool mem` gives the same sums. An allocator that reports in another way is left alone, and one line says so.

  test_torch_memory.py --agent PATH --tracetool PATH --torch PATH --simulated PATH --lazy PATH --now PATH --silent PATH --wrong PATH
"""
import json
import os
import subprocess
import sys

from harness import Folder, arguments, check, clean_environment, files_below, finish, first, run
from recorded import standins
from test_torch import is_known_python

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples"))
import read_recording  # noqa: E402

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_memory.py")
STEPS = 6
UNFIT = "reports no allocations in a supported way"


def lines_of(path):
    return [json.loads(line) for line in open(path, encoding="utf-8")]


def train(options, memory, folder, level="memory", with_driver=False):
    """(the finished process, its own figures, the recordings)."""
    driver = [os.path.join(standins(options), "libcuda.so.1")] if with_driver else []
    done = run([sys.executable, PROGRAM, options.torch, memory, folder, str(STEPS), *driver], cwd=folder, LD_LIBRARY_PATH=standins(options), TORCH_LAYOUT="2.9",
               **{"CUDA_INJECTION64_PATH" if with_driver else "LD_PRELOAD": options.agent},
               TRACETOOL_TORCH=level, TRACETOOL_DIR=f"{folder}/traces", TRACETOOL_BUFFER="8M")
    check(done.returncode == 0, f"{level}: the program ends as without us", done)
    return done, json.loads(done.stdout.splitlines()[-1]), files_below(f"{folder}/traces", ".ring")


def allocations(recording):
    return [event for event in recording.events if event.kind == "allocator"]


def said(event):
    """What a record of a device says, apart from its time and stack."""
    return event.action, event.tid, None if event.action == "fail" else event.address, event.bytes, event.allocated_bytes, event.reserved_bytes


def true(line):
    return line["action"], line["tid"], None if line["action"] == "fail" else line["address"], line["bytes"], line["allocated"], line["reserved"]


def check_records(what, recording, truth):
    for device in (0, 1):
        lines = [line for line in truth if line["device"] == device]
        # The allocator's lock orders its reports, and so the times of their records.
        events = sorted((event for event in allocations(recording) if event.device == device), key=lambda event: event.time)
        wrong = [pair for pair in zip(lines, events) if true(pair[0]) != said(pair[1]) or not pair[0]["time"][0] <= pair[1].time <= pair[0]["time"][1]]
        check(len(lines) == len(events) > STEPS and not wrong, f"{what}: device {device}: {len(lines)} reports are recorded, in their order",
              lambda: (len(lines), len(events), first(wrong)))
        streams = [(line["stream"], event.stream) for line, event in zip(lines, events) if line["action"] != "release"]
        check(all(a == b for a, b in streams), f"{what}: device {device}: streams of allocations", streams[:3])


def check_stacks(what, recording, requested):
    events = [event for event in sorted(allocations(recording), key=lambda event: event.time) if event.action != "release"]
    by_thread = {}
    for line in requested:
        by_thread.setdefault((line["tid"], line["device"]), []).append(line["stack"])
    wrong = []
    for event in events:
        frames = by_thread[event.tid, event.device].pop(0)
        if [tuple(frame[:-1]) for frame in event.stack or []] != [tuple(frame[:-1]) for frame in frames]:
            wrong.append((event.stack, frames))
    check(not wrong and len(events) == len(requested), f"{what}: {len(events)} Python stacks as they were", lambda: (len(events), len(requested), first(wrong)))
    check(all(event.stack is None for event in allocations(recording) if event.action == "release"), f"{what}: releases have no stack")


def mem(options, folder, *more):
    done = run([options.tracetool, "mem", f"{folder}/traces", "--format", "json", *more])
    return json.loads(done.stdout) if check(done.returncode == 0, f"mem {' '.join(more)}", done.stderr) else None


def live_at_peak(truth, device):
    """(peak, {address: index of its allocation in the truth}) by a slow replay."""
    peak, live, at_peak = 0, {}, {}
    for index, line in enumerate(truth):
        if line["device"] != device or line["action"] == "fail":
            continue
        if line["action"] == "allocate":
            live[line["address"]] = index
        else:
            del live[line["address"]]
        if line["allocated"] > peak:
            peak, at_peak = line["allocated"], dict(live)
    return peak, at_peak


def check_answers(options, what, folder, truth, free):
    found = mem(options, folder)
    if found is None:
        return
    peak, live = live_at_peak(truth, 0)
    device = found["devices"][0]
    reserved = max(line["reserved"] for line in truth if line["device"] == 0)
    check((device["peak_bytes"], device["reserved_peak_bytes"], device["difference_bytes"]) == (peak, reserved, 0), f"{what}: peak {peak}, reserved {reserved}, difference 0", device)
    lines = {}
    for index in live.values():
        lines[truth[index]["line"]] = lines.get(truth[index]["line"], 0) + truth[index]["bytes"]
    rows = {row["line"]: row["bytes"] for row in found["in_use"] if row["device"] == 0}
    check(rows == lines, f"{what}: the peak by line", (rows, lines))
    failed = found["out_of_memory"]
    check([(row["asked_bytes"], row["device_free_bytes"], row["largest_free_bytes"]) for row in failed] == [(1 << 30, free, None)] and
          failed[0]["line"] == next(line["line"] for line in truth if line["action"] == "fail"), f"{what}: the failed allocation", failed)
    operators = {row["operator"] for row in mem(options, folder, "--by", "operator")["in_use"] if row["device"] == 0}
    check(operators == {"aten::empty", "aten::mm", "aten::clone"}, f"{what}: the peak by operator", operators)


def give_lines(truth, requested):
    """Adds to each allocation of the truth the line of Python that `mem` names: that of `allocate`, the innermost."""
    by_thread = {}
    for line in requested:
        by_thread.setdefault((line["tid"], line["device"]), []).append(line["stack"])
    for line in truth:
        if line["action"] != "release":
            _, function, path, number, _ = by_thread[line["tid"], line["device"]].pop(0)[0]
            line["line"] = f"{'/'.join(path.split('/')[-2:])}({number}): {function}"


def check_allocator(options, name, level, with_driver=False):
    what = f"{name} {level}{', with a driver' if with_driver else ''}"
    with Folder() as folder:
        done, figures, files = train(options, getattr(options, name), folder, level, with_driver)
        check(not done.stderr or not is_known_python(), f"{what}: nothing is said", done.stderr)
        check(figures["reports"] == figures["passed_on"], f"{what}: all {figures['reports']} reports are passed on", figures)
        if not check(len(files) == 1, f"{what}: there is one recording", files):
            return
        truth, requested = lines_of(f"{folder}/truth"), lines_of(f"{folder}/requested")
        recording = read_recording.read(files[0])
        check_records(what, recording, truth)
        check([event.address for event in allocations(recording) if event.action == "fail"] == [figures["free"]], f"{what}: free memory at the failure", figures)
        if is_known_python():
            check_stacks(what, recording, requested)
            give_lines(truth, requested)
            check_answers(options, what, folder, truth, figures["free"])


def check_refused(options, name):
    with Folder() as folder:
        done, figures, files = train(options, getattr(options, name), folder)
        check(done.stderr.count("\n") == 1 and UNFIT in done.stderr, f"{name}: one line says so", done.stderr)
        check(figures["passed_on"] == (None if name == "silent" else figures["reports"]), f"{name}: all reports are passed on", figures)
        recorded = [allocations(read_recording.read(path)) for path in files]
        check(recorded == [[]], f"{name}: no allocation is recorded, operators are", recorded)


def check_left_alone(options):
    with Folder() as folder:
        done, figures, files = train(options, options.now, folder, "stacks")
        recorded = [len(allocations(read_recording.read(path))) for path in files]
        check(recorded == [0] and figures["reports"] == figures["passed_on"], "stacks: allocations are left alone", (recorded, figures))


def check_real(options):
    """The entries of a real libc10_cuda, of the Python of TRACETOOL_PYTHON (else this one), are found."""
    python = os.environ.get("TRACETOOL_PYTHON", sys.executable)
    has_cuda = run([python, "-c", "import torch; print(torch.version.cuda is not None)"]).stdout.strip() == "True"
    if not has_cuda:
        print("left out: no PyTorch with CUDA here", flush=True)
        return
    with Folder() as folder, subprocess.Popen(
            [python, "-c", "import torch, time; torch.ones(1); time.sleep(100)"], stderr=subprocess.PIPE, text=True,
            env=clean_environment(LD_PRELOAD=options.agent, TRACETOOL_TORCH="memory", TRACETOOL_VERBOSE=1, TRACETOOL_DIR=folder)) as process:
        said = []
        for line in process.stderr:
            said.append(line)
            if "allocations of PyTorch" in line or UNFIT in line:
                break
        process.kill()
        check("allocations of PyTorch are recorded" in said[-1], "a real PyTorch: its entries are found", said)


def main():
    options = arguments("agent", "tracetool", "torch", "simulated", "lazy", "now", "silent", "wrong")
    check_allocator(options, "lazy", "memory")
    check_allocator(options, "now", "all")
    check_allocator(options, "now", "memory", with_driver=True)
    check_refused(options, "silent")
    check_refused(options, "wrong")
    check_left_alone(options)
    check_real(options)
    finish()


if __name__ == "__main__":
    main()
