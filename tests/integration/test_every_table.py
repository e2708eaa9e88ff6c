#!/usr/bin/env python3
"""Every table of `analyze`, by step, rank, shape and stack, and `diagnose`, `diff` and `check` end without an error on every trace
and on a merged simulated run. For sanitizers, which say what is wrong: whether the values are right, other tests say with g++.

  test_every_table.py --tracetool PATH --traces DIR [--agent PATH --simulated PATH]
"""
import json
import re

from harness import Folder, check, run
from test_analyze import run_checks
from trace_sets import folders, inputs
from truth import train


def names_of(options):
    listed = run([options.tracetool, "analyze", "--list"]).stdout
    return re.findall(r"^(\w+):", listed, re.MULTILINE)


def ended(options, what, *words, codes=(0,)):
    done = run([options.tracetool, *map(str, words)])
    check(done.returncode in codes, what, f"{done.returncode}: {done.stderr[:500]}")
    return done


def check_input(options, what, names, paths):
    done = ended(options, f"{what}: every table", "analyze", *paths, "--only", ",".join(names), "--format", "json")
    check(set(names) <= set(json.loads(done.stdout or "{}")), f"{what}: every table is there")
    for by in ("step", "rank", "shape", "stack"):
        left = list(names)
        while left:
            done = run([options.tracetool, "analyze", *paths, "--only", ",".join(left), "--by", by])
            without = re.search(r"--by \w+: (\w+) has no such rows", done.stderr)
            if not without:
                break
            left.remove(without[1])
        check(left and done.returncode == 0, f"{what}: tables by {by}", f"{done.returncode}: {done.stderr[:500]}")
    ended(options, f"{what}: diagnose", "diagnose", *paths, "--format", "json")
    ended(options, f"{what}: diff", "diff", *paths[:1], *paths[-1:], codes=(0, 3))  # 3: nothing to compare


def check_traces(options):
    names = names_of(options)
    with folders(options.traces) as some:
        for folder in some:
            for name, paths in inputs(folder):
                check_input(options, name, names, paths)


def check_simulated(options):
    with Folder() as folder:
        train(options, folder, "--ranks", 2, "--steps", 12)
        merged = f"{folder}/run.ttrace"
        ended(options, "merge", "merge", folder, "-o", merged)
        check_input(options, "a simulated run", names_of(options), [merged])
        ended(options, "check", "check", merged, "--baseline", merged, "--max-regress", 50)


if __name__ == "__main__":
    run_checks(check_traces, simulated=(check_simulated,))
