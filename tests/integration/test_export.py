#!/usr/bin/env python3
"""What `export` chooses and parts, against a slow reading of the whole export: selections hold exactly the events that
this script would select, parts hold the events of the whole, once each; a TAR with its manifest.

  test_export.py --tracetool PATH --traces DIR
"""
import argparse
import collections
import json
import os
import subprocess
import tarfile

from export_inputs import Tool, key, load, multiset, ranks_of, slices, write_ranks
from harness import Folder, check, finish

GPU = {"kernel", "gpu_memcpy", "gpu_memset", "cuda_sync", "cuda_event"}
API = {"cuda_runtime", "cuda_driver"}
WORK = {"kernel", "gpu_memcpy", "gpu_memset"}


def paths():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tracetool", required=True, type=os.path.abspath)
    parser.add_argument("--traces", required=True, type=os.path.abspath)
    return parser.parse_args()


def steps_of(whole):
    """{pid: {number: (start, end) in ns}}"""
    found = collections.defaultdict(dict)
    for event in slices(whole):
        if event.get("cat") == "user_annotation" and event["name"].startswith("ProfilerStep#"):
            _, _, name, ts, dur = key(event)
            found[event["pid"]][int(name.split("#")[1])] = ts, ts + dur
    return found


def in_steps(whole, wanted):
    """The slow way; ranges on the GPU are looked at apart."""
    ranges = {pid: [r for number, r in steps.items() if number in wanted] for pid, steps in steps_of(whole).items()}
    starts = lambda e: any(a <= round(e["ts"] * 1000) < b for a, b in ranges.get(e["pid"], []))
    launched, recorded = {}, {event["pid"] for event in slices(whole) if event.get("cat") in API}
    for event in slices(whole):
        if event.get("cat") in API and event.get("args", {}).get("correlation"):
            at = event["pid"], event["args"]["correlation"]
            launched[at] = launched.get(at, False) or starts(event)
    for event in slices(whole):
        at = event["pid"], event.get("args", {}).get("correlation")
        if event.get("cat") == "gpu_user_annotation":
            continue
        is_work = event.get("cat") in WORK and event["pid"] in recorded  # without a launch it belongs to no step
        if launched[at] if event.get("cat") in GPU and at in launched else not is_work and starts(event):
            yield event


def chosen(tool, whole, what):
    every = slices(whole)
    numbers = sorted({n for steps in steps_of(whole).values() for n in steps})
    for text, wanted in ((str(numbers[1]), numbers[1:2]), (f"{numbers[-2]}-", numbers[-2:]),
                         (f"{numbers[0]},{numbers[-1]}", [numbers[0], numbers[-1]])):
        got = multiset(e for e in slices(tool.json("--steps", text)) if e.get("cat") != "gpu_user_annotation")
        check(got == multiset(in_steps(whole, wanted)), f"{what}: --steps {text} is what the slow way selects",
              lambda: f"{sum(got.values())} events")
    first = min(round(e["ts"] * 1000) for e in every)
    check(first == 0, f"{what}: time 0 is the first event's")
    last = max(round((e["ts"] + e["dur"]) * 1000) for e in every)
    a, b = last // 3, last // 2
    runs = [e for e in every if key(e)[3] < b and (key(e)[3] >= a or key(e)[3] + key(e)[4] > a)]
    check(multiset(slices(tool.json("--time", f"{a}ns-{b}ns"))) == multiset(runs), f"{what}: --time is what runs then")
    names = ranks_of(whole)
    some = sorted(names.values())[1:]
    check(multiset(slices(tool.json("--ranks", f"{some[0]}-"))) == multiset(e for e in every if names[e["pid"]] in some),
          f"{what}: --ranks")
    check(multiset(slices(tool.json("--kinds", "kernel,memcpy")))
          == multiset(e for e in every if e.get("cat") in ("kernel", "gpu_memcpy")), f"{what}: --kinds")
    check(multiset(slices(tool.json("--min-dur", "20us"))) == multiset(e for e in every if key(e)[4] >= 20000),
          f"{what}: --min-dur")


def counted(tool, folder, what):
    result = tool.run("--perfetto", "--steps", "4-5" if what == "made" else "11", "--kinds", "kernel,runtime", "--json",
                      "-o", f"{folder}/some.json")
    said = json.loads(result.stdout)
    check(said["events"] == said["kept"] + sum(said["left_out"].values()), f"{what}: events = kept + left out", said)
    check(said["left_out"]["steps"] > 0 and said["left_out"]["kinds"] > 0, f"{what}: by reason", said)


