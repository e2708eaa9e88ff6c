#!/usr/bin/env python3
"""`tracetool diff` against a slow program (slow_diff.py) on Kineto traces; on synthesized ones of which it is known what was changed, and on
simulated trainings that were made slower in a known way.

  test_diff.py --tracetool PATH --traces DIR [--agent PATH --simulated PATH]
"""
import csv
import io
import json
import os
import shutil

import slow_diff
import slow_tables
from harness import Folder, check, run
from made_profiles import ADD, GEMM, IDLE_NS, MANY, MUL, SOFTMAX, profile
from page_reader import Bars, ReportPage, same
from test_analyze import run_checks
from truth import is_sanitized, train

NO_COMPUTE = ("exposed communication", "copies and memsets alone")  # of the parts


def diff(options, *words, **more):
    return run([options.tracetool, "diff", *map(str, words)], **more)


def tables(options, *words):
    done = diff(options, *words, "--format", "json")
    return json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr}


def numbers(text):
    """"0-2, 5" as numbers."""
    found = set()
    for part in (text or "").split(", "):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1)) if first else set()
    return found


def check_values(options, what, *words, files):
    """Old and new of each quantity, and the standard errors; the parts sum to the mean step."""
    said = tables(options, *words, "--all")
    if not check("runs" in said, f"{what}: they are compared", said):
        return
    for side, run_row, path in zip(("old", "new"), said["runs"], files):
        true = slow_diff.values(slow_tables.read_json(path), numbers(run_row["warm_up"]))
        step = true["step", "step"]
        check(run_row["steps"] == len(step) and run_row["step_ns"] == slow_diff.median(step), f"{what}, {side}: {len(step)} steps", run_row)
        if len(step) >= 8:
            check(abs(run_row["error_ns"] - slow_diff.error(step)) <= 1, f"{what}, {side}: the error of the median", (run_row, slow_diff.error(step)))
        rows = {(table, row["name"]): row[f"{side}_ns"] for table in ("step", "classes", "kernels") for row in said[table]}
        rows |= {("operators", (row["name"], row["measure"])): row[f"{side}_ns"] for row in said["operators"]}
        wrong = [(key, rows.get(key), slow_diff.median(ns)) for key, ns in true.items() if key[0] not in ("idle", "parts") and rows.get(key) != slow_diff.median(ns)]
        check(not wrong, f"{what}, {side}: {len(true)} medians as the slow program has them", wrong[:3])
        parts = {row["name"]: row[f"{side}_ns"] for row in said["parts"]}
        check(abs(sum(parts.values()) - slow_diff.mean(step)) <= 0.5, f"{what}, {side}: the parts sum to the mean step", (sum(parts.values()), slow_diff.mean(step)))
        idle = sum(ns for name, ns in parts.items() if name.startswith("idle "))
        check(abs(idle - slow_diff.mean(true["idle", "all"])) <= len(parts), f"{what}, {side}: the idle parts are the idle time", (idle, slow_diff.mean(true["idle", "all"])))
        compute = sum(ns for name, ns in parts.items() if not name.startswith("idle ") and name not in NO_COMPUTE)
        check(abs(compute - slow_diff.mean(true["parts", "compute"])) <= len(parts), f"{what}, {side}: the classes are the compute time", (compute, slow_diff.mean(true["parts", "compute"])))
    wrong = [row for table in ("step", "idle", "classes", "kernels") for row in said[table] if row["difference_ns"] not in range(row["new_ns"] - row["old_ns"] - 1, row["new_ns"] - row["old_ns"] + 2)]
    check(not wrong, f"{what}: differences are new - old", wrong[:2])


def changes(said, table, key="name"):
    return {row[key]: row["change"] for row in said[table]}


