#!/usr/bin/env python3
"""A merged file, read by its description (ttrace_file.py), says what `tracetool dump` says of it, and its index is true."""
import collections
import decimal
import glob
import json
import re

import kineto_files
import synthesized_traces
from harness import Folder, arguments, check, finish, run
from ttrace_file import MergedFile

LINE = re.compile(r"^(-?\d+) (-?\d+) (.) (\w+) rank (\?|\d+), (device -?\d+ stream -?\d+|thread -?\d+|.*? -?\d+): (.*)$")


def key_of(event):
    return (event["start_ns"], event["duration_ns"], event["phase"], event["kind"], event["name"].replace("\n", " "))


def dumped(tool, path):
    lines = run([tool, "dump", path]).stdout.splitlines()
    return [LINE.match(line).groups() for line in lines]


def launches(file):
    """By process and correlation: the first start of an API call."""
    found = {}
    for entry, events in file.events():
        for event in events:
            if event["kind"] in ("runtime", "driver") and event["correlation"]:
                key = entry.process, event["correlation"]
                found[key] = min(found.get(key, event["start_ns"]), event["start_ns"])
    return found


def check_index(file, least_launches):
    launched = launches(file)
    seen = 0
    for entry, events in file.events():
        ends = [event["start_ns"] + max(event["duration_ns"], 0) for event in events]
        check(len(events) == entry.count and entry.first_ns == events[0]["start_ns"] and entry.last_ns == max(ends),
              "a chunk's times", entry)
        of_gpu = events if entry.sort == 0 else []
        calls = [(launched[entry.process, event["correlation"]], event["start_ns"])
                 for event in of_gpu if (entry.process, event["correlation"]) in launched]
        seen += len(calls)
        check(entry.first_launch_ns == min([entry.first_ns] + [call for call, _ in calls]), "the first launch", entry)
        check(entry.late_launch_ns == max([entry.first_ns] + [call for call, start in calls if call > start]), "a late launch", entry)
        check({file.tracks[event["track"]]["process"] for event in events} == {entry.process}, "a chunk is of one process", entry)
        check(entry.kinds == sum(1 << file.kinds.index(kind) for kind in {event["kind"] for event in events}), "its kinds", entry)
        starts = [event["start_ns"] for event in events]
        check(starts == sorted(starts), "the order of time in a chunk", entry)
    check(seen > least_launches, "launches were looked at", seen)


def check_kineto(tool, folder):
    """Arguments of Kineto's events, put together from shapes and integers, are those of the files."""
    synthesized_traces.job_ns(f"{folder}/job")
    paths = sorted(glob.glob(f"{folder}/job/*"))
    done = run([tool, "merge", *paths, "-o", f"{folder}/job.ttrace"])
    check(done.returncode == 0, "merge of profiles", done)
    file = MergedFile(f"{folder}/job.ttrace")
    check_index(file, 100)
    mine, theirs = collections.Counter(), collections.Counter()
    for _, events in file.events():
        for event in events:
            mine[event["phase"], event["name"], kineto_files.frozen(json.loads(b"{%s}" % event["args"], parse_float=decimal.Decimal))] += 1
    for path in paths:
        for event in kineto_files.load(path)[1]:
            if event["ph"] != "M":
                theirs[event["ph"], event["name"], kineto_files.frozen(event.get("args", {}))] += 1
    check(mine == theirs and len(file.shapes) > 5, "arguments of profiles", lambda: (mine - theirs, theirs - mine))


def main():
    options = arguments("agent", "simulated", "tracetool")
    with Folder() as folder:
        done = run([options.simulated, "--agent", options.agent, "--dir", f"{folder}/traces", "--ranks", "2", "--steps", "20"])
        check(done.returncode == 0, "the simulated job", done)
        path = f"{folder}/run.ttrace"
        done = run([options.tracetool, "merge", f"{folder}/traces", "-o", path])
        check(done.returncode == 0, "merge", done)
        file = MergedFile(path)
        check_index(file, 1000)
        events = [event for _, chunk in file.events() for event in chunk]
        lines = dumped(options.tracetool, path)
        check(len(events) == len(lines) == file.count > 1000, "every event is read", (len(events), len(lines), file.count))
        shown = sorted((int(start), int(duration), phase, kind) for start, duration, phase, kind, _, _, _ in lines)
        check(sorted(key_of(event)[:4] for event in events) == shown, "with its times and kind")
        names = sorted(rest for *_, rest in lines)
        mine = sorted(key_of(event)[4] for event in events)
        check(all(line.startswith(name) for line, name in zip(names, mine)), "and its name")
        calls = [event["payload"] for event in events if event["kind"] == "nccl"]
        said = [dict(re.findall(r" (\w+)=(\S+)", rest)) for *_, kind, _, _, rest in lines if kind == "nccl"]
        numbers = lambda call, *keys: tuple(int(str(call.get(key, 0)), 0) for key in keys)
        keys = ("communicator", "epoch", "ordinal", "count", "data_type")
        check(calls and sorted(numbers(c, *keys) for c in calls) == sorted(numbers(c, *keys) for c in said),
              "with the numbers of its payload", (calls[:1], said[:1]))
        check_kineto(options.tracetool, folder)
    finish()


main()
