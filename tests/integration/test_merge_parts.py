#!/usr/bin/env python3
"""A run that is merged where its recordings are, and then from these parts, is that which is merged at once, byte for byte.

  test_merge_parts.py --agent PATH --simulated PATH --tracetool PATH --traces PATH
"""
import argparse
import glob
import json
import os
import shutil
import subprocess
import sys

from harness import Folder, check, clean_environment, finish, run
from trace_sets import folders, inputs

HERE = os.path.dirname(os.path.abspath(__file__))
JOB = os.path.join(HERE, "..", "..", "scripts", "merge_job.sh")
HOSTS, RANKS = 4, 8


def record(options, folder, *more):
    done = run([options.simulated, "--agent", options.agent, "--dir", f"{folder}/traces", "--ranks", str(RANKS), "--steps", "10", "--hosts", str(HOSTS),
                "--clock-offset-us", "3000", "--drift-ppm", "20", *more])
    check(done.returncode == 0, "it was recorded", done.stderr)


def of_host(folder, host):
    return sorted(glob.glob(f"{folder}/traces/*/node{host:02}-*.ring"))


def merge(options, output, *words):
    """Its result, and what it says of the clocks."""
    done = run([options.tracetool, "merge", *words, "-o", output, "--report", f"{output}.json"])
    return done, json.load(open(f"{output}.json", encoding="utf-8")) if os.path.exists(f"{output}.json") else None


def same_bytes(a, b):
    with open(a, "rb") as one, open(b, "rb") as other:
        return one.read() == other.read()


def said(options, path):
    """What commands say of a file, but for its name."""
    found = {}
    for words in (["dump"], ["info", "--json"], ["analyze", "--format", "json"], ["analyze", "--format", "json", "--only", "temporal,kernels,collectives,stragglers"]):
        done = run([options.tracetool, *words, path])
        found[" ".join(words)] = (done.returncode, done.stdout.replace(path, "FILE"))
    return found


def check_parts(options, folder):
    record(options, folder)
    whole, clocks = merge(options, f"{folder}/whole.ttrace", f"{folder}/traces")
    check(whole.returncode == 0 and [host["method"] for host in clocks["hosts"]] == ["reference"] + ["collectives"] * (HOSTS - 1), "merged at once, with clocks aligned", clocks)
    os.mkdir(f"{folder}/parts")
    for host in range(HOSTS):
        done, of_part = merge(options, f"{folder}/parts/{host}.ttrace", "--partial", *of_host(folder, host))
        check(done.returncode == 0 and "missing" not in done.stderr, f"part {host}", done.stderr)
        check([each["method"] for each in of_part["hosts"]] == ["wall_clock"], f"part {host}: its clock is its own", of_part)
    again, of_parts = merge(options, f"{folder}/again.ttrace", *sorted(glob.glob(f"{folder}/parts/*.ttrace")))
    check(again.returncode == 0 and not [line for line in again.stderr.splitlines() if "warning" in line], "the parts are merged", again.stderr)
    check(of_parts == clocks and same_bytes(f"{folder}/whole.ttrace", f"{folder}/again.ttrace"), "of parts: the same file", (clocks, of_parts))
    once_more, of_again = merge(options, f"{folder}/once_more.ttrace", f"{folder}/whole.ttrace")
    check(once_more.returncode == 0 and of_again == clocks and same_bytes(f"{folder}/whole.ttrace", f"{folder}/once_more.ttrace"), "merged again: the same file", once_more.stderr)
    # Two hosts in one part, a part of parts, and one that stayed recordings.
    merge(options, f"{folder}/two.ttrace", "--partial", f"{folder}/parts/0.ttrace", f"{folder}/parts/1.ttrace")
    mixed, of_mixed = merge(options, f"{folder}/mixed.ttrace", f"{folder}/two.ttrace", f"{folder}/parts/2.ttrace", *of_host(folder, 3))
    check(mixed.returncode == 0 and of_mixed == clocks, "of a part of parts, a part and recordings: the same clocks", (mixed.stderr, of_mixed))
    check(said(options, f"{folder}/mixed.ttrace") == said(options, f"{folder}/whole.ttrace"), "of a part of parts, a part and recordings: all says the same")
    merge(options, f"{folder}/all.ttrace", "--partial", f"{folder}/traces")
    alone, of_alone = merge(options, f"{folder}/alone.ttrace", f"{folder}/all.ttrace")
    check(alone.returncode == 0 and of_alone == clocks and same_bytes(f"{folder}/alone.ttrace", f"{folder}/whole.ttrace"), "of one part with all hosts: the same file", alone.stderr)
    each, of_each = merge(options, f"{folder}/each.ttrace", "--clock-domain", "rank", *sorted(glob.glob(f"{folder}/parts/*.ttrace")))
    check(each.returncode == 0 and len(of_each["hosts"]) == RANKS, "of parts: a clock for each rank where that is asked for", (each.stderr, of_each))
    aligned, _ = merge(options, f"{folder}/no.ttrace", "--no-align", f"{folder}/whole.ttrace", *of_host(folder, 0))
    check(aligned.returncode == 1, "a file whose clocks were aligned is no part", aligned.stderr)


