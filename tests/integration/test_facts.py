#!/usr/bin/env python3
"""What `tracetool dump` says of operators' inputs, copies and counters equals the JSON arguments that it was read from:
from profiles themselves and from merged files.

  test_facts.py --tracetool PATH --traces FOLDER
"""
import argparse
import json
import os
import re

import trace_sets
from harness import Folder, check, finish, run

KEYS = {"input_dims": ("Input Dims", "Input dims"), "input_strides": ("Input Strides",), "input_types": ("Input type",),
        "concrete_inputs": ("Concrete Inputs",)}
COPIES = ["", "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"]
MEMORY = ["Unknown", "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static"]
LINE = re.compile(r"\d+ -?\d+ \S (\w+) rank \S+, [^:]*: (.*?) args=\{(.*)\}$")
DECODER = json.JSONDecoder()


def says_something(value):
    return isinstance(value, list) and any(x and (not isinstance(x, list) or not isinstance(x[0], list) or any(x)) for x in value)


def wanted_inputs(args):
    given = {key: next((args[name] for name in names if name in args), None) for key, names in KEYS.items()}
    return {key: value for key, value in given.items() if says_something(value)}


def said_inputs(rest):
    found = {}
    for key in KEYS:
        at = rest.find(f" {key}=[")
        if at >= 0:
            found[key] = DECODER.raw_decode(rest[at + len(key) + 2:])[0]
    return found


def wanted_copy(rest, args):
    kinds = re.match(r"Memcpy (\w+) \((.+?) -> (.+?)\)", rest)
    words = (COPIES.index(kinds[1]), MEMORY.index(kinds[2]), MEMORY.index(kinds[3])) if kinds else (0, 0, 0)
    return [str(n) for n in (*words, args.get("context", args.get("inContext", 0)))]


def look_at(name, lines, seen):
    wrong = []
    for line in lines:
        match = LINE.match(line)
        if not match:
            continue
        kind, rest, args = match[1], match[2], json.loads("{" + match[3] + "}", strict=False)
        if kind in ("cpu_op", "user_annotation"):
            want, said = wanted_inputs(args), said_inputs(rest)
        elif kind == "memcpy":
            want = wanted_copy(rest, args)
            said = [re.search(rf" {key}=(\d+)", rest)[1] for key in ("direction", "from_memory", "to_memory", "context")]
        elif kind == "counter" and len(args) == 1 and isinstance(next(iter(args.values())), (int, float)):
            want = [next(iter(args)), float(next(iter(args.values())))]
            at = rest.find(" series=")
            said = [DECODER.raw_decode(rest[at + 8:])[0], float(re.search(r" series_value=(\S+)", rest)[1])]
        else:
            continue
        seen[kind] = seen.get(kind, 0) + bool(want)
        if want != said:
            wrong.append((kind, want, said))
    check(not wrong, f"{name}: as the arguments say", wrong[:2])


def main():
    parser = argparse.ArgumentParser()
    for name in ("tracetool", "traces"):
        parser.add_argument("--" + name, required=True, type=os.path.abspath)
    options, seen = parser.parse_args(), {}
    with trace_sets.folders(options.traces) as folders, Folder() as work:
        for folder in folders:
            for name, paths in trace_sets.inputs(folder):
                merged = f"{work}/m.ttrace"
                done = run([options.tracetool, "merge", paths[0], "-o", merged])
                check(done.returncode == 0, f"{name}: merge", done)
                look_at(name, run([options.tracetool, "dump", paths[0]]).stdout.splitlines(), seen)
                look_at(f"{name}, merged", run([options.tracetool, "dump", merged]).stdout.splitlines(), seen)
    check(all(seen.get(kind) for kind in ("cpu_op", "memcpy", "counter")), "each is there", seen)
    finish()


main()
