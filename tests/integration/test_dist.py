#!/usr/bin/env python3
"""What scripts/dist.sh made: it asks for glibc 2.34 and nothing else, it tells nothing of the machine that built it, and
it works: an error is thrown and caught, compressed JSON is read, a training is recorded, gpu_check finds all that it
needs."""
import gzip
import json
import os
import shutil
import sys

from elf import check_needed, check_versions
from harness import Folder, arguments, check, files_below, finish, run, skip

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
LICENCES = {f"{name}.txt" for name in ("bzip2", "cli11", "elfutils", "fmt", "isa-l", "libstdc++", "protozero", "simdjson", "sqlite", "xz", "zlib", "zstd")}
if os.path.exists(f"{ROOT}/.venv/libunwind/COPYING"):
    LICENCES.add("libunwind.txt")
TRACE = {"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 5.5, "dur": 1.25}]}


def check_programs(dist):
    for name in ["tracetool", "libagent.so", "aarch64/libagent.so", "gpu_check/libraw_capture.so"]:
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


def check_capture(options):
    with Folder() as folder:
        done = run([options.simulated, "--agent", f"{options.dist}/gpu_check/libraw_capture.so", "--dir", f"{folder}/unused",
                    "--ranks", "1", "--steps", "1"], cwd=folder, RAW_CAPTURE_DIR=folder)
        check(done.returncode == 0 and not done.stderr and len(files_below(folder, ".rawcapture")) == 1,
              "the library of raw captures captures a training", done)
        done = run([options.simulated, "--agent", f"{options.dist}/gpu_check/libraw_capture.so", "--dir", f"{folder}/unused",
                    "--ranks", "1", "--steps", "1"], cwd=folder)
        check(done.returncode == 0 and not done.stderr and len(files_below(folder)) == 1,
              "it does nothing without RAW_CAPTURE_DIR", files_below(folder))


def check_gpu_check(dist):
    """In a folder of its own, away from the sources: what --list names can be run, and skips itself where there is no GPU."""
    with Folder() as folder:
        away = os.path.join(folder, "dist")
        shutil.copytree(dist, away)
        leaks = [path for path in files_below(f"{away}/gpu_check") if ROOT in read_text(path)]
        check(not leaks, "gpu_check: no path of this machine is in it", leaks)
        listed = run([f"{away}/gpu_check.sh", "--list"], cwd=folder)
        names = [line.split()[0] for line in listed.stdout.splitlines()]
        check(listed.returncode == 0 and {"smoke", "torch", "ranks", "capture"} < set(names), "gpu_check lists its parts",
              listed)
        for name in names:  # each in a process of its own, as they run
            done = run([sys.executable, "-c", f"import sys; sys.path.insert(0, {away + '/gpu_check'!r}); import parts.{name}"], cwd=folder)
            check(done.returncode == 0, f"the part {name} finds what it imports", done.stderr[-500:])
        if shutil.which("nvidia-smi"):
            print("nvidia-smi is there: gpu_check is not run, it would take an hour")
            return
        done = run([f"{away}/gpu_check.sh", "-o", f"{folder}/results"], cwd=folder)
        with open(f"{folder}/results/results.json", encoding="utf-8") as file:
            parts = json.load(file)["parts"]
        check(done.returncode == 4 and "no part could run" in done.stdout and [part["name"] for part in parts] == names,
              "gpu_check runs from dist/ alone, and fails where no part can", done)
        check(all(part["status"] == "skipped" and part["reason"] for part in parts), "without a GPU each part says so", parts)


def read_text(path):
    with open(path, "rb") as file:
        return file.read().decode("latin-1")


def main():
    options = arguments("dist", "simulated")
    if shutil.which("readelf") is None:
        skip("readelf is not installed (package binutils)")
    check_programs(options.dist)
    check_papers(options.dist)
    with open(f"{options.dist}/VERSION", encoding="utf-8") as file:
        check_tracetool(f"{options.dist}/tracetool", file.read())
    check_recording(options, f"{options.dist}/libagent.so")
    check_capture(options)
    check_gpu_check(options.dist)
    finish()


main()
