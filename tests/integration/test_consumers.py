#!/usr/bin/env python3
"""TensorBoard's PyTorch plugin and TraceLens show of an export --kineto what they show of the original, for some traces, of
each age. Skipped where neither TRACETOOL_TENSORBOARD_PYTHON nor TRACETOOL_TRACELENS_PYTHON names a Python that has
torch_tb_profiler or TraceLens.

  test_consumers.py --tracetool PATH --traces FOLDER       real traces are left out where the folder is absent
"""
import argparse
import json
import os
import shutil
import subprocess

import trace_sets
from harness import Folder, check, files_below, finish, run, skip

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = ("job-ns/rank0-chrome-trace.json.gz", "job-old-us/worker0_step_12.1694128201545.pt.trace.json.gz",
         "two-of-one-rank/num_workers_0.pt.trace.json.gz", "single/inference.json.gz",
         "single/a100-alexnet.json.gz", "single/h100-qwen-inference.json.gz", "single/triton.json.gz",
         "single/v100-rank1of2-216k-events.json.gz", "resnet50-dataloader/num_workers_0.pt.trace.json.gz",
         "modded-nanogpt-8xh100/rank0-chrome-trace.json.gz")
NAME = "worker.pt.trace.json.gz"


class Consumer:
    def __init__(self, name, variable, module, script, of_folder):
        self.name, self.variable, self.of_folder = name, variable, of_folder
        self.python, self.script = os.environ.get(variable, ""), os.path.join(HERE, script)
        self.is_there = bool(self.python) and subprocess.run(
            [self.python, "-c", f"import {module}"], capture_output=True).returncode == 0

    def tables(self, path):
        source = os.path.dirname(path) if self.of_folder else path
        result = subprocess.run([self.python, self.script, source], capture_output=True, text=True)
        return json.loads(result.stdout) if result.returncode == 0 else None


CONSUMERS = (Consumer("TensorBoard", "TRACETOOL_TENSORBOARD_PYTHON", "torch_tb_profiler", "tensorboard_tables.py", True),
             Consumer("TraceLens", "TRACETOOL_TRACELENS_PYTHON", "TraceLens", "tracelens_tables.py", False))


def compare(tool, name, path):
    with Folder() as folder:
        before, after = os.path.join(folder, "before", NAME), os.path.join(folder, "after", NAME)
        os.mkdir(os.path.dirname(before))
        shutil.copy(path, before)
        result = run([tool, "export", "--kineto", path, "-o", os.path.dirname(after)])
        if not check(result.returncode == 0, f"{name}: is exported", result.stderr):
            return
        os.rename(files_below(os.path.dirname(after))[0], after)
        for consumer in (each for each in CONSUMERS if each.is_there):
            wanted = consumer.tables(before)
            if wanted is None:  # TraceLens needs work of a GPU
                print(f"      {name}: {consumer.name} cannot load the original", flush=True)
            else:
                check_same(f"{name}: {consumer.name}", wanted, consumer.tables(after))


def check_same(what, wanted, found):
    """Tables by name, or by worker and name."""
    check(wanted and found == wanted, f"{what} shows the same: {', '.join(wanted)}",
          lambda: f"{str(wanted)[:300]} {str(found)[:300]}")


def main():
    parser = argparse.ArgumentParser()
    for name in ("tracetool", "traces"):
        parser.add_argument("--" + name, required=True, type=os.path.abspath)
    options = parser.parse_args()
    if not any(consumer.is_there for consumer in CONSUMERS):
        skip("no Python is named that has TensorBoard's PyTorch plugin or TraceLens: " +
             ", ".join(consumer.variable for consumer in CONSUMERS))
    for consumer in (each for each in CONSUMERS if not each.is_there):
        print(f"      without {consumer.name}: {consumer.variable}", flush=True)
    with trace_sets.folders(options.traces) as folders:
        for path in (os.path.join(folder, name) for folder in folders for name in FILES):
            if os.path.exists(path):
                compare(options.tracetool, os.path.relpath(path, os.path.dirname(os.path.dirname(path))), path)
    finish()


main()
