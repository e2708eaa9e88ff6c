#!/usr/bin/env python3
"""`tracetool check`: synthesized profiles of 40 steps with a noise of 2 %, where a class is 5 % slower or nothing is; profiles of 3 to 5
steps; steps that depend on each other; runs that cannot be compared or judged; its summary.

  test_check.py --tracetool PATH
"""
import json
import os
import re

from harness import Folder, arguments, check, finish, run
from made_profiles import GEMM, MANY, SOFTMAX, STEP, drift, profile

REPETITIONS = 20  # each of two processes; tests/unit/cli/answers/compare/test_noise.cpp has hundreds


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
    check(done.returncode == 4 and lines[0].split() == ["name", "regressed", "what", "baseline", "ms", "now", "ms", "change", "%", "noise", "%"] and len(lines) == 5 and all(line.split()[1] == "yes" for line in lines[1:]),
          "a regression: one table of what regressed", done)
    check("check failed: the step and 3 classes regressed by more than 3 %" in done.stderr and "tracetool diff a.json slow.json" in done.stderr, "and a line that says what to do next", done.stderr)
    with open(f"{tool.folder}/summary.md", encoding="utf-8") as file:
        summary = file.read()
    check(summary.startswith("### tracetool check\n\nthe step and 3 classes regressed") and "|---:|---|---:|---:|---:|---:|---|" in summary and "| yes | class |" in summary, "the summary is Markdown", summary)
    done = tool.check("slow.json", "a.json", "--json")
    rows = json.loads(done.stdout)["check"]
    check(done.returncode == 4 and [(row["what"], row["name"], row["regressed"]) for row in rows][0] == ("step", "step", True) and len(rows) == 4 and all(row["noise_pct"] < 5 for row in rows), "JSON has all that was judged", done)
    done = tool.check("a.json", "slow.json", "--summary", "summary.md")
    check(done.returncode == 0 and done.stdout.startswith("no regression of more than 3 %: step ") and done.stdout.count("\n") == 1 and not done.stderr, "what is faster passes, in a line", done)
    done = tool.check("a.json", "a.json")
    check(done.returncode == 0 and "(+0.0 % +- " in done.stdout, "a run and itself", done)
    done = tool.check("slow.json", "a.json", "--steps", "3-8")
    check(done.returncode == 4 and "regressed by more than 3 %" in done.stderr, "20 % are seen with 6 steps a side", done)
    done = tool("check", "slow.json", "--baseline", "a.json", "--max-regress", 25)
    check(done.returncode == 0, "20 % slower, and 25 % are allowed", done)


def sides(tool, name, ranks, **more):
    """A profile of each rank, with seeds of its own; what to name on the command line."""
    for rank in range(ranks):
        profile(f"{tool.folder}/{name}/rank{rank}.json", rank=rank, world=8, kernels=MANY, **{**more, "seed": 8 * more["seed"] + rank})
    return name if ranks > 1 else f"{name}/rank0.json"


def check_few(tool):
    """Profiles of 3 to 5 steps, as torch.profiler's schedules make them: hundreds of launches, and few steps."""
    for ranks, steps in ((1, 3), (1, 4), (1, 5), (8, 4)):
        what = f"{steps} steps, {ranks} ranks"
        a, slow, alike = (sides(tool, f"{name}-{ranks}-{steps}", ranks, steps=steps, seed=seed, slower={kernel: factor for kernel, _ in STEP})
                          for seed, (name, factor) in enumerate((("a", 1), ("slow", 1.2), ("alike", 1.005))))
        done = tool.check(slow, a)
        check(done.returncode == 4 and all(name in done.stdout for name in ("matmul", "elementwise", "softmax")) and "regressed by more than 3 %" in done.stderr, f"{what}: kernels that are 20 % slower", done)
        done = tool.check(a, a)
        check(done.returncode == 0 and "no regression" in done.stdout and "a change of " in done.stdout and "would have been detected in the step" in done.stdout, f"{what}: the same trace twice", done)
        done = tool.check(alike, a)
        check(done.returncode == 0 and "no regression" in done.stdout, f"{what}: a difference of 0.5 %", done)
    rows = json.loads(tool.check("a-1-4/rank0.json", "a-1-4/rank0.json", "--json").stdout)
    check([row["what"] for row in rows["check"]] == ["step"] + 3 * ["class"] and {row["name"] for row in rows["kernels"]} == {name for name, _ in STEP}, "JSON has classes and kernels", rows)
    check(all(row["judgement"] == "passed" and row["detectable_pct"] == max(3, row["noise_pct"]) < 20 for table in rows.values() for row in table), "and what would have been seen", rows)
    kernel = next(row for row in rows["kernels"] if row["name"] == SOFTMAX)
    check(0.97 < kernel["baseline_ns"] / 150_000 < 1.03 and (kernel["configuration"], kernel["class"]) == ("64x1x1 128x1x1", "softmax_loss"), "a kernel's time is that of a launch", kernel)


