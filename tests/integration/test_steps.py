#!/usr/bin/env python3
"""Steps of programs that name none: marks of real profiles are taken out, and what is found by the period of the kernels is
compared with them; synthesized profiles with evaluations, optimizers that take turns, and ranks that begin at different
steps; simulated runs without NVTX against their truth.

  test_steps.py --tracetool PATH --traces DIR [--agent PATH --simulated PATH]
"""
import functools
import glob
import gzip
import json
import os
import random
from collections import Counter

import slow_tables
from harness import Folder, check, run
from test_analyze import analyze, run_checks, tables
from truth import load, train

EXACT = {"resnet50-dataloader/num_workers_0": 1462, "resnet50-dataloader/num_workers_4": 1478, "single/a100-rank0of2-collective-args": 900,
         "single/v100-ns-resolution": 870, "single/v100-rank1of2-216k-events": 3874, "single/a100-rank0of16": 1075}
BY_NAMES = {"single/mi300-rank0of8-rccl": 746}
# Of which each step has one of the optimizers that end it; modded-nanogpt's take turns, and mark no forward pass.
WITH_OPTIMIZERS = ("resnet50-dataloader/num_workers_0", "resnet50-dataloader/num_workers_4", "single/a100-rank0of16", "single/mi300-rank0of8-rccl",
                   "single/v100-rank1of2-216k-events", "modded-nanogpt-8xh100/rank0-chrome-trace", "modded-nanogpt-8xh100/rank5-chrome-trace")
NONE = ("sampled-2of128/sampled_rank-0", "sampled-2of128/sampled_rank-1", "dlrm-8xv100/worker0_step_12")


@functools.lru_cache(maxsize=1)
def read(path):
    """A whole profile, to be looked at alone."""
    return slow_tables.read_trace(path)


def steps(options, *words):
    return tables(options, *words, "--only", "steps").get("steps", [])


def is_mark(event):
    return str(event.get("name", "")).startswith("ProfilerStep#")


def marks(events):
    """[(start, end)] on the host."""
    return sorted((slow_tables.ns(e["ts"]), slow_tables.ns(e["ts"]) + slow_tables.ns(e["dur"]))
                  for e in events if is_mark(e) and e.get("cat") in ("user_annotation", "cpu_op", "Operator"))


def launched(events):
    """When each kernel was launched, of those whose call is there."""
    calls = {}
    for event in events:
        if event.get("cat") in ("cuda_runtime", "cuda_driver", "Runtime") and "correlation" in event.get("args", {}):
            calls.setdefault(event["args"]["correlation"], slow_tables.ns(event["ts"]))
    correlations = (e.get("args", {}).get("correlation") for e in events if e.get("cat") in ("kernel", "Kernel"))
    return [calls[each] for each in correlations if each in calls]


def is_optimizer(event):
    return str(event.get("name", "")).startswith("Optimizer.step#")


def hide(path, folder, optimizers_too=True):
    trace = read(path)
    events = [e for e in trace["traceEvents"] if not (is_mark(e) or (optimizers_too and is_optimizer(e)))]
    hidden = f"{folder}/{os.path.basename(path)}"
    with gzip.open(hidden, "wt", encoding="utf-8", compresslevel=1) as file:
        file.write(json.dumps({**trace, "traceEvents": events}, default=float))
    return hidden


