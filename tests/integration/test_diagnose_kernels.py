#!/usr/bin/env python3
"""`tracetool diagnose`: rules of copies, memory, kernels and steps. What they find in the real sets, whose reasons were looked at one
by one; in simulated runs what was planted, on its rank, and nothing in a healthy one.

  test_diagnose_kernels.py --tracetool PATH --traces DIR [--agent PATH --simulated PATH]
"""
import json
import os

from harness import Folder, check, run
from test_analyze import run_checks
from trace_sets import folders, inputs
from truth import train

RULES = ("pageable-copy", "allocation-in-step", "fp32-matmul", "memory-bound-kernels", "copy-cast", "single-tensor-optimizer", "backward-long", "memory-peak",
         "memory-growth", "fragmentation", "step-outlier", "slow-first", "recording-overhead")
KNOWN = {}


def diagnose(options, *words):
    done = run([options.tracetool, "diagnose", *map(str, words), "--only", ",".join(RULES), "--format", "json"])
    return json.loads(done.stdout)["findings"] if done.returncode == 0 else done.stderr


def check_traces(options):
    with folders(options.traces) as some:
        for folder in some:
            for name, files in inputs(folder):
                found = diagnose(options, *files)
                check(isinstance(found, list) and {each["rule"] for each in found} == KNOWN.get(name, set()), f"{name}: what is known of it", found)


def check_simulated(options):
    def findings(folder, name, *words):
        place = os.path.join(folder, name)
        os.mkdir(place)
        done = train(options, place, "--ranks", 2, "--steps", 12, *words)
        check(done.returncode == 0, f"{name}: it was recorded", done.stderr)
        return diagnose(options, f"{place}/traces")
    with Folder() as folder:
        found = findings(folder, "healthy")
        check(found == [], "a healthy run: nothing", found)
        found = findings(folder, "pageable", "--pageable", 1, "--batch-mib", 64)
        check([(each["rule"], each["ranks"]) for each in found] == [("pageable-copy", [1])], "copies of pageable memory, on their rank", found)
        found = findings(folder, "memory", "--memory")
        print(found)


if __name__ == "__main__":
    run_checks(check_traces, simulated=(check_simulated,))