def parted(tool, whole, folder, what):
    total = len(tool.run("--perfetto", "--no-computed", "--max-size", "0", "-o", "-").stdout)
    limit = total // 5
    result = tool.run("--perfetto", "--no-computed", "--max-size", str(limit), "--json", "-o", f"{folder}/parts.json")
    said = json.loads(result.stdout)
    parts = [load(open(file["path"], "rb").read()) for file in said["files"]]
    check(5 <= len(parts) <= 12, f"{what}: parts", said)
    check([os.path.basename(f["path"]) for f in said["files"]][0] in ("parts.segment1.json", "parts.segment01.json"),
          f"{what}: their names", said["files"])
    check(not os.path.exists(f"{folder}/parts.json"), f"{what}: the whole is not there")
    check(sum((multiset(slices(p)) for p in parts), collections.Counter()) == multiset(slices(whole)),
          f"{what}: parts hold every slice of the whole, once")
    sizes = [os.path.getsize(f["path"]) for f in said["files"]]
    check(max(sizes) <= limit * 1.05, f"{what}: no part is much above the limit", f"{sizes} of {limit}")
    check(sizes == [f["uncompressed_bytes"] for f in said["files"]], f"{what}: sizes are those that are said")
    check(all({e["pid"] for e in slices(p)} <= set(ranks_of(p)) for p in parts), f"{what}: each part names its rows")
    arrows = lambda trace: sum(e["ph"] in "ft" for e in trace["traceEvents"])
    check(sum(map(arrows, parts)) + said["split_flows"] == arrows(whole), f"{what}: arrows across borders are counted")
    check(b"more than --max-size" in result.stderr, f"{what}: it is said", result.stderr)
    result = tool.run("--perfetto", "--max-size", str(limit), "-o", "-")
    check(b"stdout is never split" in result.stderr and load(result.stdout), f"{what}: stdout is not split")


def manifest(tool, whole, folder, what):
    for flag, path, ending in (("--perfetto", "ranks.tar.gz", ".json"), ("--perfetto", "ranks.tar", ".json"),
                               ("--pftrace", "ranks.tar", ".pftrace")):
        result = tool.run("--manifest", flag, "--no-computed", "-o", f"{folder}/{path}")
        check(result.returncode == 0, f"{what}: --manifest {flag}", result.stderr)
        with tarfile.open(f"{folder}/{path}", "r:gz" if path.endswith(".gz") else "r:") as tar:
            members = {name: tar.extractfile(name).read() for name in tar.getnames()}
        text = members.pop("perfetto_manifest.json")
        check(text.startswith(b'{"perfetto_manifest"'), f"{what}: it is known by its first bytes")
        said = json.loads(text)["perfetto_manifest"]
        check(said["version"] == 1 and [f["path"] for f in said["files"]] == list(members), f"{what}: it names the members")
        check(sorted(members) == sorted(f"rank{r}{ending}" for r in ranks_of(whole).values()), f"{what}: one per rank")
        if ending == ".pftrace":
            check(all("clocks" not in f for f in said["files"]), f"{what}: native files have clocks of their own")
            continue
        first = said["files"][0]["path"]
        check(all(data[:1] == b"{" for data in members.values()), f"{what}: no member is compressed, which Perfetto refuses")
        check(all(f["clocks"] == {"sync_to": {"file": first}, "offset_ns": 0} for f in said["files"][1:]),
              f"{what}: JSON is pinned to the first file", said)
        traces = [load(data) for data in members.values()]
        check(len({t["baseTimeNanoseconds"] for t in traces}) == 1, f"{what}: and counts from one moment")
        check(sum((multiset(slices(t)) for t in traces), collections.Counter()) == multiset(slices(whole)),
              f"{what}: members hold every slice, once")


def whole_way(program, trace, folder, what):
    tool = Tool(program, trace)
    os.mkdir(folder)
    whole = tool.json()
    chosen(tool, whole, what)
    counted(tool, folder, what)
    parted(tool, whole, folder, what)
    manifest(tool, whole, folder, what)


def main():
    options = paths()
    with Folder() as folder:
        whole_way(options.tracetool, write_ranks(f"{folder}/ranks", 3), f"{folder}/a", "made")
        real = f"{options.traces}/modded-nanogpt-8xh100"
        if os.path.isdir(real):
            merged = f"{folder}/real.ttrace"
            subprocess.run([options.tracetool, "merge", real, "-o", merged], check=True, capture_output=True)
            whole_way(options.tracetool, merged, f"{folder}/b", "H100")
        else:
            print(f"skipped: the H100 set, {real} is not there")
    finish()


if __name__ == "__main__":
    main()