def check_marks_hidden(options, name, kernels, path, folder):
    events = read(path)["traceEvents"]
    true, times = marks(events), launched(events)
    per_step = Counter(sum(begin <= each < end for each in times) for begin, end in true[1:])
    found = steps(options, hide(path, folder))
    check(per_step.most_common(1)[0][0] == kernels and {row["kernels"] for row in found} == {kernels}, f"{name}: {kernels} kernels a step", (per_step, found))
    check(len(found) >= len(true) - 2 and all(row["found_by"] == "period of kernels" for row in found), f"{name}: {len(found)} of {len(true)} steps", found)
    named = steps(options, path)
    offsets = []
    for row in found[1:]:  # the first one has no kernel before it
        before = [mark["host_start_ns"] for mark in named if mark["host_start_ns"] <= row["host_start_ns"] + 3 * mark["host_duration_ns"] // 100]
        offsets.append(row["host_start_ns"] - max(before))
    length = sum(end - begin for begin, end in true) / len(true)
    if name in EXACT:
        check(max(offsets) - min(offsets) <= length / 100, f"{name}: they begin at one place of their steps", (offsets, length))


def check_optimizers(options, name, path, folder):
    """Where the optimizers' marks are left: as many steps as were named, each with the end of one optimizer."""
    events = read(path)["traceEvents"]
    origin = min(slow_tables.ns(e["ts"]) for e in events if "ts" in e and e.get("ph") not in ("M", "f"))
    ends = sorted({slow_tables.ns(e["ts"]) + slow_tables.ns(e["dur"]) - origin for e in events if is_optimizer(e) and "dur" in e})
    true = [(begin - origin, end - origin) for begin, end in marks(events)]
    whole = [(begin, end) for begin, end in true if any(begin <= each <= end for each in ends)]
    found = steps(options, hide(path, folder, optimizers_too=False))
    got = [row["host_start_ns"] + row["host_duration_ns"] for row in found]
    check(len(whole) - 1 <= len(found) <= len(whole) and {row["found_by"] for row in found} == {"Optimizer.step#"}, f"{name}: {len(found)} steps by its optimizer",
          (len(whole), found))
    check(all(sum(begin <= each <= end for each in got) <= 1 for begin, end in true) and set(got) <= set(ends), f"{name}: each ends as an optimizer does", (got, ends))


def check_real(options):
    if not os.path.isdir(options.traces):
        print("left out: real traces", flush=True)
        return
    with Folder() as folder:
        known = {**EXACT, **BY_NAMES}
        for name in dict.fromkeys((*known, *WITH_OPTIMIZERS)):
            (path,) = glob.glob(f"{options.traces}/{name}.*")
            if name in known:
                check_marks_hidden(options, name, known[name], path, folder)
            if name in WITH_OPTIMIZERS:
                check_optimizers(options, name, path, folder)
        for name in NONE:
            (path,) = glob.glob(f"{options.traces}/{name}.*")
            said = analyze(options, hide(path, folder), "--only", "steps").stdout
            check("the kernels have no period: at best" in said and "80 % are needed" in said, f"{name}: no steps, and the best match is told", said)
    with Folder() as folder:
        hidden, true = [], {}
        for rank, path in enumerate(sorted(glob.glob(f"{options.traces}/modded-nanogpt-8xh100/*.gz"))):
            hidden.append(hide(path, folder))
            events = read(path)["traceEvents"]
            times = launched(events)
            begins = [begin for begin, _ in marks(events)]
            true[rank] = sum(begins[1] <= each < begins[3] for each in times)  # two steps, whose optimizers take turns
        found = steps(options, *hidden)
        check({row["rank"]: row["kernels"] for row in found} == true, "optimizers that take turns: two steps are one period", (found, true))
        merged = f"{folder}/run.ttrace"
        run([options.tracetool, "merge", *hidden, "-o", merged])
        check(steps(options, merged) == found, "a merged file has the same steps", found)
        info = run([options.tracetool, "info", merged]).stdout
        check("ranks 1-3: steps found by the period of kernels" in info and "1299 kernels" in info, "info says how they were found", info)


class Program:
    """Writes a profile of kernels: each is launched 2 us after the one before, and runs 10 us later for 1 us."""

    def __init__(self, seed):
        self.random, self.events, self.at, self.correlation = random.Random(seed), [], 1000, 100

    def launch(self, name, grid=1):
        self.correlation += 1
        self.events.append({"ph": "X", "name": "cudaLaunchKernel", "cat": "cuda_runtime", "pid": 1, "tid": 1, "ts": self.at, "dur": 1,
                            "args": {"correlation": self.correlation}})
        self.kernel(name, grid)
        self.at += 2

    def kernel(self, name, grid=1):
        late = self.random.randrange(10, 40)  # so that kernels do not start in the order of their launches
        stream = self.random.choice((7, 8))
        self.events.append({"ph": "X", "name": name, "cat": "kernel", "pid": 0, "tid": stream, "ts": self.at + late, "dur": 1,
                            "args": {"device": 0, "stream": stream, "correlation": self.correlation, "grid": [grid, 1, 1], "block": [32, 1, 1]}})

    def step(self, layers=8, wait=100, optimizer="adam"):
        """Returns where it begins and ends."""
        begin = self.at - 1  # when the kernel before it had been launched
        self.at += wait
        self.launch("embed")
        for layer in range(layers):
            for name in ("norm", "gemm", "attention", "gemm"):
                self.launch(name, 1 + layer)
        for layer in reversed(range(layers)):
            for name in ("gemm_dgrad", "gemm_wgrad", "norm_backward"):
                self.launch(name, 1 + layer)
        for _ in range(4):
            self.launch(optimizer)
        return begin * 1000, (self.at - 1) * 1000

    def write(self, path, rank=None):
        head = {"distributedInfo": {"rank": rank, "world_size": 2}} if rank is not None else {}
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**head, "traceEvents": self.events}, file)


