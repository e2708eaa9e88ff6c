#!/usr/bin/env python3
"""`tracetool analyze` against a slow program (slow_tables.py), to the nanosecond: on Kineto traces, and on a simulated run
against its truth; the same from merged files and from our own Kineto export. Its formats and its messages.

  test_analyze.py --tracetool PATH --traces DIR [--agent PATH --simulated PATH]
"""
import argparse
import csv
import io
import json
import os

import slow_steps
import slow_tables
from harness import Folder, check, finish, first, run
from trace_sets import folders, inputs
from truth import load, train

FLOAT = 1e-9


def paths():
    parser = argparse.ArgumentParser()
    for name, required in (("tracetool", True), ("traces", True), ("agent", False), ("simulated", False)):
        parser.add_argument("--" + name, required=required, type=os.path.abspath)
    return parser.parse_args()


def run_checks(*checks, simulated=()):
    """A test of tables: `checks` of what is there, and those that need a simulated training."""
    options = paths()
    for each in checks + (tuple(simulated) if options.agent and options.simulated else ()):
        each(options)
    finish()


def count_sets(options, check_set):
    """The sum of what `check_set` says of each set of files that belong together."""
    with folders(options.traces) as some:
        return sum(check_set(options, name, files) for folder in some for name, files in inputs(folder))


def analyze(options, *words, **more):
    return run([options.tracetool, "analyze", *map(str, words)], **more)


def tables(options, *words):
    done = analyze(options, *words, "--format", "json")
    return json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr}


def origin_of(events):
    return min(slow_tables.ns(event["ts"]) for event in events if "ts" in event and event.get("ph") not in ("M", "f"))


def found_steps(options, path, events):
    """[(start, end, number)] on the host of those that no mark names, by the period of the kernels: test_steps.py says whether they are right."""
    rows = tables(options, path, "--only", "steps").get("steps", [])
    starts = [(row, origin_of(events) + row["host_start_ns"]) for row in rows if row["found_by"] == "period of kernels"]
    return [(start, start + row["host_duration_ns"], row["step"]) for row, start in starts]


def same(said, true):
    """Of two rows; what is no integer may differ in its last digits."""
    return all(isinstance(value, float) and said.get(key) is not None and abs(said[key] - value) <= FLOAT * abs(value) or
               said.get(key, "missing") == value for key, value in true.items())


def check_rows(what, said, true):
    wrong = [(one, other) for one, other in zip(said, true) if not same(one, other)]
    return check(len(said) == len(true) and not wrong, f"{what}: {len(true)} rows as the slow program has them",
                 lambda: f"{len(said)} rows, {first(wrong)}")


def by_device(work):
    found = {}
    for each in work:
        found.setdefault(each.device, []).append(each)
    return dict(sorted(found.items()))


def check_file(options, path):
    """One Kineto file. False: Python cannot read it, or it holds no GPU work."""
    events = slow_tables.read_json(path)
    work = list(slow_tables.of_kineto(events)) if events is not None else []
    name = os.path.basename(path)
    said = tables(options, path)
    if not check("temporal" in said, f"{name}: is analyzed", said):
        return False
    if not work:
        null = [row for row in said["temporal"] if row["busy_ns"] is not None]
        check(events is None or not null, f"{name}: no GPU work, no numbers", said["temporal"])
        return False
    true = [{"device": device, **slow_tables.temporal(some)} for device, some in by_device(work).items()]
    check_rows(f"{name}: temporal", said["temporal"], true)
    check_rows(f"{name}: kernels", said["kernels"], slow_tables.kernels(work))
    check_steps(options, name, path, events, work)
    return True


