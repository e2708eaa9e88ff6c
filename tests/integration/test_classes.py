#!/usr/bin/env python3
"""`tracetool analyze --only classes` against a slow program (slow_classes.py), to the nanosecond: of all ranks, by rank and by
step, with rules of one's own and with KempnerForge's; that communication and memory are those of `temporal`.

  test_classes.py --tracetool PATH --traces DIR [--agent PATH --simulated PATH]
"""
import functools
import os

import slow_classes
import slow_steps
import slow_tables
from harness import Folder, check, run
from test_analyze import analyze, by_device, check_rows, run_checks, tables
from trace_sets import folders, inputs
from truth import load, train

OWN = """# one's own, before the others
mine   *{vectorized_elementwise_kernel,memset}*
\tcopies\tMemcpy*
"""
MOST_OTHER_PCT = 5.0  # of the H100 set, as was agreed on
FEW_OTHER = "modded-nanogpt-8xh100"


def rows_of(devices, of, **keys):
    return [{**keys, **row} for row in slow_classes.classes(devices, of)]


def check_job(options, name, files, rules, own_path):
    """False: Python cannot read a file, or none holds GPU work."""
    read = [slow_tables.read_json(path) for path in files]
    if any(events is None for events in read):
        return False
    work = [by_device(slow_tables.of_kineto(events)) for events in read]
    devices = {(path, device): some for path, found in zip(files, work) for device, some in found.items()}
    if not devices:
        check(tables(options, *files, "--only", "classes")["classes"] == [], f"{name}: no GPU work, no rows")
        return False
    of = functools.partial(slow_classes.class_of, rules=rules)
    ask = lambda *words: tables(options, *files, "--only", "classes", *words)["classes"]
    said = ask()
    check_rows(f"{name}: classes", said, rows_of(devices, of))
    own = slow_classes.read_rules(OWN)
    check_rows(f"{name}: with rules of one's own", ask("--classes", own_path), rows_of(devices, functools.partial(of, own=own)))
    check_rows(f"{name}: KempnerForge's", ask("--classes", "kempnerforge"), rows_of(devices, slow_classes.of_kempnerforge))
    if name == FEW_OTHER:
        other = sum(row["share_pct"] for row in said if row["class"] == "other")
        check(other <= MOST_OTHER_PCT, f"{name}: {other:.2f} % are other", other)
    # Of all ranks rows are in the order of ranks; devices of a rank in theirs.
    ranked = ask("--by", "rank")
    order = list(dict.fromkeys((row["rank"], row["device"]) for row in ranked))
    if len(files) == 1:
        check_rows(f"{name}: by rank", ranked, [row for device, some in work[0].items() for row in rows_of({0: some}, of, device=device)])
        steps = slow_steps.steps_of(read[0])
        if steps:
            true = [row for device in work[0] for step in steps
                    for row in rows_of({0: [each for each in step.works if each.device == device]}, of, device=device, step=step.number)]
            check_rows(f"{name}: by step", ask("--by", "step"), true)
    else:
        alone = [row for path in files for row in tables(options, path, "--only", "classes", "--by", "rank")["classes"]]
        check(sorted(map(str, ranked)) == sorted(map(str, alone)), f"{name}: by rank, {len(order)} devices as alone")
    check_temporal(options, name, files, ranked)
    return True


def check_temporal(options, name, files, ranked):
    """Communication and memory are what `temporal` counts as such, on every device."""
    for row in tables(options, *files, "--only", "temporal")["temporal"]:
        if row["busy_ns"] is None:
            continue
        of = {each["class"]: each["union_ns"] for each in ranked if (each["rank"], each["device"]) == (row["rank"], row["device"])}
        if (of.get("communication", 0), of.get("memory", 0)) != (row["comm_ns"], row["memory_ns"]):
            check(False, f"{name}: communication and memory as temporal has them", (row, of))
            return
    check(True, f"{name}: communication and memory as temporal has them")


def check_messages(options, folder, files):
    bad = f"{folder}/bad.txt"
    for text, wanted in (("matmul\n", "bad.txt:1: expected a pattern"), ("a *x*\n\nb {c\n", "bad.txt:3: '{c': expected braces"),
                         ("# nothing\n", "bad.txt: holds no rule"), ("*x* a\n", "bad.txt:1: '*x*': expected the name of a class")):
        with open(bad, "w", encoding="utf-8") as file:
            file.write(text)
        done = analyze(options, *files, "--only", "classes", "--classes", bad)
        check(done.returncode == 3 and wanted in done.stderr and not done.stdout, f"refused: {wanted}", done.stderr)
    done = analyze(options, *files, "--only", "classes", "--classes", f"{folder}/none.txt")
    check(done.returncode == 2 and "none.txt: cannot be read" in done.stderr, "a file that is not there is refused", done.stderr)
    done = analyze(options, *files, "--only", "temporal", "--classes", "kempnerforge")
    check(done.returncode == 1 and "--only classes" in done.stderr, "--classes without the table is refused", done.stderr)


def check_traces(options):
    rules, read = slow_classes.published(), 0
    with Folder() as work, folders(options.traces) as some:
        with open(f"{work}/own.txt", "w", encoding="utf-8") as file:
            file.write(OWN)
        for folder in some:
            for name, files in inputs(folder):
                read += check_job(options, name, files, rules, f"{work}/own.txt")
        check_messages(options, work, files)
    check(read >= 5, f"{read} inputs were compared", read)


def check_simulated(options):
    """Recordings; of collectives by copy engines the copies are communication."""
    of = functools.partial(slow_classes.class_of, rules=slow_classes.published())
    for words in ((), ("--graphs",), ("--copy-engine", "--groups")):
        with Folder() as folder:
            done = train(options, folder, "--ranks", 2, "--steps", 4, *words)
            what = f"simulated {' '.join(map(str, words))}"
            check(done.returncode == 0, f"{what}: it was recorded", done.stderr)
            job = load(os.path.join(folder, "truth"))
            merged = f"{folder}/run.ttrace"
            run([options.tracetool, "merge", f"{folder}/traces", "-o", merged])
            # Copies have their names from the reader.
            true = [{key: row[key] for key in row if key != "names"} for rank in job
                    for device, some in by_device(slow_tables.of_truth(rank)).items()
                    for row in rows_of({0: some}, of, rank=rank.rank, device=device)]
            for form, path in (("recordings", f"{folder}/traces"), ("merged", merged)):
                said = tables(options, path, "--only", "classes", "--by", "rank").get("classes", [])
                check_rows(f"{what}, {form}: classes by rank", said, true)
                check_temporal(options, f"{what}, {form}", [path], said)


if __name__ == "__main__":
    run_checks(check_traces, simulated=(check_simulated,))
