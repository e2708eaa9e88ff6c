#!/usr/bin/env python3
"""The main job with the shipped binaries: record 8 ranks, merge, export; also a job that is looked at while it runs.

  test_pipeline.py --agent PATH --simulated PATH --tracetool PATH
"""
import collections
import json
import os
import signal
import subprocess
import sys
import time

from harness import Folder, arguments, check, clean_environment, finish, wait_until

HERE = os.path.dirname(os.path.abspath(__file__))
RANKS, STEPS, BUCKETS = 8, 20, 4


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


def record(paths, folder, *more, wait=True):
    command = [paths.simulated, "--agent", paths.agent, "--dir", f"{folder}/traces", *more]
    environment = clean_environment(TRACETOOL_BUFFER="16M", TRACETOOL_FLUSH_MS="20")
    if wait:
        return subprocess.run(command, env=environment, capture_output=True, text=True)
    return subprocess.Popen(command, env=environment, start_new_session=True)


def true_calls(folder):
    """{rank: Counter of the bytes of its collectives}"""
    found = {}
    for rank in range(RANKS):
        with open(f"{folder}/truth.rank{rank}", encoding="utf-8") as lines:
            events = [json.loads(line) for line in lines]
        found[rank] = collections.Counter(e["bytes"] for e in events if e["kind"] == "nccl_call")
    return found


def exported_calls(trace):
    ranks = {e["pid"]: int(e["args"]["name"].split()[1]) for e in trace if e["ph"] == "M" and e["name"] == "process_name"}
    found = {rank: collections.Counter() for rank in ranks.values()}
    for event in trace:
        if event.get("cat") == "nccl":
            found[ranks[event["pid"]]][event["args"]["bytes"]] += 1
    return found


def ordinals(trace):
    """{(communicator, epoch, ordinal): processes that made this call}"""
    found = collections.defaultdict(set)
    for event in trace:
        if event.get("cat") == "nccl":
            args = event["args"]
            found[args["communicator"], args["epoch"], args["ordinal"]].add(event["pid"])
    return found


def whole_way(paths):
    with Folder() as folder:
        result = record(paths, folder, "--ranks", str(RANKS), "--steps", str(STEPS), "--buckets", str(BUCKETS),
                        "--truth", f"{folder}/truth", "--clock-offset-us", "50000")
        check(result.returncode == 0, "8 ranks are recorded", result.stderr)
        check(result.stderr == "", "and the agent said nothing", result.stderr)
        result = run(paths.tracetool, "merge", f"{folder}/traces", "-o", f"{folder}/run.ttrace", "--report",
                     f"{folder}/clocks.json")
        check(result.returncode == 0, "they are merged", result.stderr)
        hosts = json.load(open(f"{folder}/clocks.json", encoding="utf-8"))["hosts"]
        check(sorted(rank for host in hosts for rank in host["ranks"]) == list(range(RANKS)), "every rank has a clock", hosts)
        check(len(hosts) == 2, "of its host", hosts)
        info = run(paths.tracetool, "info", "--json", f"{folder}/run.ttrace").stdout
        raw = run(paths.tracetool, "info", "--json", f"{folder}/traces").stdout
        same = [[{k: v for k, v in r.items() if k not in ("source", "start_ns")} for r in json.loads(text)["ranks"]] for text in (info, raw)]
        check(same[0] == same[1], "the merged file says what the recordings say")
        starts = [[r["start_ns"] for r in json.loads(text)["ranks"]] for text in (info, raw)]
        moved = {rank: host["offset_ns"] for host in hosts for rank in host["ranks"]}
        check([starts[0][rank] - starts[1][rank] for rank in range(RANKS)] == [moved[rank] for rank in range(RANKS)],
              "and each rank is where its host's offset puts it", (starts, moved))
        ahead = [host for host in hosts if host["offset_ns"] != 0]
        check(len(ahead) == 1 and abs(ahead[0]["offset_ns"] + 50_000_000) <= 5000 and ahead[0]["method"] == "collectives",
              "an offset of 50 ms is found to 5 us", hosts)
        check(ahead and ahead[0]["bound_ns"][0] <= -50_000_000 <= ahead[0]["bound_ns"][1], "and lies within its bound", hosts)
        result = run(paths.tracetool, "merge", "--no-align", f"{folder}/traces", "-o", f"{folder}/wall.ttrace", "--report", f"{folder}/wall.json")
        wall = json.load(open(f"{folder}/wall.json", encoding="utf-8"))["hosts"]
        check(all(host["method"] == "wall_clock" and host["offset_ns"] == 0 for host in wall), "--no-align moves nothing", wall)
        result = run(paths.tracetool, "merge", "--clock-domain", "rank", f"{folder}/traces", "-o", f"{folder}/each.ttrace", "--report", f"{folder}/each.json")
        each = json.load(open(f"{folder}/each.json", encoding="utf-8"))["hosts"]
        check(len(each) == RANKS and all(len(host["ranks"]) == 1 for host in each), "--clock-domain rank: each has a clock of its own", each)
        ranks = json.loads(info)["ranks"]
        check([r["rank"] for r in ranks] == list(range(RANKS)), "ranks are in order")
        check(all(r["state"] == "clean" and r["overwritten"] == 0 and r["lost"] == 0 for r in ranks), "and complete")
        export(paths, folder, info)


