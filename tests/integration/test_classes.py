#!/usr/bin/env python3
"""`tracetool analyze --only classes` against a slow program (slow_classes.py), to the nanosecond: of all ranks, by rank and by
step, with rules of one's own and with KempnerForge's; that communication and memory are those of `temporal`.

  test_classes.py --tracetool PATH --traces DIR [--agent PATH --simulated PATH]
"""
import functools
import json
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
                         ("# nothing\n", "bad.txt: contains no rules"), ("*x* a\n", "bad.txt:1: '*x*': expected the name of a class")):
        with open(bad, "w", encoding="utf-8") as file:
            file.write(text)
        done = analyze(options, *files, "--only", "classes", "--classes", bad)
        check(done.returncode == 3 and wanted in done.stderr and not done.stdout, f"refused: {wanted}", done.stderr)
    done = analyze(options, *files, "--only", "classes", "--classes", f"{folder}/none.txt")
    check(done.returncode == 2 and "none.txt: cannot be read" in done.stderr, "a file that is not there is refused", done.stderr)
    done = analyze(options, *files, "--only", "temporal", "--classes", "kempnerforge")
    check(done.returncode == 1 and "--only classes" in done.stderr, "--classes without the table is refused", done.stderr)


EXPERTS = (("void dpsk::ep::internode::notify_dispatch<false, 4>(int const*)", 20), ("void dpsk::ep::internode::dispatch<false, 4, false, 4>(int4*, float*)", 300),
           ("void dpsk::ep::internode::cached_notify<false>(int)", 30), ("void dpsk::ep::internode::combine<4, __nv_bfloat16, 8, false>(int4*)", 250),
           ("EpDispatchIntraNodeKernel_fp8_fnuz", 40), ("moeA2ACombineKernel", 60), ("my_exchange", 100))


def check_experts(options):
    """Expert parallelism is communication in every table, alone for the half of its time that compute does not cover; and names of one's own."""
    events, at = [], 1000
    for i, (name, us) in enumerate(EXPERTS):
        events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 27, "ts": at, "dur": us, "args": {"device": 0, "stream": 27, "correlation": 2 * i + 1}})
        events.append({"ph": "X", "cat": "kernel", "name": "sgemm", "pid": 0, "tid": 7, "ts": at, "dur": us // 2, "args": {"device": 0, "stream": 7, "correlation": 2 * i + 2}})
        at += us
    with Folder() as folder:
        path, own = f"{folder}/experts.json", f"{folder}/own.txt"
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": events}, file)
        with open(own, "w", encoding="utf-8") as file:
            file.write("communication  my_exchange*\n")
        for words, us in (((), 700), (("--classes", own), 800)):
            row = tables(options, path, "--only", "temporal", *words)["temporal"][0]
            check((row["comm_ns"], row["exposed_comm_ns"]) == (1000 * us, 500 * us), f"{' '.join(words)}: communication and what of it is exposed", row)
            shown = {each["class"]: each["sum_ns"] for each in tables(options, path, "--only", "classes", *words)["classes"]}
            check(shown["communication"] == 1000 * us, f"{' '.join(words)}: the class", shown)
            names = {row["name"] for row in tables(options, path, "--only", "kernels", *words)["kernels"] if row["class"] == "comm"}
            check(len(names) == len(EXPERTS) - (1 if us == 700 else 0), f"{' '.join(words)}: kernels", names)
            summary = analyze(options, path, *words).stdout
            check(f"{us / 2:.1f} us: exposed communication" in summary, f"{' '.join(words)}: the summary", summary)
            check(tables(options, path, "--only", "collectives", *words)["collectives"] == [], "they are not matched over ranks")
        for command in (("diagnose",), ("report", "-o", f"{folder}/page.html")):
            done = run([options.tracetool, command[0], path, *command[1:], "--classes", own])
            check(done.returncode == 0, f"{command[0]} takes rules", done.stderr)


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
    run_checks(check_experts, check_traces, simulated=(check_simulated,))