def check_steps(options, name, path, events, work):
    steps, origin = slow_steps.steps_of(events), origin_of(events)
    if not steps:
        return
    true = [{"device": device, "step": step.number,
             **slow_tables.temporal(slow_tables.clipped(some, step.begin, step.end), step.end - step.begin)}
            for device, some in by_device(work).items() for step in steps]
    check_rows(f"{name}: temporal by step", tables(options, path, "--only", "temporal", "--by", "step")["temporal"], true)
    said = tables(options, path, "--only", "steps")["steps"]
    by_number = {step.number: step for step in steps}
    check_rows(f"{name}: steps", said, [{
        "step": row["step"], "start_ns": by_number[row["step"]].begin - origin, "duration_ns": row["span_ns"], "busy_ns": row["busy_ns"],
        "host_start_ns": by_number[row["step"]].host_begin - origin,
        "host_duration_ns": by_number[row["step"]].host_end - by_number[row["step"]].host_begin, "exposed_comm_ns": row["exposed_comm_ns"],
        "kernels": sum(each.launch is not None for each in by_number[row["step"]].works), "found_by": "ProfilerStep#N"} for row in true])
    begin, end, number = next((step.begin, step.end, step.number) for step in reversed(steps) if step.begin < step.end)
    one = [{"device": device, **slow_tables.temporal(slow_tables.clipped(some, begin, end), end - begin)}
           for device, some in by_device(work).items()]
    check_rows(f"{name}: temporal of one step", tables(options, path, "--only", "temporal", "--steps", number)["temporal"], one)


def check_job(options, name, files):
    """Ranks read together say what each says alone, from the files, from a merged file, and from our export."""
    alone = {}
    for path in files:
        for row in tables(options, path, "--only", "temporal").get("temporal", []):
            alone[row["rank"], row["device"]] = row
    with Folder() as folder:
        merged, exported = f"{folder}/run.ttrace", f"{folder}/kineto"
        done = run([options.tracetool, "merge", *files, "-o", merged])
        check(done.returncode == 0, f"{name}: is merged", done.stderr)
        run([options.tracetool, "export", "--kineto", *files, "-o", exported])
        for what, read in (("together", files), ("merged", [merged]), ("exported and read back", [exported])):
            said = {(row["rank"], row["device"]): row for row in tables(options, *read, "--only", "temporal").get("temporal", [])}
            check(said == alone, f"{name}: {what} as alone, {len(alone)} rows", lambda: (said, alone))


def check_traces(options):
    read = 0
    with folders(options.traces) as some:
        for folder in some:
            for name, files in inputs(folder):
                read += sum([check_file(options, path) for path in files])
                if len(files) > 1:
                    check_job(options, name, files)
            check_formats(options, next(files for name, files in inputs(folder) if len(files) > 1))
            check_messages(options, next(files for name, files in inputs(folder) if len(files) > 1))
    check(read >= 8, f"{read} files were compared", read)


def check_unrelated(options):
    """A directory with two runs of one program, 19.4 h apart."""
    folder = f"{options.traces}/resnet50-dataloader"
    files = [f"{folder}/num_workers_{workers}.pt.trace.json.gz" for workers in (4, 0)]
    if not os.path.isdir(folder):
        print(f"left out: two runs in a directory, which is not in {options.traces}", flush=True)
        return
    for command in ("analyze", "diagnose"):
        done = run([options.tracetool, command, folder])
        check(done.returncode == 1 and not done.stdout and all(path in done.stderr for path in files) and "19.4 h" in done.stderr and "tracetool diff" in done.stderr,
              f"{command}: two runs in a directory are refused", done)
    done = run([options.tracetool, "info", folder])
    check(done.returncode == 0 and "2 unrelated runs" in done.stdout, "info describes them", done)


def check_formats(options, files):
    words = [*files, "--only", "temporal"]
    rows = tables(options, *words)["temporal"]
    said = list(csv.DictReader(io.StringIO(analyze(options, *words, "--format", "csv").stdout)))
    text = lambda value: "" if value is None else str(value)
    check([{key: text(value) for key, value in row.items()} for row in rows] == said, "csv says what json says", first(said))
    lines = analyze(options, *words, "--format", "md").stdout.splitlines()
    check(len(lines) == len(rows) + 2 and all(line.count("|") == len(rows[0]) + 1 for line in lines), "md is one table", lines[:3])
    lines = analyze(options, *words).stdout.splitlines()
    check(len(lines) == len(rows) + 1 and lines[0].split()[:3] == ["rank", "device", "span"], "text is one table", lines[:3])
    said = tables(options, *files, "--only", "kernels", "--sort", "max_ns", "--limit", 3)["kernels"]
    every = tables(options, *files, "--only", "kernels")["kernels"]
    check([row["max_ns"] for row in said] == sorted((row["max_ns"] for row in every), reverse=True)[:3],
          "--sort and --limit: the three longest", said)
    ranks = tables(options, *files, "--only", "kernels", "--by", "rank")["kernels"]
    check(sum(row["sum_ns"] for row in ranks) == sum(row["sum_ns"] for row in every) and len({row["rank"] for row in ranks}) > 1,
          "--by rank: the same sum", len(ranks))
    with Folder() as folder:
        done = analyze(options, *words, "-o", f"{folder}/out.txt")
        with open(f"{folder}/out.txt", encoding="utf-8") as file:
            check(done.returncode == 0 and file.read().splitlines() == lines and not done.stdout, "-o writes the same", done)


