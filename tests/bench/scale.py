#!/usr/bin/env python3
"""Peak memory and CPU time of the shipped tracetool over JSON of growing size: one real trace, its events written again
and again with later times and correlation ids of their own, as a longer recording has them, piped in, so that no big
file lies on the disk but the ones that tracetool makes.

  scale.py --tracetool PATH --trace FILE.json.gz --mb 50,500,5000 --work FOLDER
"""
import argparse
import gzip
import json
import os
import re
import subprocess
import sys
import time

COMMANDS = (("info", ["info", "-"], None), ("merge", ["merge", "-", "-o"], "m.ttrace"),
            ("export --chrome", ["export", "--max-size", "0", "--chrome", "-", "-o"], "m.json"),
            ("export --pftrace", ["export", "--pftrace", "-", "-o"], "m.pftrace"),
            ("analyze, every table", ["analyze", "--format", "json", "-", "--only"], None))


def copies(path):
    """(what surrounds the events, metadata events, slices, how many us a copy of them lasts, how many ids it takes)"""
    with gzip.open(path) as file:
        trace = json.load(file)
    events = trace.pop("traceEvents")
    once = [event for event in events if event["ph"] == "M"]
    again = [event for event in events if event["ph"] == "X"]
    times = [float(event["ts"]) for event in again]
    ids = [event.get("args", {}).get("correlation", 0) for event in again]
    return trace, once, again, max(times) - min(times) + 1e6, max(ids) + 1


def correlated(text):
    """(text before the correlation id, the id, text behind it); the id is "" where there is none"""
    before, key, behind = text.partition('"correlation": ')
    number = re.match(r"[1-9]\d*", behind)
    return (before + key, int(number[0]), behind[number.end():]) if number else (text, "", "")


def write(to, path, most_bytes):
    """Writes the JSON; returns (bytes, events)."""
    trace, once, again, lasts_us, ids = copies(path)
    to.write(json.dumps(trace)[:-1].encode() + b', "traceEvents": [' + ",\n".join(map(json.dumps, once)).encode())
    pieces = []
    for event in again:
        text = json.dumps({**event, "ts": 0.5, "dur": 0.25}).replace('"dur": 0.25', f'"dur": {event["dur"]}')
        before, after = text.split('"ts": 0.5')
        pieces.append((f',\n{before}"ts": ', float(event["ts"]), *correlated(after)))
    done, number, copy = 0, len(once), 0
    while done < most_bytes:
        text = "".join(f"{before}{at + copy * lasts_us:.3f}{middle}{id and id + copy * ids}{after}"
                       for before, at, middle, id, after in pieces).encode()
        to.write(text)
        done, number, copy = done + len(text), number + len(pieces), copy + 1
    to.write(b"]}")
    return done, number


def high_water_kib(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return next((int(line.split()[1]) for line in file if line.startswith("VmHWM:")), 0)


def measure(options, arguments, output, most_bytes):
    """(bytes in, events, CPU seconds, peak MiB, bytes out) of one run of tracetool."""
    file = output and f"{options.work}/{output}"
    if arguments[-1] == "--only":
        listed = subprocess.run([options.tracetool, "analyze", "--list"], check=True, capture_output=True, text=True).stdout
        arguments = [*arguments, ",".join(re.findall(r"^(\w+):", listed, re.MULTILINE))]
    process = subprocess.Popen([options.tracetool, *arguments, *([file] if file else [])], stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, stderr=sys.stderr)
    done, number = write(process.stdin, options.trace, most_bytes)
    process.stdin.close()
    peak_kib = 0  # by polling: ru_maxrss would begin with what this script holds when it forks
    while (ended := os.wait4(process.pid, os.WNOHANG))[0] == 0:
        peak_kib = max(peak_kib, high_water_kib(process.pid))
        time.sleep(0.01)
    _, status, usage = ended
    if status != 0:
        sys.exit(f"tracetool {' '.join(arguments)}: status {status}")
    size = os.path.getsize(file) if file else 0
    if file:
        os.remove(file)
    return done, number, usage.ru_utime + usage.ru_stime, peak_kib / 1024, size


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("tracetool", "trace", "work"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--mb", default="50,500", type=lambda text: [int(part) for part in text.split(",")])
    parser.add_argument("--only", default="", help="commands that contain this text")
    options = parser.parse_args()
    print("| command | JSON in, MB | events | CPU s | MB/s of CPU | peak MiB | bytes out per event |\n|---|---|---|---|---|---|---|")
    for name, arguments, output in COMMANDS:
        for size in options.mb if options.only in name else []:
            began = time.monotonic()
            done, number, cpu_s, peak_mib, out = measure(options, arguments, output, size * 1_000_000)
            print(f"| {name} | {done / 1e6:.0f} | {number:,} | {cpu_s:.1f} | {done / 1e6 / cpu_s:.0f} | {peak_mib:.0f} | "
                  f"{out / number:.1f} |", flush=True)
            print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
