#!/usr/bin/env python3
"""What `export` chooses and parts, against a slow reading of the whole export: selections hold exactly the events that
this script would select, parts hold the events of the whole, once each; a TAR with its manifest; stdout; a file per
rank for 1,024 ranks; errors; an end in the middle.

  test_export.py --tracetool PATH --traces DIR
"""
import argparse
import collections
import gzip
import json
import os
import resource
import signal
import subprocess
import tarfile
import time

from harness import Folder, check, finish

GPU = {"kernel", "gpu_memcpy", "gpu_memset", "cuda_sync", "cuda_event"}
API = {"cuda_runtime", "cuda_driver"}


def paths():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tracetool", required=True, type=os.path.abspath)
    parser.add_argument("--traces", required=True, type=os.path.abspath)
    return parser.parse_args()


def load(data):
    return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)


def slices(trace):
    return [e for e in trace["traceEvents"] if e["ph"] == "X"]


def key(event):
    return event["pid"], event.get("cat"), event["name"], round(event["ts"] * 1000), round(event["dur"] * 1000)


def multiset(events):
    return collections.Counter(key(e) for e in events)


class Tool:
    def __init__(self, program, trace):
        self.program, self.trace = program, trace

    def run(self, *options, trace=None, **more):
        return subprocess.run([self.program, "export", trace or self.trace, *options], capture_output=True, **more)

    def json(self, *options):
        result = self.run("--perfetto", "--no-computed", "--max-size", "0", *options, "-o", "-")
        return load(result.stdout) if result.returncode == 0 else result.stderr.decode()


def small_rank(rank, steps=4, kernels=30):
    """Kineto JSON of a rank whose GPU work runs late: a good half of a step after its launch."""
    events, correlation = [], 1
    for step in range(steps):
        begin = 1000.5 * step
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step + 3}", "pid": 10, "tid": 10,
                       "ts": begin, "dur": 1000.25})
        for i in range(kernels):
            at = begin + 10 + 30 * i
            events += [
                {"ph": "X", "cat": "cpu_op", "name": f"aten::op{i}", "pid": 10, "tid": 10, "ts": at - 2, "dur": 20},
                {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 10, "tid": 10, "ts": at, "dur": 5.125,
                 "args": {"correlation": correlation}},
                {"ph": "X", "cat": "kernel", "name": f"kernel{i}", "pid": 0, "tid": 7, "ts": at + 600, "dur": 25.001,
                 "args": {"correlation": correlation, "stream": 7, "device": 0}},
                {"ph": "s", "id": correlation, "pid": 10, "tid": 10, "ts": at, "cat": "ac2g", "name": "ac2g"},
                {"ph": "f", "id": correlation, "pid": 0, "tid": 7, "ts": at + 600, "cat": "ac2g", "name": "ac2g", "bp": "e"}]
            correlation += 1
    return {"schemaVersion": 1, "distributedInfo": {"rank": rank, "world_size": 3}, "baseTimeNanoseconds": 1759276800000000000,
            "traceEvents": events}


def write_ranks(folder, count, **more):
    os.mkdir(folder)
    for rank in range(count):
        with open(f"{folder}/rank{rank}.json", "w", encoding="utf-8") as file:
            json.dump(small_rank(rank, **more), file)
    return folder


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
    launched = {}
    for event in slices(whole):
        if event.get("cat") in API and event.get("args", {}).get("correlation"):
            at = event["pid"], event["args"]["correlation"]
            launched[at] = launched.get(at, False) or starts(event)
    for event in slices(whole):
        at = event["pid"], event.get("args", {}).get("correlation")
        if event.get("cat") == "gpu_user_annotation":
            continue
        if launched[at] if event.get("cat") in GPU and at in launched else starts(event):
            yield event


def ranks_of(whole):
    return {e["pid"]: int(e["args"]["name"].split()[1]) for e in whole["traceEvents"]
            if e["ph"] == "M" and e["name"] == "process_name"}


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
    check([os.path.basename(f["path"]) for f in said["files"]][0] in ("parts.part1.json", "parts.part01.json"),
          f"{what}: their names", said["files"])
    check(not os.path.exists(f"{folder}/parts.json"), f"{what}: the whole is not there")
    check(sum((multiset(slices(p)) for p in parts), collections.Counter()) == multiset(slices(whole)),
          f"{what}: parts hold every slice of the whole, once")
    sizes = [os.path.getsize(f["path"]) for f in said["files"]]
    check(max(sizes) <= limit * 1.05, f"{what}: no part is much above the limit", f"{sizes} of {limit}")
    check(sizes == [f["uncompressed_bytes"] for f in said["files"]], f"{what}: sizes are those that are said")
    check(all({e["pid"] for e in slices(p)} <= set(ranks_of(p)) for p in parts), f"{what}: each part names its rows")
    arrows = lambda trace: sum(e["ph"] in "ft" for e in trace["traceEvents"])
    check(sum(map(arrows, parts)) + said["parted_arrows"] == arrows(whole), f"{what}: arrows across borders are counted")
    check(b"more than --max-size" in result.stderr, f"{what}: it is said", result.stderr)
    result = tool.run("--perfetto", "--max-size", str(limit), "-o", "-")
    check(b"stdout is never parted" in result.stderr and load(result.stdout), f"{what}: stdout is not parted")


