#!/usr/bin/env python3
"""Kineto traces, synthesized and real, through the shipped tracetool: counts as an independent script counts them in the JSON, exports that hold
exactly those events, an arrow for every pair of ends; what cannot be merged is refused with its reason.

  test_traces.py --tracetool PATH --traces FOLDER        real traces are left out where the folder is absent
"""
import argparse
import collections
import gc
import gzip
import json
import os
import subprocess
import sys
import tempfile

import trace_sets

KERNEL = ("kernel", "Kernel")
HERE = os.path.dirname(os.path.abspath(__file__))


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


class Checks:
    def __init__(self, tool):
        self.tool, self.failed, self.passed = tool, 0, 0

    def check(self, holds, what):
        self.passed, self.failed = self.passed + bool(holds), self.failed + (not holds)
        if not holds:
            print(f"FAILED: {what}")

    def info(self, path):
        result = run(self.tool, "info", "--json", path)
        self.check(result.returncode == 0, f"info {path}: {result.stderr}")
        return json.loads(result.stdout)["ranks"]

    def truth(self, paths):
        result = run(sys.executable, f"{HERE}/count_json.py", *paths)
        self.check(result.returncode == 0, f"count_json {paths}: {result.stderr}")
        return [json.loads(line) for line in result.stdout.splitlines()]

    def merged(self, paths, name):
        """Merges, compares the counts of every file, exports, and checks the export."""
        with tempfile.TemporaryDirectory() as work:
            merged, exported = f"{work}/m.ttrace", f"{work}/m.json"
            result = run(self.tool, "merge", *paths, "-o", merged)
            self.check(result.returncode == 0, f"merge {name}: {result.stderr}")
            if result.returncode != 0:
                return
            ranks, truth = self.info(merged), self.truth(paths)
            self.same_counts(ranks, truth, name)
            result = run(self.tool, "export", "--perfetto", merged, "-o", exported)
            self.check(result.returncode == 0, f"export {name}: {result.stderr}")
            with open(f"{work}/info.json", "w", encoding="utf-8") as out:
                json.dump({"ranks": ranks}, out)
            result = run(sys.executable, f"{HERE}/check_chrome_json.py", exported, "--info", f"{work}/info.json", "--json")
            self.check(result.returncode == 0, f"the export of {name}: {result.stdout[-2000:]}{result.stderr}")
            self.same_arrows(json.loads(result.stdout), truth, name)
            self.same_kernels(paths, exported, name)

    def same_counts(self, ranks, truth, name):
        by_source = {os.path.basename(rank["source"]): rank for rank in ranks}
        self.check(len(by_source) == len(truth), f"{name}: {len(by_source)} processes from {len(truth)} files")
        for counted in truth:
            rank = by_source.get(os.path.basename(counted["file"]), {"counts": {}})
            for kind in set(counted["counts"]) | set(rank["counts"]):
                have, should = rank["counts"].get(kind, 0), counted["counts"].get(kind, 0)
                self.check(have == should, f"{name}: {counted['file']}: {have} of {kind}, the JSON has {should}")

    def same_arrows(self, checked, truth, name):
        pairs = sum(flow["pairs"] for counted in truth for flow in counted["flows"].values())
        if any(counted["flows"] for counted in truth):
            self.check(checked["arrows"] == pairs, f"{name}: {checked['arrows']} arrows, the JSON has {pairs} pairs")

    def same_kernels(self, paths, exported, name):
        """Kernels by their whole names: a shortened one has it as an argument. Linker names are demangled on the way."""
        def whole(event):
            return event.get("args", {}).get("full name", event["name"])

        kernels = collections.Counter(whole(e) for e in load(exported) if e.get("cat") in KERNEL and e["ph"] == "X")
        should = collections.Counter()
        for path in paths:
            should.update(e["name"] for e in load(path) if e.get("cat") in KERNEL and e["ph"] == "X")
        linker = sum(n for kernel, n in should.items() if kernel.startswith("_Z"))
        missing = should - kernels
        self.check(sum(missing.values()) <= linker and sum(kernels.values()) == sum(should.values()),
                   f"{name}: kernels by name: {list(missing.items())[:3]} are missing")


def load(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rb") as file:
        trace = json.loads(file.read().decode("utf-8", "replace"), strict=False)
    return trace["traceEvents"] if isinstance(trace, dict) else trace


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tracetool", required=True)
    parser.add_argument("--traces", required=True)
    options = parser.parse_args()
    checks = Checks(options.tracetool)
    with trace_sets.folders(options.traces) as folders:
        for folder in folders:
            for name, paths in trace_sets.inputs(folder):
                checks.merged(paths, name)
            twice = run(options.tracetool, "merge", f"{folder}/single", "-o", "/dev/null")
            told = "duplicate rank" in twice.stderr or "different runs: " in twice.stderr
            checks.check(twice.returncode == 1 and told, f"files of several jobs are not merged: {twice.stderr}")
    print(f"{checks.passed} checks passed, {checks.failed} failed")
    return 1 if checks.failed else 0


if __name__ == "__main__":
    gc.disable()  # as harness.py does
    sys.exit(main())