def check_made(options):
    with Folder() as folder:
        a = profile(f"{folder}/a.json", seed=1)
        slow = profile(f"{folder}/slow.json", seed=2, slower={GEMM: 1.05}, long_steps=(5, 30))
        late = profile(f"{folder}/late.json", seed=3, idle_ns=IDLE_NS + 1_000_000)
        fused = profile(f"{folder}/fused.json", seed=4, kernels=[(GEMM, 1_000_000), ("triton_poi_fused_add_mul_0", 1_800_000), (GEMM, 1_000_000), (SOFTMAX, 3_000_000)], slower={GEMM: 1})
        check_values(options, "made", a, slow, files=(a, slow))
        said = tables(options, a, "--a-steps", "0-9", "--b-steps", "30-", "--all")
        halves = [slow_diff.values(slow_tables.read_json(a), set(range(40)) - set(steps)) for steps in (range(10), range(30, 40))]
        check([row["step_ns"] for row in said["runs"]] == [slow_diff.median(half["step", "step"]) for half in halves] and [row["steps"] for row in said["runs"]] == [10, 10], "two choices of one run", said["runs"])
        done = diff(options, a, "--a-time", "12ms-18ms", "--b-time", "22ms-28ms")
        check(done.returncode == 0 and "no steps: comparing totals" in done.stdout and "the whole trace 6.000 ms -> 6.000 ms" in done.stdout, "times within a step: totals", done)
        said = tables(options, a, slow)
        check(changes(said, "classes") == {"matmul": "grew"} and changes(said, "kernels") == {GEMM: "grew"} and not said["idle"] and not said["sequence"], "a class that is 5 % slower, and nothing else", said)
        said = tables(options, a, late)
        check(changes(said, "idle") == {"host_late": "grew"} and changes(said, "step") == {"step": "grew"} and not said["classes"], "a host that is later by 1 ms", said)
        check(tables(options, a, late, "--min-share", 50)["idle"] == [], "changes below the least share are none", "")
        said = tables(options, a, fused)
        check(changes(said, "kernels") == {ADD: "vanished", MUL: "vanished", "triton_poi_fused_add_mul_0": "appeared"}, "kernels that were fused", said["kernels"])
        check([{key: row[key] for key in ("change", "times", "at_old", "at_new", "old_count", "new_count", "old_kernels", "new_kernels")} for row in said["sequence"]] ==
              [{"change": "replaced", "times": 1, "at_old": 2, "at_new": 2, "old_count": 2, "new_count": 1, "old_kernels": f"{ADD}; {MUL}", "new_kernels": "triton_poi_fused_add_mul_0"}],
              "in their place", said["sequence"])
        ahead = profile(f"{folder}/ahead.json", seed=5, ahead_ns=4_500_000)
        said = tables(options, ahead, a, "--all")
        check(not said["sequence"] and {row["name"]: row["old_count"] for row in said["kernels"]} == {GEMM: 2, ADD: 1, MUL: 1, SOFTMAX: 1},
              "work of a host that runs ahead belongs to the step that launched it, and counts once", (said["sequence"], said["kernels"]))
        check_values(options, "ahead", ahead, a, files=(ahead, a))
        check_few(options, folder)
        check_page(options, folder, a, slow)
        check_texts(options, folder, a, slow, fused)
        check_whole(options, folder, a)


def check_few(options, folder):
    """4 steps a side: no verdict, but why; what differs is in the tables, with the most that noise may be."""
    few, slow = (profile(f"{folder}/{name}.json", kernels=MANY, steps=4, seed=seed, slower={kernel: factor for kernel, _ in MANY}) for name, seed, factor in (("few", 8, 1), ("few-slow", 9, 1.2)))
    text = diff(options, few, slow).stdout
    check(text.startswith("too few steps to estimate the noise: 4 and 4; step ") and "times as" not in text and "more time" not in text and "+-" not in text.splitlines()[0], "4 steps a side: no verdict", text)
    said = tables(options, few, slow)
    check(set(changes(said, "kernels").values()) == {"grew"} and len(said["kernels"]) == 4 and all(0 < row["noise_ns"] < row["difference_ns"] for row in said["kernels"]), "and kernels that are slower beyond noise", said["kernels"])
    check(tables(options, few, slow, "--a-steps", "0-1", "--all")["kernels"][0]["noise_ns"] is None, "2 steps: no noise", "")


def check_texts(options, folder, a, slow, fused):
    done = diff(options, a, a)
    check(done.returncode == 0 and done.stdout.startswith("no significant difference: step ") and "grew" not in done.stdout, "a run and itself", done)
    done = diff(options, a, fused)
    check(done.returncode == 0 and done.stdout.startswith("B is 1.") and "times as fast: step " in done.stdout.splitlines()[0] and "the mean step changed by " in done.stdout.splitlines()[0], "the verdict comes first", done)
    done = diff(options, a, fused, "--format", "md")
    check("## kernels\n\n| change | old | new |" in done.stdout, "Markdown", done.stdout)
    odd = shutil.copy(a, f"{folder}/*a* [x](y).json")
    done = diff(options, odd, fused, "--format", "md")
    check("\\*a\\* \\[x\\](y).json" in done.stdout and "[x](y)" in diff(options, odd, fused).stdout and "\n\nA: " in done.stdout and "\n\nB: " in done.stdout,
          "Markdown: the lines of the verdict are escaped, and paragraphs", done.stdout)
    done = diff(options, a, fused, "--format", "csv", "--only", "kernels")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    check({row["name"]: row["change"] for row in rows}.get(ADD) == "vanished", "CSV", done)
    done = diff(options, a, fused, "-o", f"{folder}/out.txt")
    check(done.returncode == 0 and not done.stdout and os.path.getsize(f"{folder}/out.txt") > 100, "-o", done)
    for words, needle in (((a,), "--a-steps"), ((a, slow, fused), "expected two traces"), ((), "missing traces"), ((a, slow, "--only", "frob"), "no such table"), ((a, slow, "--format", "csv"), "--only"),
                          ((a, slow, "--a-ranks", "9"), "there is no rank 9"), ((a, slow, "--b-steps", "77"), "there is no step 77"), ((a, slow, "--b-time", "x"), "--b-time"), ((a, slow, "-o", a), "also an input")):
        done = diff(options, *words)
        check(done.returncode == 1 and needle in done.stderr and not done.stdout, f"{words[2:]}: refused", done)
    run([options.tracetool, "merge", a, "-o", f"{folder}/a.ttrace"])
    texts = {diff(options, first, slow).stdout.replace(first, "A") for first in (a, f"{folder}/a.ttrace")}
    check(len(texts) == 1, "a merged file and a profile alike", texts)


