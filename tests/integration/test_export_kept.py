#!/usr/bin/env python3
"""What an export must keep or say: phases of a rank, events that were overwritten before they were read, the size of
parts in the native form, and no set of an export that was killed.

  test_export_kept.py --tracetool PATH [--agent PATH --simulated PATH]
"""
import argparse
import gzip
import json
import os
import re
import signal
import subprocess
import time

import pftrace
from harness import Folder, check, finish, run

KERNELS = 20_000  # of the long trace


def kineto(rank, name, begin_us, kernels=20):
    events = []
    for i in range(kernels):
        at = begin_us + 30 * i
        events += [
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 10, "tid": 10, "ts": at, "dur": 5,
             "args": {"correlation": i + 1}},
            {"ph": "X", "cat": "kernel", "name": f"{name} kernel {i}", "pid": 0, "tid": 7, "ts": at + 10, "dur": 15,
             "args": {"correlation": i + 1, "stream": 7, "device": 0}}]
    return {"schemaVersion": 1, "distributedInfo": {"rank": rank, "world_size": 1}, "traceEvents": events}


def exported(options, source, output, *more):
    result = run([options.tracetool, "export", source, "-o", output, "--json", *more], timeout=300)
    if not check(result.returncode == 0, f"export {' '.join(more)} of {os.path.basename(source)}", result.stderr):
        return {}
    return json.loads(result.stdout)


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    return json.loads(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)


def slices(path):
    return [e for e in load(path)["traceEvents"] if e["ph"] == "X"]


def phases(options, folder):
    """Two files of one rank, one after the other: both are in each format, told apart."""
    source, names = f"{folder}/phases", ("init", "train")
    os.mkdir(source)
    for number, name in enumerate(names):
        with open(f"{source}/stage{number}-{name}.json", "w", encoding="utf-8") as file:
            json.dump(kineto(0, name, 1000 + 100_000 * number), file)
    exported(options, source, f"{folder}/phases.json", "--perfetto", "--no-computed")
    kernels = [e["name"] for e in slices(f"{folder}/phases.json") if e["cat"] == "kernel"]
    check(kernels == [f"{name} kernel {i}" for name in names for i in range(20)], "phases: both in one JSON, in their order")
    processes = {e["pid"]: e["args"]["name"] for e in load(f"{folder}/phases.json")["traceEvents"] if e["name"] == "process_name"}
    check(len(processes) == 2 and all(any(name in p for p in processes.values()) for name in names),
          "phases: a process each, with its name", processes)
    exported(options, source, f"{folder}/phases.pftrace", "--pftrace", "--no-computed")
    trace = pftrace.Trace().read(f"{folder}/phases.pftrace")
    check([s.name for s in trace.slices if s.category == "kernel"] == kernels, "phases: both in one native file")
    check({trace.process_of(s).name for s in trace.slices} == set(processes.values()), "phases: under the same names")
    said = exported(options, source, f"{folder}/profiles", "--kineto")
    written = sorted(os.path.basename(f["path"]) for f in said.get("files", []))
    check(len(written) == 2 and all(w.startswith("rank0-") and n in w for w, n in zip(written, names)),
          "phases: a Kineto profile each", written)
    for name, file in zip(names, written):
        found = [e["name"] for e in slices(f"{folder}/profiles/{file}") if e.get("cat") == "kernel"]
        check(found == [f"{name} kernel {i}" for i in range(20)], f"phases: {file} holds its own")