def check_messages(options, files):
    for words, wanted in ((["--only", "temporel"], "tables: temporal, steps, "), (["--sort", "juggle"], "--list"),
                          (["--format", "csv"], "--only temporal"), (["--by", "step", "--only", "kernels"], "no such rows"),
                          (["--ranks", "900"], "--ranks"), (["--steps", "123456"], "--steps"), (["--limit", "0"], "--limit")):
        done = analyze(options, *files, *words)
        check(done.returncode == 1 and wanted in done.stderr and not done.stdout, f"{' '.join(words)}: is refused", done.stderr)
    done = analyze(options, "--list")
    check(done.returncode == 0 and all(word in done.stdout for word in ("temporal:", "overlap_pct", "p95_ns", "found_by")),
          "--list names tables and columns", done.stdout)


def check_copy_engine(what, job):
    """That the all-gathers are there, copies and all, partly exposed and partly not; else nothing was tested."""
    for rank in job:
        work = list(slow_tables.of_truth(rank))
        copies = [line for line in rank.of("memcpy", "memcpy_peer") if "communicates" in line]
        whole, by_name = slow_tables.temporal(work), slow_tables.temporal(list(slow_tables.of_truth(rank, True)))
        check(len(copies) == 6 * 2 * (4 + 2 * 3), f"{what}: 12 all-gathers of 4 ranks, without kernels", len(copies))
        check(whole["comm_ns"] > by_name["comm_ns"] and whole["exposed_comm_ns"] > by_name["exposed_comm_ns"] and
              whole["memory_ns"] < by_name["memory_ns"], f"{what}: names do not tell it", (whole, by_name))


def check_launches(options, what, path, job):
    """Kernels of all ranks and how they were launched. Names are mangled in the truth, so rows are told by their sums."""
    true = slow_tables.kernels([work for rank in job for work in slow_tables.of_truth(rank)])
    said = sorted(tables(options, path, "--only", "kernels").get("kernels", []), key=lambda row: -row["sum_ns"])
    for row in true:
        del row["name"]
    check_rows(f"{what}: kernels and their launches", said, true)
    check(any(row["configurations"] > 1 for row in true), f"{what}: kernels are launched in several ways", true)


def check_simulated(options):
    for words in ((), ("--graphs",), ("--hosts", 2, "--clock-offset-us", 500, "--drift-ppm", 30), ("--copy-engine",),
                  ("--copy-engine", "--groups", "--p2p"), ("--copy-engine", "--graphs", "--groups")):
        with Folder() as folder:
            done = train(options, folder, "--ranks", 4, "--steps", 6, *words)
            what = f"simulated {' '.join(map(str, words))}"
            check(done.returncode == 0, f"{what}: it was recorded", done.stderr)
            job = load(os.path.join(folder, "truth"))
            if "--copy-engine" in words:
                check_copy_engine(what, job)
            merged, kineto = f"{folder}/run.ttrace", f"{folder}/kineto"
            run([options.tracetool, "merge", f"{folder}/traces", "-o", merged])
            run([options.tracetool, "export", "--kineto", merged, "-o", kineto])
            # Kineto's traces do not say which copies NCCL makes.
            for form, path, by_name in (("recordings", f"{folder}/traces", False), ("merged", merged, False),
                                        ("exported and read back", kineto, True)):
                true = [{"rank": rank.rank, "device": device, **slow_tables.temporal(some)} for rank in job
                        for device, some in by_device(slow_tables.of_truth(rank, by_name)).items()]
                said = tables(options, path, "--only", "temporal").get("temporal", [])
                check_rows(f"{what}, {form}", said, true)
            check_launches(options, what, merged, job)
            said = tables(options, merged, "--only", "steps").get("steps", [])
            check(len(said) == 4 * 6, f"{what}: 6 steps of 4 ranks", len(said))


if __name__ == "__main__":
    run_checks(check_traces, check_unrelated, simulated=(check_simulated,))
