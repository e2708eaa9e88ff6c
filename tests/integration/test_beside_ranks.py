#!/usr/bin/env python3
"""A process without a rank beside the ranks of its run, as torchrun itself is, on the stand-in of PyTorch: it is recorded, listed apart
and exported, and it is in no table and no rank.

  test_beside_ranks.py --agent PATH --tracetool PATH --torch PATH
"""
import json
import os
import subprocess
import sys

from harness import Folder, arguments, check, clean_environment, files_below, finish, run
from slow_tables import read_json

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples"))
import read_recording  # noqa: E402

TRAINING = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_training.py")
STEPS = {None: 9, 0: 4, 1: 4}  # of the process without a rank, and of the ranks
USER = 7


def record(options, folder):
    """pid -> the lines of its truth; None: that of the process without a rank is under its own pid, too."""
    started = []
    for rank, steps in STEPS.items():
        ranks = {} if rank is None else {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": 2}
        environment = clean_environment(LD_PRELOAD=options.agent, TORCH_LAYOUT="2.9", TRACETOOL_DIR=f"{folder}/traces", TRACETOOL_BUFFER="8M",
                                        TRACETOOL_TORCH="ops", TORCHELASTIC_RUN_ID="job7", **ranks)
        started.append(subprocess.Popen([sys.executable, TRAINING, options.torch, f"{folder}/truth{rank}", str(steps)], env=environment,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
    ended = [(process.communicate()[1], process.returncode) for process in started]
    check(ended == [("", 0)] * 3, "three processes run as without us", ended)
    return {process.pid: (rank, [json.loads(line) for line in open(f"{folder}/truth{rank}", encoding="utf-8")])
            for process, rank in zip(started, STEPS)}


def table(options, path, name, *more):
    return json.loads(run([options.tracetool, "analyze", path, "--only", name, "--format", "json", *more]).stdout)[name]


def check_info(options, what, path, truth, apart):
    done = run([options.tracetool, "info", path])
    line = [line for line in done.stdout.splitlines() if line.startswith("process without a rank: ")]
    check(len(line) == 1 and f"pid {apart} " in line[0] and f" {len(truth[apart][1])} events," in line[0], f"{what}: info has a line for it", done.stdout)
    rows = [line.split() for line in done.stdout.split("\n\n")[0].splitlines()[1:]]
    check([row[0] for row in rows] == ["0", "1"] and "--rank" not in done.stdout and "unknown rank" not in done.stdout,
          f"{what}: and no row among the ranks", done.stdout)
    said = json.loads(run([options.tracetool, "info", path, "--json"]).stdout)
    check([row["rank"] for row in said["ranks"]] == [0, 1] and [(row["rank"], row["pid"]) for row in said["beside_ranks"]] == [(None, apart)],
          f"{what}: likewise as JSON", said)


def check_tables(options, what, path, truth):
    steps = table(options, path, "steps")
    check({row["rank"] for row in steps} == {0, 1} and len(steps) == STEPS[0] + STEPS[1], f"{what}: steps are those of the ranks", steps)
    called = {}
    for rank, lines in truth.values():
        for line in lines:
            if rank is not None and line["scope"] != USER:
                called[line["name"]] = called.get(line["name"], 0) + 1
    said = {row["name"]: row["calls"] for row in table(options, path, "operators")}
    check(said == called, f"{what}: so are operators", (said, called))
    done = run([options.tracetool, "analyze", path])
    check("no rank" in done.stderr, f"{what}: analyze says that it is left out", done.stderr)
    found = json.loads(run([options.tracetool, "diagnose", path, "--format", "json"]).stdout)["findings"]
    check(all(rank in (0, 1) for finding in found for rank in finding["ranks"]), f"{what}: findings are of ranks", found)


def check_exports(options, folder, truth):
    done = run([options.tracetool, "export", f"{folder}/run.ttrace", "--chrome", "-o", f"{folder}/run.json"])
    names = [event["name"] for event in read_json(f"{folder}/run.json") if event.get("ph") == "X"]
    wrong = {line["name"] for _, lines in truth.values() for line in lines
             if names.count(line["name"]) != sum(line["name"] == other["name"] for _, others in truth.values() for other in others)}
    check(done.returncode == 0 and not wrong, "an export has the events of all three", (done.stderr, wrong))


def check_workers(options):
    """Processes that a rank starts inherit its variables: they are no second rank 0."""
    with Folder() as folder:
        done = run([sys.executable, os.path.join(os.path.dirname(TRAINING), "torch_lives.py"), options.torch, "pool_spawn"], cwd=folder, LD_PRELOAD=options.agent,
                   TORCH_LAYOUT="2.9", TRACETOOL_DIR=f"{folder}/traces", TRACETOOL_BUFFER="8M", TRACETOOL_TORCH="ops", TORCHELASTIC_RUN_ID="job8", RANK=0,
                   LOCAL_RANK=0, WORLD_SIZE=1)
        said = json.loads(run([options.tracetool, "info", f"{folder}/traces", "--json"]).stdout)
        check(done.returncode == 0 and [row["rank"] for row in said["ranks"]] == [0] and len(said["beside_ranks"]) == 2, "workers that a rank spawns are no ranks",
              lambda: (done, said))
        done = run([options.tracetool, "merge", f"{folder}/traces", "-o", f"{folder}/run.ttrace"])
        check(done.returncode == 0 and "3 processes" in done.stderr, "and are merged with it", done)


def main():
    options = arguments("agent", "tracetool", "torch")
    with Folder() as folder:
        truth = record(options, folder)
        apart = next(pid for pid, (rank, _) in truth.items() if rank is None)
        pids = {read_recording.read(path).header["pid"] for path in files_below(f"{folder}/traces", ".ring")}
        check(pids == set(truth), "each is recorded", pids)
        run([options.tracetool, "merge", f"{folder}/traces", "-o", f"{folder}/run.ttrace"])
        for what, path in (("recordings", f"{folder}/traces"), ("merged", f"{folder}/run.ttrace")):
            check_info(options, what, path, truth, apart)
            check_tables(options, what, path, truth)
        check_exports(options, folder, truth)
    check_workers(options)
    finish()


if __name__ == "__main__":
    main()