def found_in(options, program, folder):
    program.write(f"{folder}/made.json")
    origin = min(event["ts"] for event in program.events) * 1000
    return [(row["host_start_ns"] + origin, row["host_start_ns"] + row["host_duration_ns"] + origin, row["kernels"]) for row in steps(options, f"{folder}/made.json")]


def check_synthesized(options):
    kernels = 1 + 8 * 7 + 4
    with Folder() as folder:
        program, true = Program(1), []
        for number in range(12):
            true.append((*program.step(wait=100 + 7 * number), kernels))
            if number == 5:
                for _ in range(30):
                    program.launch("evaluate")
        said = found_in(options, program, folder)
        check(said[1:] == true[1:] and said[0][1:] == true[0][1:], "an evaluation is part of no step", (said, true))

        program = Program(2)
        pairs = [(program.step(optimizer="adam"), program.step(optimizer="muon", wait=50)) for _ in range(6)]
        said = found_in(options, program, folder)
        check(said[1:] == [(first[0], last[1], 2 * kernels) for first, last in pairs[1:]], "two optimizers that take turns", said)

        program = Program(3)
        for _ in range(40):  # of the layers of one forward pass, in one launch
            for name in ("norm", "q", "k", "v", "attention", "gemm", "gelu"):
                program.kernel(name)
        check(found_in(options, program, folder) == [], "what one launch of a graph repeats is no step")

        program = Program(4)
        for _ in range(400):
            program.launch(f"kernel {program.random.randrange(30)}")
        check(found_in(options, program, folder) == [], "kernels in no order have no period")

        program = Program(6)
        program.launch("embed")
        for kernels in (6, 12):  # of each forward layer, and each backward layer
            for _ in range(24):
                for kernel in range(kernels):
                    program.launch(f"kernel {kernels}, {kernel}")
        program.launch("adam")
        check(found_in(options, program, folder) == [], "layers of one iteration are no steps")
        layers = analyze(options, f"{folder}/made.json", "--only", "steps").stdout
        check("only 69.4 % of the kernels repeat, as those of layers do; 80 % are needed: 96.7 %" in layers, "and a note says so", layers)  # 301 of 434
        run([options.tracetool, "merge", f"{folder}/made.json", "-o", f"{folder}/made.ttrace"])
        merged = analyze(options, f"{folder}/made.ttrace", "--only", "steps").stdout
        check(merged == layers, "and so it does of a merged file", merged)

        program = Program(5)
        for _ in range(8):
            program.step(wait=100)
        program.events[0:0] = [{"ph": "X", "name": "ProfilerStep#3", "cat": "user_annotation", "pid": 1, "tid": 1, "ts": 900, "dur": 500, "args": {}}]
        program.write(f"{folder}/made.json")
        said = steps(options, f"{folder}/made.json")
        check([(row["step"], row["found_by"], row["kernels"]) for row in said] == [(3, "ProfilerStep#N", 100)], "what is named counts alone", said)


