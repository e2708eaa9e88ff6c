#!/usr/bin/env python3
"""Names that do their worst, through the shipped tracetool and read back by Python's JSON reader: the same text.

  test_export_names.py --tracetool PATH
"""
import argparse
import json
import os
import subprocess

from harness import Folder, check, finish

HOSTILE = [
    '"},{"ph":"X', "back\\slash \\", "new\nline\ttab\r", "".join(map(chr, range(32))), "\u007f\u2028\u2029", "\U0001f600 é", "",
    " ", "null", "</script>", "%s%n", "void f<\"quoted\", \x01>(int)", "f(", "f<", "operator<", "_Z", "_Z1fi", "(anonymous namespace)",
    "void deep" + "<a" * 20_000 + ">" * 20_000 + "(int)", "void wide<" + "float, " * 10_000 + "int>(int)", "x" * 65_536,
    "void unbalanced<" + "(<" * 30_000,
]
DEMANGLED = {"_Z1fi": "f(int)"}


def write(path):
    events = [{"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": 7, "ts": 10 * at + 0.5, "dur": 1,
               "args": {"stream": 7, "device": 0, "at": at}}
              for cat in ("kernel", "cpu_op") for at, name in enumerate(HOSTILE)]
    with open(path, "w", encoding="utf-8") as out:
        json.dump({"distributedInfo": {"rank": 0}, "traceEvents": events}, out)


def exported(tool, source, path):
    result = subprocess.run([tool, "export", "--chrome", source, "-o", path], capture_output=True, text=True)
    check(result.returncode == 0, "exported", result.stderr)
    with open(path, encoding="utf-8") as text:
        return json.load(text)["traceEvents"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tracetool", required=True, type=os.path.abspath)
    options = parser.parse_args()
    with Folder() as work:
        write(f"{work}/in.json")
        events = exported(options.tracetool, f"{work}/in.json", f"{work}/out.json")
    for cat in ("kernel", "cpu_op"):
        slices = {event["args"]["at"]: event for event in events if event.get("cat") == cat}
        check(len(slices) == len(HOSTILE), f"every {cat} is there")
        for at, name in enumerate(HOSTILE):
            whole = slices[at]["args"].get("full name", slices[at]["name"])
            expected = DEMANGLED.get(name, name) if cat == "kernel" else name
            check(whole == expected, f"{cat} {at}: the same text", lambda: f"{whole[:80]!r} {expected[:80]!r}")
            if cat == "kernel":
                check(len(slices[at]["name"].encode()) <= 256, f"{cat} {at}: its short name is short", slices[at]["name"][:80])
    finish()


if __name__ == "__main__":
    main()