def check_one_kernel(tool):
    """A kernel of one configuration, 3 % of the step, in a class that hardly changes."""
    kernels = MANY + 10 * [("vectorized_elementwise_kernel_sub", 30_000)]
    for name, seed, slower in (("quick", 1, {}), ("slower", 2, {"vectorized_elementwise_kernel_sub": 1.2})):
        profile(f"{tool.folder}/{name}.json", kernels=kernels, steps=5, seed=seed, slower=slower)
    done = tool.check("slower.json", "quick.json")
    rows = [re.split(r"\s{2,}", line.strip()) for line in done.stdout.splitlines()[1:]]
    check(done.returncode == 4 and [row[2] for row in rows] == ["kernel"] and rows[0][0].split() == ["vectorized_elementwise_kernel_sub", "64x1x1", "128x1x1"] and "1 kernel regressed" in done.stderr,
          "a kernel that is 20 % slower is found in a class that is not", done)


def check_unjudged(tool):
    profile(f"{tool.folder}/two-steps.json", kernels=MANY, steps=2)
    profile(f"{tool.folder}/wild.json", steps=4, noise=0.4, seed=5)
    for file, needle in (("two-steps.json", "too few steps to judge: 2 in the baseline and 2 now, but 3 are needed"), ("wild.json", "too much noise to see a regression of more than 3 %: step ")):
        done = tool.check(file, file)
        check(done.returncode == 5 and done.stdout.startswith(needle) and "not judged: " in done.stderr and "--allow-unjudged" in done.stderr, f"{file}: cannot be judged", done)
        allowed = tool.check(file, file, "--allow-unjudged")
        check(allowed.returncode == 0 and allowed.stdout == done.stdout and not allowed.stderr, f"{file}: and may pass", allowed)
    check("a change of " in done.stdout and "not judged because of noise: the step, " in done.stdout, "what would have been seen, and what was not judged", done)
    profile(f"{tool.folder}/idle.json", kernels=MANY, steps=4, seed=6)
    profile(f"{tool.folder}/uneven.json", kernels=MANY, steps=4, seed=7, long_steps=(1, 2, 3))
    done = tool.check("uneven.json", "idle.json")
    check(done.returncode == 5 and "not judged because of noise: the step" in done.stdout, "a step that seems to be longer, and may be so by chance", done)
    done = tool("check", "a-1-4/rank0.json", "--baseline", "slow-1-4/rank0.json", "--max-regress", 3, "--allow-unjudged")
    check(done.returncode == 0 and "no regression" in done.stdout, "what is faster passes", done)
    check(tool("check", "slow-1-4/rank0.json", "--baseline", "a-1-4/rank0.json", "--max-regress", 3, "--allow-unjudged").returncode == 4, "a regression is never allowed", "")


def check_drift(tool):
    """Steps that depend on those before them: neighbours correlate with 0.9. No alarm."""
    alarms = []
    for steps in (4, 40):
        for seed in range(REPETITIONS):
            for side in (0, 1):
                profile(f"{tool.folder}/drift{side}.json", kernels=None, steps=steps, seed=2 * seed + side, factors=drift(100 + 2 * seed + side, steps))
            done = tool.check("drift0.json", "drift1.json")
            if done.returncode not in (0, 5):
                alarms.append((steps, seed, done))
    check(not alarms, f"{2 * REPETITIONS} pairs of runs that drift: no alarm", alarms[:1])


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
        check_few(tool)
        check_one_kernel(tool)
        check_unjudged(tool)
        check_drift(tool)
        check_merged(tool)
        check_incomparable(tool)
    finish()


main()
