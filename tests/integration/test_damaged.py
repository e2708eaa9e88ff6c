#!/usr/bin/env python3
"""Damaged traces through the shipped tracetool, plain, in gzip and in zstd: one damaged event is lost and no other, a cut
file gives what is before the cut, info, merge and export go on and say what is missing; a file without a use is exit 3. Of any bytes,
each command that reads makes an answer or an error.

  test_damaged.py --tracetool PATH
"""
import concurrent.futures
import gzip
import json
import os
import random
import shutil
import subprocess

from harness import Folder, arguments, check, finish, first, run
from made_profiles import profile

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


CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fuzz", "corpus")
MUTATIONS = 2 if "ASAN_OPTIONS" in os.environ else 10  # of each file
DAY_US = 86_400_000_000


def copies_and_kernels(path, starts_us, length_us=100, base_ns=0):
    """A profile in which the host waits for a copy to the GPU at each of the starts, and then launches a kernel."""
    events = []
    for number, start in enumerate(starts_us):
        host, gpu = {"ph": "X", "cat": "cuda_runtime", "pid": 7, "tid": 7}, {"ph": "X", "pid": 0, "tid": 7}
        events += [{**host, "name": "cudaMemcpy", "ts": start, "dur": length_us + 5, "args": {"correlation": 2 * number + 1}},
                   {**gpu, "cat": "gpu_memcpy", "name": "Memcpy HtoD (Pageable -> Device)", "ts": start + 1, "dur": length_us,
                    "args": {"device": 0, "stream": 7, "correlation": 2 * number + 1, "bytes": 1 << 20}},
                   {**host, "name": "cudaLaunchKernel", "ts": start + length_us + 10, "dur": 2, "args": {"correlation": 2 * number + 2}},
                   {**gpu, "cat": "kernel", "name": "gemm", "ts": start + length_us + 20, "dur": 5,
                    "args": {"device": 0, "stream": 7, "correlation": 2 * number + 2}}]
    with open(path, "w", encoding="utf-8") as out:
        json.dump({"schemaVersion": 1, "distributedInfo": {"rank": 0, "world_size": 1}, "baseTimeNanoseconds": base_ns, "traceEvents": events}, out)
    return path


def far_times(folder):
    """Times near the limits of 64 bits, and years apart."""
    most = 2**63 - 1
    for name, starts, more in (("end", (5e6, 5e6 + 500), {"base_ns": most - 10**6}), ("begin", (-5e6, 0), {"base_ns": -most}),
                               ("both", (-9e15, 9e15), {}), ("years", (1000, 1.7e15), {}), ("absolute", (9.22e15, 9.223e15), {"base_ns": most}),
                               ("days", [0.9 * DAY_US * day for day in range(400)], {"length_us": 0.85 * DAY_US})):
        yield copies_and_kernels(f"{folder}/{name}.json", starts, **more)


def mutated(folder):
    """Copies of whole files with changed or missing bytes."""
    draw = random.Random(7)
    whole = [profile(f"{folder}/whole.json", steps=4, world=1)]
    whole += [os.path.join(CORPUS, *names) for names in (("merged", "two_steps.ttrace"), ("merged", "all_kinds.ttrace"), ("ring", "two_steps.ring"), ("ring", "all_kinds.ring"))]
    for path in whole:
        with open(path, "rb") as file:
            data = file.read()
        for number in range(MUTATIONS):
            changed = bytearray(data)
            for _ in range(1 + draw.randrange(8)):
                changed[draw.randrange(len(changed))] = draw.randrange(256)
            if number % 5 == 4:
                del changed[draw.randrange(len(changed)):]
            name = f"{folder}/{os.path.basename(path)}-{number}{os.path.splitext(path)[1]}"
            with open(name, "wb") as out:
                out.write(changed)
            yield name


def failures_of(tool, path):
    """Runs every command that reads files on one file; returns outputs that are neither an answer nor an error."""
    place = path + ".d"
    os.mkdir(place)
    file = shutil.copy(path, place)
    commands = [["info", file], ["info", "--json", file], ["dump", file], ["dump", file, "--kinds", "kernel"], ["analyze", file], ["diagnose", file],
                ["analyze", file, "--only", "kernels,steps,idle,gaps,copies,critical_path", "--format", "json"], ["report", file, "-o", f"{place}/page"],
                ["diff", file, file], ["check", file, "--baseline", file, "--max-regress", "3"], ["runs", place], ["doctor", place],
                ["merge", file, "-o", f"{place}/merged"], ["export", "--perfetto", file, "-o", "-"], ["export", "--pftrace", file, "-o", f"{place}/native"],
                ["export", "--kineto", file, "-o", f"{place}/kineto"], ["export", "--folded", file, "-o", f"{place}/folded"]]
    wrong = []
    for command in commands:
        done = run([tool, *command])
        if done.returncode not in range(6) or any(word in done.stderr for word in ("tracetool: unexpected", "runtime error", "Sanitizer")):
            wrong.append(f"{' '.join(command)}: {done.returncode} {done.stderr[-600:]}")
    return wrong


def check_any_bytes(tool, folder):
    for what, paths in (("changed bytes", list(mutated(folder))), ("far times", list(far_times(folder)))):
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            wrong = [line for lines in pool.map(lambda path: failures_of(tool, path), paths) for line in lines]
        check(not wrong, f"{what} in {len(paths)} files: each command answers, or says why it cannot", lambda: first(wrong))
    found = run([tool, "diagnose", f"{folder}/years.json"]).stdout
    check("host-late (high)" in found, "a GPU that idles for years has a finding", found)
    spans = [(name, rank["span_ns"]) for name in ("both", "years", "days") for rank in json.loads(run([tool, "info", "--json", f"{folder}/{name}.json"]).stdout)["ranks"]]
    check(all(0 <= ns < 2**62 for _, ns in spans), "no span is longer than the times that are believed", spans)


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
    with Folder() as folder:
        check_any_bytes(tool, folder)
    finish()


if __name__ == "__main__":
    main()
