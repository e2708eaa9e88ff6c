#!/usr/bin/env python3
"""Runs of Python's garbage collector, on the stand-in of PyTorch: each is a record between the program's own two callbacks, on its
thread, with what the collector says of it. A program that empties the list, forks, calls the callback itself, or ends, goes on as
without us. From `tracetool` they come as events of their thread. What of a GPU's idle time its host was in them is as a slow program has it.

  test_garbage_collections.py --agent PATH --simulated PATH --tracetool PATH --torch PATH --launcher PATH
"""
import glob
import json
import os
import sys

import slow_diagnosis
from harness import Folder, arguments, check, files_below, finish, first, run
from recorded import environment_of
from slow_idle import Process, collections_of, of_kineto
from slow_tables import ns, read_json

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples"))
import read_recording  # noqa: E402

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "python_collections.py")
ON_GPU = os.path.join(os.path.dirname(PROGRAM), "collections_on_gpu.py")
ROUNDS = 10
PYTHON = os.environ.get("TRACETOOL_PYTHON", sys.executable)
NEAR_NS = 1000  # two ways to read the same two clocks
COLLECTED = 21  # by the program itself, in the time that the truth covers


def collect(options, folder, how, level="steps"):
    """(the finished process, the collections of the truth, its recordings)."""
    done = run([PYTHON, PROGRAM, options.torch, f"{folder}/truth", how], cwd=folder, LD_PRELOAD=options.agent, TORCH_LAYOUT="2.9",
               TRACETOOL_DIR=f"{folder}/traces", TRACETOOL_BUFFER="8M", TRACETOOL_TORCH=level)
    check(done.returncode == 0 and not done.stderr, f"{how}: the program ends as without us", done)
    lines = [json.loads(line) for line in open(f"{folder}/truth", encoding="utf-8")]
    return done, list(collections(lines)), files_below(f"{folder}/traces", ".ring")


def collections(lines):
    """Of those that both callbacks saw: [start of the one before, start of the one behind], likewise their ends, and what was told."""
    for at in range(0, len(lines) - 3):
        four = lines[at:at + 4]
        if [(line["place"], line["phase"]) for line in four] == [("before", "start"), ("behind", "start"), ("before", "stop"), ("behind", "stop")]:
            yield {"start": [four[0]["time"], four[1]["time"]], "end": [four[2]["time"], four[3]["time"]],
                   **{name: four[3][name] for name in ("tid", "generation", "collected", "uncollectable")}}


def is_same(line, event):
    return line["start"][0] <= event.time <= line["start"][1] and line["end"][0] <= event.end <= line["end"][1] and \
        all(line[name] == getattr(event, name) for name in ("tid", "generation", "collected", "uncollectable"))


def check_records(options, how):
    with Folder() as folder:
        done, lines, files = collect(options, folder, how)
        check("tracetool_garbage_collection" in done.stdout, f"{how}: the callback is there", done.stdout)
        if not check(len(files) == 1, f"{how}: there is one recording", files):
            return
        recording = read_recording.read(files[0])
        found = sorted((event for event in recording.events if event.kind == "garbage_collection"), key=lambda event: event.time)
        during = [event for event in found if lines[0]["start"][0] <= event.time <= lines[-1]["end"][1]]
        wrong = [(line, event) for line, event in zip(lines, during) if not is_same(line, event)]
        check(len(lines) == len(during) >= COLLECTED and not wrong, f"{how}: {len(lines)} collections, with their times, threads and results",
              lambda: (len(lines), len(during), first(wrong)))
        check(max(event.collected for event in during) >= 1000, f"{how}: and what they collected", during)
        if how == "late":
            check(found[-1].time > lines[-1]["end"][1], "late: what Python collects at its end, too", found[-1])
        if how == "plain":
            check_tool(options, folder, recording, found)


def check_tool(options, folder, recording, found):
    counts = json.loads(run([options.tracetool, "info", f"{folder}/traces", "--json"]).stdout)["ranks"][0]["counts"]
    check(counts.get("garbage_collection") == len(found), "info counts them", counts)
    done = run([options.tracetool, "merge", f"{folder}/traces", "-o", f"{folder}/run.ttrace"])
    dumped = [line for line in run([options.tracetool, "dump", f"{folder}/run.ttrace"]).stdout.splitlines() if " garbage_collection " in line]
    wrong = [(line, event) for line, event in zip(dumped, found) if abs(int(line.split()[0]) - recording.wall(event.time, "mono_ns")) > NEAR_NS
             or line.split()[1:4] != [str(event.end - event.time), "X", "garbage_collection"]]
    check(done.returncode == 0 and len(dumped) == len(found) and not wrong, "dump of the merged file has them", lambda: (len(dumped), first(wrong)))
    check(all(f"generation={event.generation}" in line and f"collected={event.collected}" in line for line, event in zip(dumped, found)),
          "with what they collected", dumped[:3])
    for how, paths in (("--chrome", f"{folder}/run.json"), ("--kineto", f"{folder}/kineto")):
        done = run([options.tracetool, "export", f"{folder}/run.ttrace", how, "-o", paths])
        path = paths if how == "--chrome" else (glob.glob(f"{paths}/*.json*") + [""])[0]
        events = [event for event in read_json(path) if event.get("ph") == "X" and event.get("cat") == "garbage_collection"]
        said = [(event["name"], ns(event["dur"]), event["tid"], event["args"]["generation"], event["args"]["collected"], event["args"]["uncollectable"]) for event in events]
        want = [(f"garbage collection (generation {event.generation})", event.end - event.time, event.tid, event.generation, event.collected, event.uncollectable)
                for event in found]
        check(done.returncode == 0 and sorted(said) == sorted(want), f"export {how} has them on their threads", lambda: (done.stderr, said[:2], want[:2]))


