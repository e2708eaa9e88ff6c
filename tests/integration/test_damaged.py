#!/usr/bin/env python3
"""Damaged traces through the shipped tracetool, plain, in gzip and in zstd: one damaged event is lost and no other, a cut
file gives what is before the cut, info, merge and export go on and say what is missing; a file without a use is exit 3.

  test_damaged.py --tracetool PATH
"""
import gzip
import json
import os
import shutil
import subprocess

from harness import Folder, arguments, check, finish, run

EVENTS = 400
HEAD = ('{\n  "schemaVersion": 1,\n  "distributedInfo": {"backend": "nccl", "rank": 0},\n'
        '  "baseTimeNanoseconds": 1759300074000000000,\n  "traceEvents": [\n  ')
GAP, TAIL = ",\n  ", '\n  ],\n  "traceName": "t.json"\n}\n'

# What is done to the text of one event.
WAYS = {
    "a missing value": lambda e: e.replace(b'"default_pg"', b""),
    "a missing comma": lambda e: e.replace(b", \"pid\"", b" \"pid\""),
    "NaN": lambda e: e.replace(b'"dur": 1', b'"dur": NaN'),
    "no ph": lambda e: e.replace(b'"ph": "X", ', b""),
    "a time that is no number": lambda e: e.replace(b'"ts": ', b'"ts": "at "'),
    "a lost end": lambda e: e[:-20],
    "a hole": lambda e: e[:30] + bytes(40) + e[70:],
}


# What writers do to the text of one event, which is kept (test_field_cases.py has more).
MENDED = {
    "an unescaped quote": lambda e: e.replace(b"aten::", b'at"en::'),
    "a raw newline": lambda e: e.replace(b"aten::", b"at\nen::"),
    "a control character": lambda e: e.replace(b"aten::", b"at\x02en::"),
    "bad UTF-8": lambda e: e.replace(b"aten::", b"at\xffen::"),
}


def event(number):
    text = {"ph": "X", "cat": "cpu_op", "name": f"aten::op{number} }}, {{\"ph\": \"X\"}}, [", "pid": 7, "tid": 7,
            "ts": number * 2.5, "dur": 1, "args": {"Ev Idx": number, "Process Group Description": "default_pg",
                                                  "Input Dims": [[number, 2], []]}}
    return json.dumps(text).encode()


def trace(events):
    return HEAD.encode() + GAP.encode().join(events) + TAIL.encode()


def store(folder, name, data, packing):
    path = os.path.join(folder, name + {"gzip": ".gz", "zstd": ".zst"}.get(packing, ""))
    if packing == "gzip":
        half = len(data) // 2  # two members
        data = gzip.compress(data[:half]) + gzip.compress(data[half:])
    elif packing == "zstd":
        tenth = len(data) // 10 + 1  # frames: the inside of a cut block is lost
        parts = [data[at:at + tenth] for at in range(0, len(data), tenth)]
        data = b"".join(subprocess.run(["zstd", "-qc"], input=part, stdout=subprocess.PIPE, check=True).stdout for part in parts)
    with open(path, "wb") as out:
        out.write(data)
    return path


def exported(tool, path, folder):
    """The `Ev Idx` of what comes out of merge and export, the process as info tells it, and all that was said."""
    merged, picture = os.path.join(folder, "m.ttrace"), os.path.join(folder, "m.json")
    steps = [run([tool, "info", "--json", path]), run([tool, "merge", path, "-o", merged]),
             run([tool, "export", "--perfetto", merged, "-o", picture])]
    said = "".join(step.stderr for step in steps)
    if any(step.returncode != 0 for step in steps):
        return None, None, said
    with open(picture, encoding="utf-8") as file:
        slices = [e for e in json.load(file)["traceEvents"] if e.get("ph") == "X" and e.get("cat") == "cpu_op"]
    warned = all("warning" in step.stderr and path in step.stderr for step in steps)
    return sorted(e["args"]["Ev Idx"] for e in slices), json.loads(steps[0].stdout)["ranks"][0], said if warned else ""


def check_ways(tool, folder, packing):
    good = [event(number) for number in range(EVENTS)]
    for hit, (what, way) in enumerate(WAYS.items(), 1):
        events = list(good)
        hit *= 31
        events[hit] = way(events[hit])
        assert events[hit] != good[hit], what
        got, process, said = exported(tool, store(folder, "t.json", trace(events), packing), folder)
        expected = [number for number in range(EVENTS) if number != hit]
        begin = len(HEAD) + sum(len(e) + len(GAP) for e in good[:hit])
        named = process is not None and f"skipped, bytes {begin} to " in process["notes"][0]
        check(got == expected and process["lost"] == 1 and process["state"] == "recovered" and named and
              "1 event could not be read" in said, f"{packing}: {what} costs one event, named by its bytes",
              lambda: f"{process} {said}")


