#!/usr/bin/env python3
"""Kineto files come back from `export --kineto` as they were: every event, field by field (phase, category, name, pid, tid,
time, duration, id, scope, binding, args), and every member. What may differ is in ALLOWED and in the checks that use it.
Files of our own hold what real ones rarely do: hostile names and arguments, both spellings of ids, times without a base.

  test_kineto_export.py --tracetool PATH --traces FOLDER       real traces are skipped where the folder is absent
"""
import argparse
import json
import os
import sys

import trace_sets
from harness import Folder, check, files_below, finish, first, run
from kineto_files import load, multiset

# Members that we add to a file which does not let HTA find its rank (cli/formats/kineto/header.h).
ALLOWED = {"distributedInfo", "tracetool"}
# Through a merged file too, one of each kind.
MERGED_FIRST = ("v100-ns-resolution.pt.trace.json.gz", "inference.json.gz")
HOSTILE = ['quote " back \\ slash', "tab\tnew\nline\x01\x1f", "\u20ac \U0001f600", "{}[],:", "x" * 65536, ""]


def export(tool, source, folder):
    """The one profile that is made of one file."""
    out = os.path.join(folder, "out")
    result = run([tool, "export", "--kineto", source, "-o", out])
    found = files_below(out, ".pt.trace.json.gz")
    if not check(result.returncode == 0 and len(found) == 1, f"{os.path.basename(source)}: is exported",
                 lambda: f"{result.stderr} {found}"):
        return None
    return found[0]


def check_same(name, before, after):
    members, events = load(before)
    new_members, new_events = load(after)
    lost, added = multiset(events), multiset(new_events)
    lost, added = lost - added, added - lost
    check(not lost and not added, f"{name}: all {len(events)} events are as they were",
          lambda: f"lost {first(lost.elements())}, new {first(added.elements())}"[:2000])
    different = {key for key in members.keys() | new_members.keys() if members.get(key) != new_members.get(key)}
    check(not different - ALLOWED, f"{name}: all members are as they were", different)
    check(not different & members.keys(), f"{name}: none was replaced", different)


def written(folder, name, trace):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(trace, file)
    return path


def event(phase, name, time, **more):
    return {"ph": phase, "cat": "cpu_op", "name": name, "pid": 77, "tid": 78, "ts": time, **more}


def hostile_events():
    for time, text in enumerate(HOSTILE):
        yield event("X", text, time, dur=0.5, args={"a": text, text or "empty": [text, {"b": None}], "n": 2**64 - 1})
        yield event("C", text, time, args={"value": -1.5e300})
        yield event("i", text, time, s="p")
        yield {"ph": "i", "s": "g", "name": text, "pid": text, "tid": text, "ts": time}
    yield {"ph": "M", "name": "thread_name", "pid": 77, "tid": 78, "args": {"name": HOSTILE[0] + " "}}
    yield {"ph": "M", "name": "unheard of", "pid": "Spans", "tid": 0, "args": {"x": [1, 2]}}


def odd_places():
    yield event("X", "minus one", 1, dur=1, pid=-1, tid=5, args={"x": 1})
    yield event("X", "number", 2, dur=1, args={"x": True})
    yield event("X", "text", 3, dur=1, tid="78", args={"x": 1.0})
    yield event("s", "launch", 2, id=5, cat="async")
    yield event("f", "launch", 4, id=5, cat="async", bp="e", pid=0, tid="stream 7")
    yield event("f", "no bp", 4, id=2**64 - 1, cat="ac2g", pid=0, tid=7)
    for pid in (0, 8):  # one device, two rows
        yield event("X", "copy", 4 + pid, dur=0, cat="gpu_memcpy", pid=pid, tid=7, args={"device": 0, "stream": 7})
    yield event("X", "sync", 20, dur=3, cat="cuda_sync", pid=0, tid=1000007, args={"stream": 7, "device": 0})


def own_files(tool):
    cases = {"rank5.json": {"schemaVersion": 1, "distributedInfo": {"rank": 5}, "traceEvents": list(hostile_events()),
                            "hostile \" member": HOSTILE, "baseTimeNanoseconds": 1759300074000000000},
             "rank6.json": {"traceEvents": list(odd_places()), "distributedInfo": {"rank": 6}, "displayTimeUnit": "ns"},
             "rank7.json": {"traceEvents": [event("X", "absolute", 1759300074123456, dur=7)]},
             "negative.json": {"baseTimeNanoseconds": 10**18, "traceEvents": [event("X", "before", -0.001, dur=0.001)]},
             "array.json": [event("X", "alone", 1606910596350464, dur=2)]}
    with Folder() as folder:
        for name, trace in cases.items():
            source = written(folder, name, trace)
            out = export(tool, source, os.path.join(folder, name + ".out"))
            if out:
                check_same(name, source, out)
        check_order(tool, folder, cases["rank5.json"])


def check_order(tool, folder, trace):
    """HTA and TensorBoard read some of it by line."""
    out = export(tool, written(folder, "compact.json", trace), os.path.join(folder, "compact.out"))
    members, _ = load(out)
    check(list(members)[-1] != "distributedInfo" and members["distributedInfo"] == {"rank": 5}, "the rank comes first",
          list(members))


def whole_way(tool, path, name):
    with Folder() as folder:
        out = export(tool, path, folder)
        if out:
            check_same(name, path, out)
    if os.path.basename(path) in MERGED_FIRST:
        merged(tool, path)


def merged(tool, source):
    """Through a merged file nothing more is lost."""
    with Folder() as folder:
        between = os.path.join(folder, "m.ttrace")
        result = run([tool, "merge", source, "-o", between])
        check(result.returncode == 0, f"{os.path.basename(source)}: is merged", result.stderr)
        out = export(tool, between, folder)
        if out:
            check_same(os.path.basename(source) + ", merged first", source, out)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tracetool", required=True, type=os.path.abspath)
    parser.add_argument("--traces", required=True, type=os.path.abspath)
    options = parser.parse_args()
    own_files(options.tracetool)
    with trace_sets.folders(options.traces) as folders:
        for traces in folders:
            for path in files_below(traces):
                if ".json" in path:
                    whole_way(options.tracetool, path, os.path.relpath(path, traces))
    finish()


main()
