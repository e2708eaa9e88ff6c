#!/usr/bin/env python3
"""each_alone.py BUILD_DIR: lets ninja ask the compiler of a build that is configured there what it thinks of each C++ file
alone, without making anything of it: `ninja -C BUILD_DIR -f each_alone.ninja each_alone`, after sources that are generated.
"""
import hashlib
import json
import os
import shlex
import sys

HEAD = """include build.ninja
rule each_alone
 command = $COMMAND && touch $out
 deps = gcc
 depfile = $out.d
 description = Checking $in
"""


def escaped(path):
    return path.replace("$", "$$").replace(" ", "$ ").replace(":", "$:")


def generated(build):
    """What is made while building, of all that Meson makes of no compiler."""
    with open(f"{build}/meson-info/intro-targets.json", encoding="utf-8") as file:
        targets = json.load(file)
    return sorted(os.path.relpath(path, build) for each in targets if each["type"] == "custom" for path in each["filename"])


def without_output(command):
    """The words of a compilation but for what it writes: -o and its file, -MQ, -MF and theirs, -MD and -c."""
    words = iter(shlex.split(command))
    for word in words:
        if word in ("-o", "-MQ", "-MF"):
            next(words)
        elif word not in ("-MD", "-c"):
            yield word


def rule(entry, after):
    words = [*without_output(entry["command"]), "-fsyntax-only"]
    out = "each_alone/" + hashlib.sha256(" ".join(words).encode()).hexdigest()[:16]
    command = shlex.join([*words, "-MD", "-MF", f"{out}.d", "-MQ", out])
    lines = f"build {out}: each_alone {escaped(entry['file'])} || {after}\n COMMAND = {command.replace('$', '$$')}\n"
    return out, lines


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = sys.argv[1]
    with open(f"{build}/compile_commands.json", encoding="utf-8") as file:
        entries = [each for each in json.load(file) if each["file"].endswith(".cpp")]
    after = " ".join(map(escaped, generated(build)))
    # A file that several targets compile alike is asked for once.
    rules = dict(rule(entry, after) for entry in entries)
    os.makedirs(f"{build}/each_alone", exist_ok=True)
    with open(f"{build}/each_alone.ninja", "w", encoding="utf-8") as out:
        out.write(HEAD + "".join(rules.values()) + f"build each_alone: phony {' '.join(rules)}\n")


if __name__ == "__main__":
    main()