def check_page(options, folder, a, slow):
    """--html: its tables are those of JSON, its two bars are the parts, and nothing on it loads or runs anything."""
    path = f"{folder}/diff <b>.html"
    done = diff(options, a, slow, "--html", path)
    check(done.returncode == 0 and done.stdout == "", "--html writes a page and no text", done.stderr + done.stdout)
    page = ReportPage(path)
    check(not page.forbidden(), "the page loads and runs nothing", page.forbidden()[:3])
    said, whole = tables(options, a, slow), tables(options, a, slow, "--all")
    for name, rows in [(name, said[name]) for name in ("runs", "step", "idle", "classes", "kernels", "operators", "collectives")] + [("parts", whole["parts"])]:
        shown = page.table(name)
        if shown is None:
            check(not rows, f"the page has the table {name}", rows[:1])
            continue
        wrong = [(key, row[key], value) for row, values in zip(shown, rows) for key, value in values.items() if key in row and not same(row[key][0], value)]
        check(len(shown) == len(rows) and not wrong, f"the page's table {name} is that of JSON", wrong[:3])
    chart = Bars(next(svg for svg in page.sections["verdict"].all("svg") if svg["role"] == "img"))
    unit = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[chart.axis.split(", ")[-1]]
    for label, key in (("A", "old_ns"), ("B", "new_ns")):
        drawn, step = sum(length for _, length in chart.bars[label]) * unit, sum(row[key] for row in whole["parts"])
        check(abs(drawn - step) <= chart.precision * unit * 12, f"the bar of {label} is as long as its mean step", (drawn, step))
    verdict = diff(options, a, slow).stdout.splitlines()[0]
    check(page.sections["verdict"].first("p").text() == verdict, "its verdict is that of the text", verdict)
    done = diff(options, a, slow, "--html", a)
    check(done.returncode == 1 and "also an input" in done.stderr, "--html does not replace an input", done.stderr)


def check_whole(options, folder, a):
    """Without steps the whole traces; also where one side alone has none."""
    kernels = [(f"kernel_{i}", 10_000 + i) for i in range(300)]
    none = profile(f"{folder}/none.json", named=False, kernels=kernels, steps=1)
    more = profile(f"{folder}/more.json", named=False, kernels=kernels + [("another", 900_000)], steps=1)
    done = diff(options, none, more)
    check(done.returncode == 0 and "no steps: comparing totals, without a noise model" in done.stdout and "appeared" in done.stdout, "no steps: totals", done)
    check(changes(tables(options, none, more), "kernels") == {"another": "appeared"}, "what appeared", "")
    check("no steps: comparing totals" in diff(options, none, a).stdout, "one has no steps: totals", "")
    empty = f"{folder}/empty.json"
    with open(empty, "w", encoding="utf-8") as file:
        file.write('{"traceEvents": []}')
    done = diff(options, a, empty)
    check(done.returncode == 3 and "B (" in done.stderr and "no GPU work" in done.stderr, "an empty trace", done)
    check(diff(options, a, f"{folder}/missing.json").returncode == 2, "no file", "")


