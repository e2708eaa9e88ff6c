"""Proves the recorder on a GPU and measures its cost, part by part, and writes results.json and results.md.

Exit: 0 every chosen part ran and held, or was skipped with its reason (and --no-skips was not given), 1 usage, 4 a check
failed, a part did not end, or none could run.
"""
import ctypes
import datetime
import faulthandler
import importlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
import traceback

import evidence
import pack
import results
from arguments import choose, parse, show_list
from machine import Machine
from part import Part, Skipped
from places import HERE, Missing, Places
from table import PARTS

SEES_TO_OTHERS_S = 5
LAST_WORDS_S = 2  # for processes that are ended to say where they were
KEEP_S = 15  # of --within: for what comes after the last part
LEAST_SHARE = 0.2  # of a part's minutes: with less left it is not begun


def end_with_parent():
    """Where gpu_check itself is killed, its part must not go on using the GPU."""
    pr_set_pdeathsig = 1
    ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)


def run_here(options, places):
    """One part, in this process; what it found is in its folder."""
    row = next(row for row in PARTS if row.name == options.run_here)
    machine = Machine(options.simulate)
    part = Part(row.name, os.path.join(options.output, row.name), places, machine, options.simulate, options.limit)
    try:
        reason = machine.missing(row)
        if reason:
            raise Skipped(reason)
        importlib.import_module(f"parts.{row.name}").run(part)
        failed = [check["what"] for check in part.result["checks"] if not check["ok"]]
        if not part.result["checks"]:
            failed = ["it checked nothing"]
        part.end("failed" if failed else "ok", "; ".join(failed + part.result["notes"]))
    except Skipped as skipped:
        part.end("skipped", str(skipped))
    except Exception as error:  # whatever it is, the other parts run, and the page says what happened
        traceback.print_exc()
        part.end("failed", f"{type(error).__name__}: {error}")
        evidence.write_text(part.folder, "exception.txt", traceback.format_exc())
    return 0


def run_apart(row, options, limit_s):
    """One part in a process group of its own, so that neither its end nor its hanging takes others along. Not in a session of
    its own: who ends ours means it too."""
    command = [sys.executable, HERE, *sys.argv[1:], "--run-here", row.name, "--limit", str(limit_s)]
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=os.setpgrp)
    late = False
    try:
        child.wait(limit_s)
    except subprocess.TimeoutExpired:
        late = True
    finally:
        end_group(child, late)
    return read_part(row, options, f"it did not end within {limit_s} s" if late else
                     f"its process ended with {child.returncode}" if child.returncode else None)


def end_group(child, late):
    """What hangs is told to abort first: Python then writes where it was to stderr."""
    try:
        if late:
            os.killpg(child.pid, signal.SIGABRT)
            time.sleep(LAST_WORDS_S)
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    try:
        child.wait(SEES_TO_OTHERS_S)
    except subprocess.TimeoutExpired:  # in a call of the driver that does not come back
        print(f"gpu_check: process {child.pid} cannot be killed", file=sys.stderr)


def read_part(row, options, wrong):
    try:
        with open(os.path.join(options.output, row.name, "part.json"), encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        found = {"name": row.name, "status": "failed", "reason": "", "began": "", "seconds": 0.0, "checks": [], "figures": []}
    if wrong:
        found.update(status="failed", reason=wrong)
    return found


def limit_of(row, options, left_s):
    """Seconds that a part may take; None: too few are left."""
    if left_s is None:
        return options.limit
    limit_s = min(options.limit, int(left_s - KEEP_S))
    return limit_s if limit_s >= min(options.limit, row.minutes * 60 * LEAST_SHARE) else None


def run_parts(chosen, options, places, found):
    """The results of the chosen parts; written after each."""
    began = time.monotonic()
    for row in chosen:
        limit_s = limit_of(row, options, options.within and options.within - (time.monotonic() - began))
        print(f"== {row.name}: {row.what}", flush=True)
        if limit_s is None:
            part = results.skipped(row.name, f"no time was left of {options.within} s")
        else:
            part = run_apart(row, options, limit_s)
            evidence.of_part(os.path.join(options.output, row.name), places.tool, part["status"])
        found["machine"]["cupti"] = part.pop("cupti", found["machine"]["cupti"])
        found["parts"] = results.put(found["parts"], part, [row.name for row in PARTS])
        results.write(options.output, found)
        if options.pack:
            pack.write(options.pack, options.output, found["parts"])
        yield part


def stop(*_):
    """SIGTERM: the part that runs is ended first (run_apart)."""
    sys.exit(128 + signal.SIGTERM)


def set_up(options, places):
    """What all parts share. A core file of a process with a GPU would fill the disk."""
    signal.signal(signal.SIGTERM, stop)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    os.environ["PYTHONFAULTHANDLER"] = "1"
    os.makedirs(options.output, exist_ok=True)
    machine = Machine(options.simulate)
    machine.tell_children()
    machine.keep_awake()
    evidence.of_machine(options.output, machine, places.tool)
    return machine


def main():
    parser, options = parse(sys.argv[1:], __doc__)
    if options.list:
        show_list()
        return 0
    chosen = choose(parser, options.only)
    try:
        places = Places(options.dist, options.build)
    except Missing as missing:
        parser.error(str(missing))
    if options.simulate and places.standins is None:
        parser.error("--simulate needs a build of the checkout, with the stand-ins: --build DIR")
    if options.run_here:
        faulthandler.enable()
        end_with_parent()
        return run_here(options, places)
    machine = set_up(options, places)
    found = {"date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"), "simulated": options.simulate,
             "machine": machine.describe(), "parts": []}
    found["parts"] = results.earlier(options.output, found)
    ran = list(run_parts(chosen, options, places, found))
    print(*results.summary(ran), sep="\n")
    statuses = {part["status"] for part in ran}
    if statuses == {"skipped"}:
        print("gpu_check: no part could run")
    return 4 if "failed" in statuses or "ok" not in statuses or options.no_skips and "skipped" in statuses else 0