def manifest(tool, whole, folder, what):
    for flag, ending in (("--perfetto", ".json.gz"), ("--pftrace", ".pftrace")):
        result = tool.run("--manifest", flag, "--no-computed", "-o", f"{folder}/ranks.tar")
        check(result.returncode == 0, f"{what}: --manifest {flag}", result.stderr)
        with tarfile.open(f"{folder}/ranks.tar") as tar:
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
        check(all(f["clocks"] == {"sync_to": {"file": first}, "offset_ns": 0} for f in said["files"][1:]),
              f"{what}: JSON is pinned to the first file", said)
        traces = [load(data) for data in members.values()]
        check(len({t["baseTimeNanoseconds"] for t in traces}) == 1, f"{what}: and counts from one moment")
        check(sum((multiset(slices(t)) for t in traces), collections.Counter()) == multiset(slices(whole)),
              f"{what}: members hold every slice, once")


def empty_rank(program, folder):
    """Rank 1 has no step 6: it is in no TAR, and leaves no file in a folder, nor that of an earlier export."""
    os.makedirs(f"{folder}/uneven")
    for rank, steps in ((0, 4), (1, 2)):
        with open(f"{folder}/uneven/r{rank}.json", "w", encoding="utf-8") as file:
            json.dump(small_rank(rank, steps), file)
    tool = Tool(program, f"{folder}/uneven")
    result = tool.run("--manifest", "--steps", "6", "-o", f"{folder}/uneven.tar")
    with tarfile.open(f"{folder}/uneven.tar") as tar:
        check(sorted(tar.getnames()) == ["perfetto_manifest.json", "rank0.pftrace"], "an empty rank is no member",
              f"{tar.getnames()} {result.stderr}")
    both, one = (tool.run("--kineto", *more, "-o", f"{folder}/uneven_k") for more in ((), ("--steps", "6")))
    check(os.listdir(f"{folder}/uneven_k") == ["rank0.pt.trace.json.gz"], "an empty rank's old file is removed",
          os.listdir(f"{folder}/uneven_k"))
    check(both.returncode == 0 and b"earlier export" in one.stderr, "which is said", one.stderr)


def streams(tool, folder):
    for flag in ("--perfetto", "--chrome", "--pftrace"):
        name = f"{folder}/one{'.pftrace' if flag == '--pftrace' else '.json'}"
        check(tool.run(flag, "-o", name).returncode == 0, f"{flag}: a file")
        plain = tool.run(flag, "-o", "-").stdout
        check(plain == open(name, "rb").read(), f"{flag}: stdout is the file")
    check(load(tool.run("--perfetto", "--gzip", "-o", "-").stdout) == load(tool.run("--perfetto", "-o", "-").stdout),
          "--gzip: stdout is compressed")


