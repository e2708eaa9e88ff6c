#!/usr/bin/env python3
"""`tracetool analyze --only step_phases` against a slow program (slow_phases.py), to the nanosecond; the phases of a step
are its busy time. A made trace, whose phases are also known by how it was made, and real ones where they are.

  test_step_phases.py --tracetool PATH --traces DIR
"""
import json

import slow_steps
import slow_tables
from harness import Folder, check
from slow_phases import ORDER, phases
from test_analyze import count_sets, run_checks, tables


def check_set(options, name, files):
    """How many steps were compared."""
    count = 0
    for path in files:
        events = slow_tables.read_json(path)
        marked = slow_steps.windows_of(events) if events is not None else []
        if not marked:
            continue
        said = tables(options, path, "--only", "step_phases,steps")
        true = phases(events, marked)
        rows = {(row["step"], row["device"]): {key: row[key] for key in ("busy_ns", *(f"{phase}_ns" for phase in ORDER))} for row in said["step_phases"]}
        wrong = [(key, rows.get(key), row) for key, row in true.items() if rows.get(key) != row]
        check(not wrong and len(rows) == len(true), f"{name}: phases of {len(true)} steps", wrong[:3])
        check(all(sum(row[f"{phase}_ns"] or 0 for phase in ORDER) == row["busy_ns"] for row in rows.values()), f"{name}: they are the busy time", rows)
        busy = {(row["step"], row["device"]): row["busy_ns"] for row in said["steps"] if row["busy_ns"] is not None}
        check({key: row["busy_ns"] for key, row in rows.items()} == busy, f"{name}: that of the table steps", busy)
        count += len(rows)
    return count


class Made:
    """Four steps of 1 ms: forward on thread 1, backward on the engine's thread 2, communication beside it, the optimizer on thread 1."""

    def __init__(self, engine):
        self.events, self.correlation = [], 0
        for number in range(4):
            at = 1000 + 1000 * number
            self.add("user_annotation", f"ProfilerStep#{number}", 1, at, 990)
            self.work("cpu_op", "aten::linear", 1, at + 10, 100, 90, **{"Sequence number": 7 * number, "Fwd thread id": 0})
            self.work("cpu_op", "aten::gelu", 1, at + 120, 50, 80, **{"Sequence number": 7 * number + 1, "Fwd thread id": 0})
            if engine:
                self.work("cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 2, at + 300, 100, 150)
                self.work("cpu_op", "MulBackward0", 2, at + 410, 30, 60, **{"Sequence number": 7 * number, "Fwd thread id": 1})
            self.work("cpu_op", "torch::autograd::AccumulateGrad", 2, at + 450, 20, 40)
            self.work("user_annotation", "a bucket", 3, at + 430, 20, 300, name="ncclDevKernel_AllReduce_Sum_f32_RING_LL", stream=20)
            self.work("user_annotation", "Optimizer.step#AdamW.step", 1, at + 700, 100, 120)
            self.work("user_annotation", "logging", 1, at + 900, 20, 10 + number)

    def add(self, category, name, thread, start, duration, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": 1 if category != "kernel" else 0, "tid": thread, "ts": start, "dur": duration, "args": args})

    def work(self, category, host, thread, start, duration, runs, name="kernel", stream=7, **args):
        """A range in which a kernel is launched that runs 30 us later."""
        self.correlation += 1
        self.add(category, host, thread, start, duration, **args)
        self.add("cuda_runtime", "cudaLaunchKernel", thread, start + 2, 5, correlation=self.correlation)
        self.add("kernel", name, stream, start + 32, runs, device=0, context=1, stream=stream, correlation=self.correlation, grid=[1, 1, 1], block=[32, 1, 1])


def check_made(options):
    true = {True: {"forward_ns": 170000, "backward_ns": 190000, "optimizer_ns": 120000},
            False: {"forward_ns": 170000, "backward_ns": None, "optimizer_ns": 120000}}  # PyTorch 1.7: gradients that are accumulated tell nothing
    for engine, phase_ns in true.items():
        with Folder() as folder:
            path = f"{folder}/made.json"
            with open(path, "w", encoding="utf-8") as file:
                json.dump({"traceEvents": Made(engine).events}, file)
            check(check_set(options, f"made, {engine}", [path]) == 4, "four steps were compared")
            rows = tables(options, path, "--only", "step_phases")["step_phases"]
            check([{key: row[key] for key in phase_ns} for row in rows] == [phase_ns] * 4, "the phases are those that were made", rows)
            others = [10000 + 1000 * number + (0 if engine else 40000) for number in range(4)]
            check([row["other_ns"] for row in rows] == others, "what no phase is known of is other", rows)


def check_all(options):
    count = count_sets(options, check_set)
    check(count > 0, f"{count} steps were compared")


if __name__ == "__main__":
    run_checks(check_made, check_all)