def export(paths, folder, info):
    result = run(paths.tracetool, "export", "--perfetto", f"{folder}/run.ttrace", "-o", f"{folder}/run.json")
    check(result.returncode == 0, "the merged file is exported", result.stderr)
    open(f"{folder}/info.json", "w", encoding="utf-8").write(info)
    result = run(sys.executable, f"{HERE}/check_chrome_json.py", f"{folder}/run.json", "--info", f"{folder}/info.json")
    check(result.returncode == 0, "an independent reader finds every event in the export", result.stdout + result.stderr)
    trace = json.load(open(f"{folder}/run.json", encoding="utf-8"))["traceEvents"]
    calls, truth = exported_calls(trace), true_calls(folder)
    check(calls == truth, "every collective of every rank is there with its bytes", lambda: f"{calls} {truth}")
    check(all(sum(c.values()) == STEPS * BUCKETS for c in calls.values()), "one per bucket and step")
    check(all(len(pids) == RANKS for pids in ordinals(trace).values()), "each has one name on all ranks")
    names = {e["name"] for e in trace if e.get("cat") == "nvtx"}
    check("Train step 1" in names, "the program's own ranges are there", names)
    again = run(paths.tracetool, "export", "--chrome", f"{folder}/traces", "-o", "-").stdout
    check(len(json.loads(again)["traceEvents"]) == len(trace), "recordings are exported without merging them first")
    dump = run(paths.tracetool, "dump", next_ring(folder)).stdout
    check(" kernel device=" in dump and " nccl_call nccl_class=" in dump, "dump shows the records")
    dump = run(paths.tracetool, "dump", f"{folder}/traces")
    check(dump.returncode == 1 and not dump.stdout and next_ring(folder) in dump.stderr,
          "dump of a folder names a file of it", dump)


def next_ring(folder):
    return sorted(os.path.join(top, name) for top, _, names in os.walk(f"{folder}/traces") for name in names)[0]


def states(paths, folder):
    result = run(paths.tracetool, "info", "--json", f"{folder}/traces")
    return {r["state"] for r in json.loads(result.stdout)["ranks"]} if result.returncode == 0 else {result.stderr}


def while_it_runs(paths):
    with Folder() as folder:
        job = record(paths, folder, "--ranks", "2", "--steps", "100000", wait=False)
        wait_until(lambda: os.path.isdir(f"{folder}/traces"))
        time.sleep(1)
        seen = [states(paths, folder) for _ in range(5)]
        check(all(state == {"live"} for state in seen), "a running job reads as live, again and again", seen)
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()
        wait_until(lambda: "live" not in states(paths, folder), 5)  # killed is not yet gone
        check(states(paths, folder) == {"recovered"}, "a killed one as recovered", states(paths, folder))
        result = run(paths.tracetool, "merge", f"{folder}/traces", "-o", f"{folder}/run.ttrace")
        check(result.returncode == 0, "and merges", result.stderr)


def main():
    paths = arguments("agent", "simulated", "tracetool")
    whole_way(paths)
    while_it_runs(paths)
    finish()


main()