def refused(tool, folder):
    os.mkdir(f"{folder}/other")
    open(f"{folder}/other/old.json", "w", encoding="utf-8").write("{}")
    open(f"{folder}/bad.json", "w", encoding="utf-8").write("no trace")
    for options, code, words in (
            (["--perfetto", "--ranks", "9"], 1, "there are ranks 0-2"), (["--perfetto", "--ranks", "2-1"], 1, "no range"),
            (["--perfetto", "--steps", "50"], 1, "there are 3-6"), (["--perfetto", "--time", "5s-"], 1, "the trace lasts"),
            (["--perfetto", "--time", "5"], 1, "with units"), (["--perfetto", "--kinds", "kernels"], 1, "\"kernels\""),
            (["--perfetto", "--min-dur", "5"], 1, "unit"), ([], 1, "which format"), (["--kineto", "-o", "-"], 1, "folder"),
            (["--kineto", "-o", f"{folder}/other"], 1, "old.json"), (["--manifest", "--kineto"], 1, "--manifest"),
            (["--kineto", "--max-size", "5MB"], 1, "--max-size"), (["--perfetto", "--json", "-o", "-"], 1, "--json"),
            (["--perfetto", "--max-size", "-1"], 1, "--max-size"), (["--perfetto", "--max-size", "1"], 1, "--max-size"),
            (["--chrome", "--gpu-tracks"], 1, "--gpu-tracks"), (["--chrome", "--compress", "zstd"], 1, "--compress"),
            (["--manifest", "-o", f"{folder}/x.tar.gz"], 1, "name it .tar"),
            (["--perfetto", "-o", f"{folder}/none/x.json"], 2, "none/x.json"),
            (["--kineto", "-o", f"{folder}/bad.json"], 2, "bad.json")):
        before = sorted(os.listdir(folder))
        result = tool.run(*options, *([] if "-o" in options else ["-o", f"{folder}/never"]))
        said = result.stderr.decode()
        check(result.returncode == code and words in said, f"{' '.join(options).replace(folder, 'DIR')}: exit {code}",
              f"{result.returncode}: {said}")
        check(sorted(os.listdir(folder)) == before, "  and nothing is written")
    check(tool.run("--perfetto", "-o", f"{folder}/x.json", trace=f"{folder}/bad.json").returncode == 3, "no trace: exit 3")


def part_that_is_an_input(tool, folder):
    """A part would have the name of the input."""
    source = f"{folder}/set.part1.json"
    tool.run("--perfetto", "--no-computed", "--max-size", "0", "-o", source)
    before = open(source, "rb").read()
    result = tool.run("--perfetto", "--max-size", "80kB", "-o", f"{folder}/set.json", trace=source)
    check(result.returncode == 1 and b"is also an input" in result.stderr, "a part with an input's name: exit 1",
          result.stderr)
    check(open(source, "rb").read() == before, "  and the input is as it was")


def ended(tool, folder):
    """SIGTERM while files are written: what is there is whole."""
    target = f"{folder}/ended"
    process = subprocess.Popen([tool.program, "export", tool.trace, "--kineto", "-o", target], stderr=subprocess.DEVNULL)
    while process.poll() is None and not (os.path.isdir(target) and os.listdir(target)):
        time.sleep(0.0005)
    process.send_signal(signal.SIGTERM)
    process.wait()
    left = os.listdir(target)
    check(not [name for name in left if ".tmp." in name], "ended in the middle: no half file stays", left)
    for name in left:
        load(open(f"{target}/{name}", "rb").read())


def many(program, folder):
    """1,024 ranks with few descriptors."""
    inputs = write_ranks(f"{folder}/many", 1024, steps=1, kernels=2)
    merged = f"{folder}/many.ttrace"
    check(subprocess.run([program, "merge", inputs, "-o", merged], capture_output=True).returncode == 0, "1,024 ranks: merged")
    few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
    tool = Tool(program, merged)
    result = tool.run("--kineto", "-o", f"{folder}/kineto", preexec_fn=few)
    check(result.returncode == 0 and len(os.listdir(f"{folder}/kineto")) == 1024, "1,024 ranks: a file each", result.stderr)
    result = tool.run("--manifest", "-o", f"{folder}/many.tar", preexec_fn=few)
    with tarfile.open(f"{folder}/many.tar") as tar:
        check(len(tar.getnames()) == 1025, "1,024 ranks: a member each", result.stderr)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    check(usage < 600_000, "1,024 ranks: in bounded memory", f"{usage} kB")


def whole_way(program, trace, folder, what):
    tool = Tool(program, trace)
    whole = tool.json()
    chosen(tool, whole, what)
    counted(tool, folder, what)
    parted(tool, whole, folder, what)
    manifest(tool, whole, folder, what)
    return tool


def main():
    options = paths()
    with Folder() as folder:
        os.mkdir(f"{folder}/a")
        tool = whole_way(options.tracetool, write_ranks(f"{folder}/ranks", 3), f"{folder}/a", "made")
        streams(tool, folder)
        refused(tool, f"{folder}/a")
        part_that_is_an_input(tool, f"{folder}/a")
        many(options.tracetool, folder)
        empty_rank(options.tracetool, folder)
        real = f"{options.traces}/modded-nanogpt-8xh100"
        if os.path.isdir(real):
            os.mkdir(f"{folder}/b")
            merged = f"{folder}/real.ttrace"
            subprocess.run([options.tracetool, "merge", real, "-o", merged], check=True, capture_output=True)
            ended(whole_way(options.tracetool, merged, f"{folder}/b", "H100"), folder)
        else:
            print(f"skipped: the H100 set, {real} is not there")
    finish()


if __name__ == "__main__":
    main()