def overwritten(options, folder):
    """A ring too small for its run: what was overwritten is a slice in both forms, with the count that the input says."""
    if not options.simulated:
        return print("left out: overwritten events: no agent was built")
    source = f"{folder}/small_ring"
    result = run([options.simulated, "--agent", options.agent, "--dir", source, "--ranks", "1", "--burst", "20000",
                  "--steps", "3", "--ring-bytes", "64K"], timeout=120)
    check(result.returncode == 0, "a run with a ring of 64 KiB is recorded", result.stderr)
    rank = json.loads(run([options.tracetool, "info", "--json", source]).stdout)["ranks"][0]
    check(rank["overwritten"] > 0, "some of it was overwritten", rank["overwritten"])
    exported(options, source, f"{folder}/lost.json", "--perfetto")
    exported(options, source, f"{folder}/lost.pftrace", "--pftrace")
    is_lost = lambda name: "overwritten" in name or "lost" in name
    drawn = [(e["name"], round(e["dur"] * 1000)) for e in slices(f"{folder}/lost.json")
             if e["cat"] == "computed" and is_lost(e["name"])]
    native = [(s.name, s.duration) for s in pftrace.Trace().read(f"{folder}/lost.pftrace").slices
              if s.category == "computed" and is_lost(s.name)]
    numbers = lambda name: sum(int(n.replace(",", "")) for n in re.findall(r"[0-9][0-9,]*", name))
    check(any(numbers(name) == rank["overwritten"] for name, _ in drawn), "JSON: a slice says how many",
          f"{drawn}, {rank['overwritten']}")
    check(sorted(native) == sorted(drawn), "the native form: the same slices", f"{native}, not {drawn}")


def native_parts(options, folder):
    """No part is above the limit, compressed or not, and together they hold every slice once."""
    source = f"{folder}/long.json"
    with open(source, "w", encoding="utf-8") as file:
        json.dump(kineto(0, "a kernel of a long trace", 0, kernels=KERNELS), file)
    for compression in ("deflate", "none"):
        whole = exported(options, source, f"{folder}/whole.pftrace", "--pftrace", "--compress", compression, "--max-size", "0")
        limit = whole["files"][0]["uncompressed_bytes"] // 6
        said = exported(options, source, f"{folder}/{compression}.pftrace", "--pftrace", "--compress", compression,
                        "--max-size", str(limit))
        sizes = [os.path.getsize(f["path"]) for f in said["files"]]
        check(len(sizes) >= 6 and max(sizes) <= limit, f"native parts, {compression}: none is above the limit", f"{limit}: {sizes}")
        count = sum(len([s for s in pftrace.Trace().read(f["path"]).slices if s.category != "computed"]) for f in said["files"])
        check(count == 2 * KERNELS, f"native parts, {compression}: every slice once", count)


def killed(options, folder):
    """SIGKILL at several moments: no part of a set, and no other file but under temporary names. Between the renames at the end
    some parts have their names; the others are whole by then, too."""
    target = f"{folder}/killed"
    os.mkdir(target)
    command = [options.tracetool, "export", f"{folder}/long.json", "--perfetto", "--max-size", "1MB", "-o", f"{target}/x.json"]
    begin = time.monotonic()
    subprocess.run(command, capture_output=True, check=True)
    whole_s, whole = time.monotonic() - begin, sizes_in(target)
    ended = 0
    for share in (0.8, 0.7, 0.6, 0.5, 0.3, 0.1):
        for name in os.listdir(target):
            os.remove(f"{target}/{name}")
        begin = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            process.wait(share * whole_s)
            whole_s = time.monotonic() - begin  # the machine was busier before
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
        killed_it = process.wait() == -signal.SIGKILL
        ended += killed_it
        left = [name for name in os.listdir(target) if ".tmp." not in name]
        check((killed_it and not left) or sizes_in(target) == whole, f"killed after {share:.0%}: no segment stays", left)
    check(ended >= 2, "it was killed in the middle", ended)


def sizes_in(folder):
    """Bytes of each file by the name that it has or is to have."""
    return {name.split(".tmp.")[0]: os.path.getsize(f"{folder}/{name}") for name in os.listdir(folder)}


def main():
    parser = argparse.ArgumentParser()
    for name in ("tracetool", "agent", "simulated"):
        parser.add_argument("--" + name, required=name == "tracetool", type=os.path.abspath)
    options = parser.parse_args()
    with Folder() as folder:
        phases(options, folder)
        overwritten(options, folder)
        native_parts(options, folder)
        killed(options, folder)
    finish()


if __name__ == "__main__":
    main()