def check_lacks(options, folder):
    """Parts that are cut, of another run, or not there: named, and the rest is merged."""
    parts = {host: f"{folder}/parts/{host}.ttrace" for host in range(HOSTS)}
    with Folder() as other:
        record(options, other)
        merge(options, f"{folder}/other.ttrace", "--partial", *of_host(other, 1))
    shutil.copy(parts[2], f"{folder}/cut.ttrace")
    os.truncate(f"{folder}/cut.ttrace", os.path.getsize(parts[2]) // 2)
    done, _ = merge(options, f"{folder}/rest.ttrace", parts[0], f"{folder}/other.ttrace", f"{folder}/cut.ttrace", parts[3])
    lines = done.stderr.splitlines()
    check(done.returncode == 3 and any("other.ttrace: belongs to run" in line for line in lines) and any("cut.ttrace: byte " in line for line in lines) and
          any("ranks 2-5 of 8 are missing" in line for line in lines) and any("2 of 4 inputs were skipped" in line for line in lines), "what cannot be merged is named", lines)
    merge(options, f"{folder}/two.ttrace", parts[0], parts[3])
    check(same_bytes(f"{folder}/rest.ttrace", f"{folder}/two.ttrace"), "and the rest is merged")
    two, _ = merge(options, f"{folder}/none.ttrace", parts[0], f"{folder}/other.ttrace")
    check(two.returncode == 1 and "different runs: " in two.stderr, "of two runs nobody can tell which is meant", two.stderr)
    alone, _ = merge(options, f"{folder}/alone.ttrace", parts[1])
    check(alone.returncode == 0 and "ranks 0-1, 4-7 of 8 are missing" in alone.stderr, "one part alone: the ranks of the others are missing", alone.stderr)
    done, _ = merge(options, f"{folder}/none.ttrace", f"{folder}/cut.ttrace", f"{folder}/cut.ttrace")
    check(done.returncode == 3 and not os.path.exists(f"{folder}/none.ttrace"), "nothing is left: an error", done.stderr)


def job(options, folder, nodes, variables, *more):
    """merge_job.sh on some of the nodes at once, the first of which begins last: (status, stderr) of each."""
    started = {}
    for node in sorted(nodes, reverse=True):
        environment = clean_environment(TRACETOOL=os.path.abspath(options.tracetool), **{name: str(value).format(node=node, nodes=HOSTS) for name, value in variables.items()})
        started[node] = subprocess.Popen([JOB, *more, "--host", f"node{node:02}", f"{folder}/traces", f"{folder}/job.ttrace"], env=environment,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return {node: (process.wait(), process.stderr.read()) for node, process in started.items()}


def ranks_in(options, path):
    return [rank["rank"] for rank in json.loads(run([options.tracetool, "info", "--json", path]).stdout)["ranks"]]


def check_job(options, folder):
    launchers = {"torchrun": {"GROUP_RANK": "{node}", "GROUP_WORLD_SIZE": "{nodes}", "TORCHELASTIC_RUN_ID": "none"},
                 "srun": {"SLURM_NODEID": "{node}", "SLURM_NNODES": "{nodes}", "SLURM_JOB_ID": 7},
                 "mpirun": {"OMPI_COMM_WORLD_RANK": "{node}", "OMPI_COMM_WORLD_SIZE": "{nodes}"}, "Kubernetes": {"JOB_COMPLETION_INDEX": "{node}", "NODES": "{nodes}"}}
    output = f"{folder}/job.ttrace"
    for launcher, variables in launchers.items():
        ended = job(options, folder, range(HOSTS), variables)
        check(all(status == 0 for status, _ in ended.values()) and same_bytes(output, f"{folder}/whole.ttrace"), f"{launcher}: the same file", ended)
        check(not glob.glob(f"{output}.parts*"), f"{launcher}: and no parts are left behind")
        os.remove(output)
    # Node 2 does not come at all; then the others are there already.
    others = job(options, folder, (1, 3), launchers["mpirun"])
    first = job(options, folder, (0,), launchers["mpirun"], "--timeout", "1")
    check([others[1][0], others[3][0], first[0][0]] == [0, 0, 3] and "node 2 is missing: it did not come within 1 s" in first[0][1] and
          "ranks 4-5 of 8 are missing" in first[0][1] and ranks_in(options, output) == [0, 1, 2, 3, 6, 7], "a node that does not come is named, and the others are merged", (others, first))
    # It has no recordings here: its launcher shall not end the job for that.
    os.rename(f"{folder}/traces", f"{folder}/elsewhere")
    os.mkdir(f"{folder}/traces")
    second = job(options, folder, (2,), launchers["mpirun"])
    os.rmdir(f"{folder}/traces")
    os.rename(f"{folder}/elsewhere", f"{folder}/traces")
    first = job(options, folder, (0,), launchers["mpirun"])
    check(second[2][0] == 0 and first[0][0] == 3 and "node 2 is missing: there are no recordings of host node02" in first[0][1], "nor is waited for one that failed", (second, first))
    # The first node cannot tell what the attempt before left from what this one has made, so it begins when the others have ended.
    ended = {**job(options, folder, range(1, HOSTS), launchers["mpirun"]), **job(options, folder, (0,), launchers["mpirun"])}
    check(all(status == 0 for status, _ in ended.values()) and same_bytes(output, f"{folder}/whole.ttrace"), "the next attempt has them all", ended)
    ended = job(options, folder, (0,), {})
    check(ended[0][0] == 1 and "--node" in ended[0][1], "without a launcher it asks", ended)
    done = run([JOB, "--nodes"])
    check(done.returncode == 1 and "--nodes needs a value" in done.stderr, "an option without its value is said", done.stderr)
    # More files than a pipe holds.
    for i in range(3000):
        shutil.copy(of_host(folder, 1)[0], f"{folder}/traces/node09-0123abcd-{i:05}-{'x' * 60}.ring") if i == 0 else \
            os.link(f"{folder}/traces/node09-0123abcd-00000-{'x' * 60}.ring", f"{folder}/traces/node09-0123abcd-{i:05}-{'x' * 60}.ring")
    done = run([JOB, "--host", "node09", "--node", "1", "--nodes", "2", f"{folder}/traces", f"{folder}/many.ttrace"], TRACETOOL=os.path.abspath(options.tracetool))
    check("there are no recordings" not in done.stderr and "duplicate rank" in done.stderr, "thousands of recordings are found", done.stderr[-500:])


def check_profiles(options, folder, name, files):
    """Profiles do not say whose clock they have: each has its own, in a part, too."""
    whole, clocks = merge(options, f"{folder}/whole.ttrace", *files)
    half = len(files) // 2
    for part, some in enumerate((files[:half], files[half:])):
        merge(options, f"{folder}/part{part}.ttrace", "--partial", *some)
    done, of_parts = merge(options, f"{folder}/again.ttrace", f"{folder}/part0.ttrace", f"{folder}/part1.ttrace")
    check(whole.returncode == done.returncode == 0 and of_parts == clocks and said(options, f"{folder}/whole.ttrace") == said(options, f"{folder}/again.ttrace"),
          f"{name}: parts of profiles: the same clocks, and all says the same", lambda: (done.stderr, clocks, of_parts))


def main():
    parser = argparse.ArgumentParser()
    for name in ("agent", "simulated", "tracetool", "traces"):
        parser.add_argument(f"--{name}", required=True, type=os.path.abspath)
    options = parser.parse_args()
    with Folder() as folder:
        check_parts(options, folder)
        check_lacks(options, folder)
        check_job(options, folder)
    with folders(options.traces) as some:
        for name, files in (each for one in some for each in inputs(one)):
            if len(files) > 1:
                with Folder() as folder:
                    check_profiles(options, folder, name, files)
    return finish()


if __name__ == "__main__":
    sys.exit(main())