def check_numbers(options):
    """Ranks whose windows begin at different steps; one warms up."""
    with Folder() as folder:
        for rank, left_out in ((0, 0), (1, 3)):
            program = Program(rank)
            for number in range(12):
                if number == left_out:
                    program.events = []
                program.step(wait=400 if number < 2 else 100)
            program.write(f"{folder}/rank{rank}.json", rank)
        said = steps(options, folder)
        numbers = {rank: [row["step"] for row in said if row["rank"] == rank] for rank in (0, 1)}
        check(numbers == {0: list(range(12)), 1: list(range(3, 12))}, "one number for one step on all ranks", numbers)
        warm = [row["step"] for row in said if row["warm_up"]]
        check(warm == [0, 1], "the first steps are warm-up", said)
        summary = analyze(options, folder).stdout
        check("without warm-up steps 0-1 of up to " in summary and "by the period of kernels" in summary, "the summary leaves them out", summary)
        for only in (("--steps", 0), ("--time", "0us-300us")):
            of_first = analyze(options, folder, *only)
            check(of_first.returncode == 0 and ": only warm-up, up to " in of_first.stdout, f"{only}: all shown steps are warm-up", of_first)


def check_some_named(options):
    """Ranks 0 and 1 name their steps from 5 on; rank 2 names none, and its window begins four later."""
    with Folder() as folder:
        for rank in range(3):
            program = Program(rank)
            for number in range(12):
                if rank == 2 and number == 4:
                    program.events = []
                begin, end = program.step()
                if rank < 2:
                    program.events.append({"ph": "X", "name": f"ProfilerStep#{number + 5}", "cat": "user_annotation", "pid": 1, "tid": 1,
                                           "ts": begin // 1000, "dur": (end - begin) // 1000, "args": {}})
            program.write(f"{folder}/rank{rank}.json", rank)
        said = steps(options, folder)
        numbers = {rank: [row["step"] for row in said if row["rank"] == rank] for rank in range(3)}
        check(numbers == {0: list(range(5, 17)), 1: list(range(5, 17)), 2: list(range(9, 17))}, "steps that no range names have the numbers of those that ranges do", numbers)
        note = analyze(options, folder, "--only", "steps").stdout.split("note: ")[-1]
        check(note.startswith("rank 2: steps found by the period of kernels") and "rank only" not in note, "the note says of which rank", note)


def check_simulated(options):
    with Folder() as folder:
        done = train(options, folder, "--ranks", 2, "--steps", 10, TRACETOOL_EVENTS="default,-nvtx")
        check(done.returncode == 0, "a training is recorded", done.stderr)
        said = steps(options, f"{folder}/traces")
        for rank in load(f"{folder}/truth"):
            begins = [line["time"] for line in rank.lines if line["kind"] == "nvtx_push" and line["name"].startswith("Train step")]
            calls = {line["correlation"]: line for line in rank.of("runtime", "driver")}
            times = sorted(calls[line["correlation"]]["start"] for line in rank.of("kernel"))
            true = Counter(sum(begin <= each < end for each in times) for begin, end in zip(begins, begins[1:] + [2**62])).most_common(1)[0][0]
            own = [row for row in said if row["rank"] == rank.rank]
            check({row["kernels"] for row in own} == {true} and len(own) >= 9, f"rank {rank.rank}: {true} kernels a step", own)
            check([row["step"] for row in own] == list(range(own[0]["step"], own[0]["step"] + len(own))), "one behind the other", own)


if __name__ == "__main__":
    run_checks(check_synthesized, check_numbers, check_some_named, check_real, simulated=(check_simulated,))
