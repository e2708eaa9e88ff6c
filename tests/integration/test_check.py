#!/usr/bin/env python3
"""`tracetool check`: synthesized profiles of 40 steps with a noise of 2 %, where a class is 5 % slower or nothing is; runs that
cannot be compared; its summary.

  test_check.py --tracetool PATH
"""
import json
import os

from harness import Folder, arguments, check, finish, run
from made_profiles import GEMM, STEP, profile

REPETITIONS = 20  # each of two processes; tests/unit/cli/compare/test_noise.cpp has hundreds


class Tool:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def __call__(self, *words):
        return run([self.path, *map(str, words)], cwd=self.folder)

    def check(self, file, baseline, *words):
        return self("check", file, "--baseline", baseline, "--max-regress", 3, *words)


def check_gate(tool):
    """No alarm where nothing differs, one that names the class where it is 5 % slower."""
    wrong, missed, long_steps = [], [], (7, 23)
    for seed in range(REPETITIONS):
        profile(f"{tool.folder}/a.json", seed=3 * seed)
        profile(f"{tool.folder}/b.json", seed=3 * seed + 1, long_steps=long_steps)
        profile(f"{tool.folder}/c.json", seed=3 * seed + 2, slower={GEMM: 1.05}, long_steps=long_steps)
        done = tool.check("b.json", "a.json")
        if done.returncode != 0 or "no regression" not in done.stdout:
            wrong.append((seed, done))
        done = tool.check("c.json", "a.json")
        if done.returncode != 4 or "matmul" not in done.stdout or "step" in done.stdout.split("matmul")[0].split("\n", 1)[1]:
            missed.append((seed, done))
    check(not wrong, f"{REPETITIONS} runs that do not differ, with two long steps: no alarm", wrong[:1])
    check(not missed, f"{REPETITIONS} runs with a class that is 5 % slower: it is named, and the step is not", missed[:1])


def check_words(tool):
    profile(f"{tool.folder}/a.json", seed=1)
    profile(f"{tool.folder}/slow.json", seed=2, slower={name: 1.2 for name, _ in STEP})
    done = tool.check("slow.json", "a.json", "--summary", "summary.md")
    lines = done.stdout.splitlines()
    check(done.returncode == 4 and lines[0].split() == ["regressed", "what", "baseline", "now", "change", "noise", "name"] and len(lines) == 5 and all(line.startswith("yes") for line in lines[1:]),
          "a regression: one table of what regressed", done)
    check("check failed: the step and 3 classes regressed by more than 3 %" in done.stderr and "tracetool diff a.json slow.json" in done.stderr, "and a line that says what to do next", done.stderr)
    with open(f"{tool.folder}/summary.md", encoding="utf-8") as file:
        summary = file.read()
    check(summary.startswith("### tracetool check\n\nthe step and 3 classes regressed") and "|---:|---|---:|---:|---:|---:|---|" in summary and "| yes | class |" in summary, "the summary is Markdown", summary)
    done = tool.check("slow.json", "a.json", "--json")
    rows = json.loads(done.stdout)["check"]
    check(done.returncode == 4 and [(row["what"], row["name"], row["regressed"]) for row in rows][0] == ("step", None, True) and len(rows) == 4 and all(row["noise_pct"] < 5 for row in rows), "JSON has all that was judged", done)
    done = tool.check("a.json", "slow.json", "--summary", "summary.md")
    check(done.returncode == 0 and done.stdout.startswith("no regression of more than 3 %: step ") and done.stdout.count("\n") == 1 and not done.stderr, "what is faster passes, in a line", done)
    done = tool.check("a.json", "a.json")
    check(done.returncode == 0 and "(+0.0 % +- " in done.stdout, "a run and itself", done)
    check(tool.check("slow.json", "a.json", "--steps", "3-8").returncode == 0 and "too few steps to judge: 6 in the baseline, 6 now" in tool.check("slow.json", "a.json", "--steps", "3-8").stdout,
          "fewer than 8 steps: nothing is judged", "")
    done = tool("check", "slow.json", "--baseline", "a.json", "--max-regress", 25)
    check(done.returncode == 0, "20 % slower, and 25 % are allowed", done)


def check_merged(tool):
    """Merged files and profiles alike, on either side."""
    tool("merge", "slow.json", "-o", "slow.ttrace")
    said = {tool.check(file, "a.json").stdout for file in ("slow.json", "slow.ttrace")}
    check(len(said) == 1, "a merged file says what its profile says", said)
    tool("merge", "a.json", "-o", "a.ttrace")
    check(tool.check("slow.ttrace", "a.ttrace").stdout in said, "on both sides", said)


def check_incomparable(tool):
    for rank in (0, 1):
        os.makedirs(f"{tool.folder}/two", exist_ok=True)
        profile(f"{tool.folder}/two/rank{rank}.json", rank=rank, seed=rank)
    done = tool.check("two", "a.json")
    check(done.returncode == 3 and "ranks differ: rank 0 in a.json, ranks 0-1 in two" in done.stderr and "--ranks" in done.stderr, "other ranks", done)
    check(tool.check("two", "a.json", "--ranks", 0).returncode == 0, "the ranks that both have are compared", "")
    profile(f"{tool.folder}/none.json", named=False, kernels=[(f"kernel_{i}", 1000 + i) for i in range(200)], steps=1)
    for file, baseline in (("none.json", "a.json"), ("a.json", "none.json")):
        done = tool.check(file, baseline)
        check(done.returncode == 3 and "none.json: no training steps were found" in done.stderr, f"no steps: {file} and {baseline}", done)
    with open(f"{tool.folder}/empty.json", "w", encoding="utf-8") as file:
        file.write('{"traceEvents": []}')
    done = tool.check("empty.json", "a.json")
    check(done.returncode == 3 and "empty.json" in done.stderr, "no events", done)
    check(tool.check("a.json", "missing.json").returncode == 2, "no file", "")
    done = tool("check", "a.json", "--max-regress", 3)
    check(done.returncode == 1 and "--baseline" in done.stderr, "no baseline", done)
    done = tool.check("a.json", "a.json", "--summary", "a.json")
    check(done.returncode == 1 and "also an input" in done.stderr, "the summary in place of an input", done)


def main():
    options = arguments("tracetool")
    with Folder() as folder:
        tool = Tool(options.tracetool, folder)
        check_gate(tool)
        check_words(tool)
        check_merged(tool)
        check_incomparable(tool)
    finish()


main()