def check_real(options):
    resnet = [f"{options.traces}/resnet50-dataloader/num_workers_{workers}.pt.trace.json.gz" for workers in (0, 4)]
    if os.path.exists(resnet[0]):
        check_values(options, "resnet50", *resnet, files=resnet)
        said, text = tables(options, *resnet), diff(options, *resnet).stdout
        check(text.startswith("too few steps to estimate the noise: 6 and 5; step 17") and "(-28." in text.splitlines()[0] and "idle host_late -47" in text.splitlines()[0], "resnet50: what 4 workers bought, without a verdict", text)
        check(changes(said, "idle") == {"host_late": "shrank"}, "resnet50: the host is not late any more", said["idle"])
    ranks = f"{options.traces}/modded-nanogpt-8xh100"
    if os.path.isdir(ranks):
        check_values(options, "H100, ranks 1 and 3", ranks, "--a-ranks", 1, "--b-ranks", 3, files=[f"{ranks}/rank{rank}-chrome-trace.json.gz" for rank in (1, 3)])


TRIES = 5  # a busy machine adds to waits and to the idle time of a run more than was planted


def recorded(options, folder, name, *words):
    """The directory of the recordings of a new training."""
    at = os.path.join(folder, f"{name}{len(os.listdir(folder))}")
    os.mkdir(at)
    done = train(options, at, "--ranks", 2, "--steps", 24, *words)
    check(done.returncode == 0, f"a training is recorded: {name}", done.stderr)
    return f"{at}/traces"


def check_planted(options, what, name, words, rank, holds, both=()):
    """`holds` of what is said of that rank of a training (with `both`), and of one with `words`, too."""
    with Folder() as folder:
        for _ in range(TRIES):
            said = tables(options, recorded(options, folder, "plain", *both), recorded(options, folder, name, *both, *words), "--a-ranks", rank, "--b-ranks", rank, "--all")
            if holds(said):
                break
        check(holds(said), what, {key: said[key] for key in ("runs", "step", "idle", "collectives")} if "runs" in said else said)


def idles_for_synchronizations(said):
    """Returns whether synchronizations cause most idle time only in the new run. Compares values, because noise of a busy machine can prevent a verdict."""
    spent = lambda side, *causes: sum(row[f"{side}_ns"] or 0 for row in said["idle"] if not causes or row["name"] in causes)
    share = {side: spent(side, "sync", "after_sync") / max(spent(side), 1) for side in ("old", "new")}
    return share["new"] > 0.5 > share["old"]


SLOW_GPU = ("--slow-gpu", 1, "--slow-gpu-factor", 1.5)


def check_what_is_planted(options):
    if is_sanitized(options, "what is planted in simulated runs"):
        return
    grew, slow_gpu = ("grew", "appeared"), SLOW_GPU
    check_planted(options, "a GPU that is slower by half: it is busy for longer", "slow", slow_gpu, 1, lambda said: changes(said, "step").get("busy") == "grew")
    check_planted(options, "the other rank waits for it", "slow", slow_gpu, 0,
                  lambda said: any(row["measure"] == "wait" and row["name"] == "all_reduce" and row["change"] in grew for row in said["collectives"]))
    check_planted(options, "synchronizations after each layer: the GPU idles for them", "sync", ("--item-sync", 0), 0,
                  idles_for_synchronizations, ("--layers", 24, "--log-every", 100))
    check_planted(options, "kernels of a hundredth of the time: the GPU is less busy, and all its classes shrank", "tiny", ("--tiny-kernels",), 0,
                  lambda said: changes(said, "step").get("busy") == "shrank" and {"matmul", "attention", "elementwise"} <= {name for name, change in changes(said, "classes").items() if change == "shrank"})


def check_simulated(options):
    with Folder() as folder:
        plain, slow = recorded(options, folder, "plain"), recorded(options, folder, "slow", *SLOW_GPU)
        said = tables(options, plain, slow, "--a-ranks", 1, "--b-ranks", 1)
        check(changes(said, "classes").get("matmul") == "grew", "classes of a GPU that is slower by half", said["classes"])
        ratio = {row["name"]: row["new_ns"] / row["old_ns"] for row in said["classes"] if row["old_ns"]}
        check(1.3 < ratio.get("matmul", 0) < 1.7, "its matrix products are slower by half", ratio)
        said = tables(options, plain, recorded(options, folder, "layers", "--layers", 8))
        check(any(row["change"] in ("added", "replaced") and row["new_count"] > row["old_count"] for row in said["sequence"]), "two layers more: kernels are added", said["sequence"])
        run([options.tracetool, "merge", slow, "-o", f"{folder}/slow.ttrace"])
        check(changes(tables(options, plain, f"{folder}/slow.ttrace", "--a-ranks", 1, "--b-ranks", 1), "classes").get("matmul") == "grew", "a directory and a merged file", "")
        done = run([options.tracetool, "check", slow, "--baseline", plain, "--max-regress", "10"])
        check(done.returncode == 4 and "matmul" in done.stdout, "check of recordings", done)


if __name__ == "__main__":
    run_checks(check_made, check_real, simulated=(check_what_is_planted, check_simulated))
