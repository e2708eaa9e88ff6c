"""Proves the recorder on a GPU and measures its cost, part by part, and writes results.json and results.md.

Exit: 0 every chosen part ran and held, or was skipped with its reason (and --no-skips was not given), 1 usage, 4 a check
failed, a part did not end, or none could run.
"""
import argparse
import datetime
import importlib
import json
import os
import signal
import subprocess
import sys
import traceback

import results
from machine import Machine
from part import Part, Skipped
from places import HERE, Missing, Places
from table import PARTS

LIMIT_S = 480
SEES_TO_OTHERS_S = 5


def parse(arguments):
    parser = argparse.ArgumentParser(prog="gpu_check", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="name the parts, what they do, need and take, and end")
    parser.add_argument("--only", metavar="NAME,...", help="these parts instead of all")
    parser.add_argument("--simulate", action="store_true", help="against the stand-ins of a build: no GPU is needed")
    parser.add_argument("--no-skips", action="store_true", help="a part that is skipped fails")
    parser.add_argument("--limit", type=int, default=LIMIT_S, metavar="S", help=f"seconds for each part ({LIMIT_S})")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--dist", metavar="DIR", help="where libagent.so and tracetool are (beside gpu_check.sh)")
    where.add_argument("--build", metavar="DIR", help="a build of the checkout instead (build/)")
    parser.add_argument("-o", "--output", default=os.path.abspath("gpu_check_results"), metavar="DIR", type=os.path.abspath,
                        help="where results.json, results.md and what the parts left are written (gpu_check_results)")
    parser.add_argument("--run-here", help=argparse.SUPPRESS)  # one part, in this process
    parser.error = lambda message: (print(f"gpu_check: {message}; --help says more", file=sys.stderr), sys.exit(1))
    return parser, parser.parse_args(arguments)


def choose(parser, only):
    if only is None:
        return PARTS
    names = only.split(",")
    unknown = set(names) - {row.name for row in PARTS}
    if unknown:
        parser.error(f"there is no part {', '.join(sorted(unknown))}: {', '.join(row.name for row in PARTS)}")
    return [row for row in PARTS if row.name in names]


def show_list():
    for row in PARTS:
        print(f"{row.name:13} {row.minutes:2} min  needs {', '.join(row.needs)}{', simulated' if row.simulated else ''}: "
              f"{row.what}")


def run_here(options, places):
    """One part, in this process; what it found is in its folder."""
    row = next(row for row in PARTS if row.name == options.run_here)
    machine = Machine(options.simulate)
    part = Part(row.name, os.path.join(options.output, row.name), places, machine, options.simulate)
    try:
        reason = machine.missing(row)
        if reason:
            raise Skipped(reason)
        importlib.import_module(f"parts.{row.name}").run(part)
        failed = [check["what"] for check in part.result["checks"] if not check["ok"]]
        if not part.result["checks"]:
            failed = ["it checked nothing"]
        part.end("failed" if failed else "ok", "; ".join(failed + part.notes))
    except Skipped as skipped:
        part.end("skipped", str(skipped))
    except Exception as error:  # whatever it is, the other parts run, and the page says what happened
        traceback.print_exc()
        part.end("failed", f"{type(error).__name__}: {error}")
    return 0


def run_apart(row, options):
    """One part in a process group of its own, so that neither its end nor its hanging takes others along."""
    command = [sys.executable, HERE, *sys.argv[1:], "--run-here", row.name]
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    late = False
    try:
        child.wait(options.limit)
    except subprocess.TimeoutExpired:
        late = True
    finally:
        end_group(child)
    return read_part(row, options, f"it did not end within {options.limit} s" if late else
                     f"its process ended with {child.returncode}" if child.returncode else None)


def end_group(child):
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait(SEES_TO_OTHERS_S)


def read_part(row, options, wrong):
    try:
        with open(os.path.join(options.output, row.name, "part.json"), encoding="utf-8") as file:
            found = json.load(file)
    except OSError:
        found = {"name": row.name, "status": "failed", "reason": "", "seconds": 0.0, "checks": [], "figures": []}
    if wrong:
        found.update(status="failed", reason=wrong)
    return found


def main():
    parser, options = parse(sys.argv[1:])
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
        return run_here(options, places)
    os.makedirs(options.output, exist_ok=True)
    found = {"date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"), "simulated": options.simulate,
             "machine": Machine(options.simulate).describe(), "parts": []}
    for row in chosen:
        print(f"== {row.name}: {row.what}", flush=True)
        part = run_apart(row, options)
        found["machine"]["cupti"] = part.pop("cupti", found["machine"]["cupti"])
        found["parts"].append(part)
        results.write(options.output, found)
    print(*results.summary(found), sep="\n")
    statuses = {part["status"] for part in found["parts"]}
    if statuses == {"skipped"}:
        print("gpu_check: no part could run")
    return 4 if "failed" in statuses or "ok" not in statuses or options.no_skips and "skipped" in statuses else 0
