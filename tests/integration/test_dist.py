#!/usr/bin/env python3
"""What scripts/dist.sh made: it asks for glibc 2.34 and nothing else, it tells nothing of the machine that built it, and
it works: an error is thrown and caught, compressed JSON is read, a training is recorded."""
import gzip
import json
import os
import shutil

from elf import check_needed, check_versions
from harness import Folder, arguments, check, files_below, finish, run, skip

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
LICENCES = {f"{name}.txt" for name in ("cli11", "fmt", "isa-l", "libstdc++", "protozero", "simdjson", "zstd")}
TRACE = {"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5.5, "dur": 1.25}]}


def check_programs(dist):
    for name in ["tracetool", "libagent.so", "aarch64/libagent.so"]:
        path = f"{dist}/{name}"
        if name.startswith("aarch64") and not os.path.exists(path):
            continue
        print(f"{name}:")
        check_needed(path)
        check_versions(path)
        with open(path, "rb") as file:
            check(ROOT.encode() not in file.read(), "no path of this machine is in it")


def check_papers(dist):
    licences = set(os.listdir(f"{dist}/licences"))
    check(licences == LICENCES, "the licence of each library inside", licences ^ LICENCES)
    papers = ["LICENSE", "VERSION", "README.md", *(f"licences/{name}" for name in licences)]
    small = [name for name in papers if os.path.getsize(f"{dist}/{name}") < (5 if name == "VERSION" else 900)]
    check(not small, "no paper is empty", small)


def read_info(tracetool, path):
    """What `tracetool info --json PATH` says of the first rank."""
    done = run([tracetool, "info", "--json", path])
    check(done.returncode == 0, f"tracetool info reads {os.path.basename(path)}", done)
    return json.loads(done.stdout)["ranks"][0] if done.returncode == 0 else {"counts": {}, "state": "unread"}


def check_tracetool(tracetool, version):
    done = run([tracetool, "--version"])
    check(done.returncode == 0 and version.split()[0] in done.stdout, "tracetool says its version", done)
    done = run([tracetool, "info", "/there/is/no/such/file"])
    check(done.returncode == 2 and "no such file" in done.stderr, "an error that is thrown is caught", done)
    with Folder() as folder:
        path = os.path.join(folder, "one.pt.trace.json.gz")
        with gzip.open(path, "wt", encoding="utf-8") as file:
            json.dump(TRACE, file)
        rank = read_info(tracetool, path)
        check(rank["counts"].get("kernel") == 1, "tracetool reads compressed JSON", rank)


def check_recording(options, agent):
    with Folder() as folder:
        traces = os.path.join(folder, "traces")
        done = run([options.simulated, "--agent", agent, "--dir", traces, "--ranks", "1", "--steps", "3",
                    "--ring-bytes", "1M"], cwd=folder)
        check(done.returncode == 0 and len(files_below(traces, ".ring")) == 1, "the agent records a training", done)
        rank = read_info(f"{options.dist}/tracetool", traces)
        check(rank["counts"].get("kernel", 0) > 10 and rank["state"] == "clean", "tracetool reads the recording", rank)


def main():
    options = arguments("dist", "simulated")
    if shutil.which("readelf") is None:
        skip("readelf is not installed (package binutils)")
    check_programs(options.dist)
    check_papers(options.dist)
    with open(f"{options.dist}/VERSION", encoding="utf-8") as file:
        check_tracetool(f"{options.dist}/tracetool", file.read())
    check_recording(options, f"{options.dist}/libagent.so")
    finish()


main()