def rows_of(options, path, table="idle"):
    return json.loads(run([options.tracetool, "analyze", path, "--only", table, "--format", "json"]).stdout)[table]


def check_idle(options):
    """Between the launches of a simulated GPU: what of its idle time is in collections, here and in another thread."""
    with Folder() as folder:
        done = run([PYTHON, ON_GPU, options.torch, options.launcher, str(ROUNDS)], cwd=folder,
                   **environment_of(options, folder, TRACETOOL_TORCH="steps", TORCH_LAYOUT="2.9", SIM_TRUTH=None))
        if not check(done.returncode == 0 and "tracetool" not in done.stderr, "idle: the program runs as without us", done):
            return
        true = [each for each in collections(json.loads(done.stdout))]
        paths = f"{folder}/traces", f"{folder}/run.ttrace", f"{folder}/kineto"
        run([options.tracetool, "merge", paths[0], "-o", paths[1]])
        run([options.tracetool, "export", "--kineto", paths[0], "-o", paths[2]])
        said = [rows_of(options, path)[0] for path in paths]
        check(all({**each, "rank": 0} == {**said[0], "rank": 0} for each in said), "idle: the same from a recording, a merged file and an export", said)
        inside = sum(each["end"][0] - each["start"][1] for each in true)
        outside = sum(each["end"][1] - each["start"][0] for each in true)
        check(len(true) == 3 * ROUNDS and inside - len(true) * 300_000 <= said[0]["in_gc_ns"] <= outside, f"idle: {said[0]['in_gc_ns']} ns in {len(true)} collections", (inside, outside, said[0]))
        late = said[0]["host_late_ns"], said[0]["after_sync_ns"]
        check(min(late) > 0 and said[0]["in_gc_ns"] < sum(late), "idle: not all that the host is late", said[0])
        events = read_json(glob.glob(f"{paths[2]}/*.json*")[0])
        process = Process(*of_kineto(events), collections_of(events))
        slow = process.idle(0)
        check(slow == {name: said[0][name] for name in slow}, "idle: as the slow program has it", (slow, said[0]))
        check_found(options, paths[0], process)


def check_found(options, path, process):
    told = json.loads(run([options.tracetool, "diagnose", path, "--time", "0s-", "--format", "json"]).stdout)
    rules = {each["rule"]: each["saving_ns"] for each in told["findings"] if each["rule"] in ("garbage-collection", "host-late")}
    slow = slow_diagnosis.findings(process, {}, told["length_ns"])
    true = {rule: ns for rule, ns in slow.items() if rule in ("garbage-collection", "host-late")}
    check(rules == true and len(rules) == 2, "diagnose: collections, and apart from them a late host", (rules, true))
    found = next((each for each in told["findings"] if each["rule"] == "garbage-collection"), {"advice": "", "evidence": []})
    check("gc.freeze()" in found["advice"] and "gc.collect() every N steps" in found["advice"], "diagnose: what to do", found)
    check(found["evidence"] and all("garbage collector" in each["what"] for each in found["evidence"]), "diagnose: where it is seen", found)


def main():
    options = arguments("agent", "simulated", "tracetool", "torch", "launcher")
    for how in ("plain", "cleared", "forked", "called", "late"):
        check_records(options, how)
    with Folder() as folder:
        collect(options, folder, "held")
    with Folder() as folder:
        done = run([PYTHON, PROGRAM, options.torch, f"{folder}/truth", "plain"], cwd=folder, LD_PRELOAD=options.agent, TORCH_LAYOUT="2.9",
                   TRACETOOL_DIR=f"{folder}/traces", TRACETOOL_TORCH="off")
        check(done.returncode == 0 and not done.stderr and "None" in done.stdout, "off: gc.callbacks is the program's alone", done)
    check_idle(options)
    finish()


if __name__ == "__main__":
    main()