def check_mended(tool, folder, packing):
    for hit, (what, way) in enumerate(MENDED.items(), 1):
        events = [event(number) for number in range(EVENTS)]
        events[hit * 31] = way(events[hit * 31])
        got, process, said = exported(tool, store(folder, "t.json", trace(events), packing), folder)
        check(got == list(range(EVENTS)) and process["lost"] == 0 and process["state"] == "recovered" and "the event is kept" in said,
              f"{packing}: {what} costs no event, and is said", lambda: f"{process} {said}")


def check_cuts(tool, folder, packing):
    good = [event(number) for number in range(EVENTS)]
    whole = trace(good)
    path = store(folder, "cut.json", whole, packing)
    with open(path, "rb") as file:
        packed = file.read()
    for share in (30, 60, 99):
        size = len(packed) * share // 100
        with open(path, "wb") as file:
            file.write(packed[:size])
        got, process, said = exported(tool, path, folder)
        check(got is not None and got == list(range(len(got))) and process["state"] == "recovered" and
              "the JSON text ends here" in process["notes"][-1] and said, f"{packing}: cut at {share} %: {len(got or [])} events",
              lambda: f"{process} {said}")
        if packing == "plain":
            kept = sum(1 for number in range(EVENTS) if whole.find(good[number]) + len(good[number]) <= size)
            check(len(got) == kept, f"cut at {share} %: all {kept} whole events", str(len(got)))


def check_useless(tool, folder):
    for name, data in (("no_events.json", b'{"a": 1}'), ("none_whole.json", b'[{"ph": "X", "name": "a", "ts": }]'),
                       ("text.json", b"hello"), ("empty.json.gz", gzip.compress(b"")[:10])):
        path = store(folder, name, data, "plain")
        codes = [run([tool, "info", path]).returncode, run([tool, "merge", path, "-o", f"{folder}/n.ttrace"]).returncode,
                 run([tool, "export", "--chrome", path, "-o", f"{folder}/n.json"]).returncode]
        check(codes == [3, 3, 3], f"{name}: nothing of it can be used", str(codes))
    check(not os.path.exists(f"{folder}/n.ttrace") and not os.path.exists(f"{folder}/n.json"), "and nothing is left behind")


def check_phases(tool, folder):
    names = ("stage1-model_init", "stage2-eval_bpb", "stage3-optimizer_step")
    paths = []
    for rank in (0, 1):
        for number, name in enumerate(names):
            text = {"distributedInfo": {"rank": rank}, "baseTimeNanoseconds": 1759300074000000000 + number * 10**10,
                    "traceEvents": [{"ph": "X", "cat": "cpu_op", "name": name, "pid": 100 + rank, "tid": 1, "ts": 5, "dur": 2}]}
            paths.append(store(folder, f"{name}_trace_rank{rank}.json", json.dumps(text).encode(), "plain"))
    merged, picture = f"{folder}/p.ttrace", f"{folder}/p.json"
    check(run([tool, "merge", *paths, "-o", merged]).returncode == 0, "phases of two ranks are merged")
    info = json.loads(run([tool, "info", "--json", merged]).stdout)
    phases = [(process["rank"], process["phase"]) for process in info["ranks"]]
    check(phases == [(rank, name) for rank in (0, 1) for name in names] and not info["notes"],
          "and told apart, in their order", str(info))
    check(not json.loads(run([tool, "info", "--json", *paths]).stdout)["notes"], "info does not call them counted twice")
    run([tool, "export", "--perfetto", merged, "-o", picture])
    with open(picture, encoding="utf-8") as file:
        rows = [e["args"]["name"] for e in json.load(file)["traceEvents"] if e["name"] == "process_name"]
    check(all(any(f"rank {r}" in row and name in row for row in rows) for r in (0, 1) for name in names),
          "their rows bear their names", str(rows))
    shutil.copy(paths[0], f"{folder}/again_rank0.json")
    twice = run([tool, "merge", paths[0], f"{folder}/again_rank0.json", "-o", f"{folder}/q.ttrace"])
    check(twice.returncode == 1 and paths[0] in twice.stderr and "again_rank0.json" in twice.stderr,
          "the same rank twice names both files", twice.stderr)


def main():
    tool = arguments("tracetool").tracetool
    with Folder() as folder:
        for packing in ("plain", "gzip") + (("zstd",) if shutil.which("zstd") else ()):
            check_ways(tool, folder, packing)
            check_mended(tool, folder, packing)
            check_cuts(tool, folder, packing)
        if not shutil.which("zstd"):
            print("no zstd program here: its files are not tried")
        check_useless(tool, folder)
        check_phases(tool, folder)
    finish()


if __name__ == "__main__":
    main()
