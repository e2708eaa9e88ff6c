#!/usr/bin/env python3
"""README.md and docs/: what the pages show of commands on real traces is what the commands print.

  test_docs_output.py --tracetool PATH --traces DIR

Each `$ tracetool ...` of a code block runs, if it reads a trace of DIR or a file that a command before it in the page wrote. Each shown line has to be
printed; `...` stands for anything, columns may be aligned differently, and `next:` lines are not compared."""
import argparse
import glob
import os
import re
import sys

from harness import Folder, check, finish, run, skip

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
README = f"{ROOT}/README.md"
BLOCK = re.compile(r"^```\n(\$ .*?)^```$", re.M | re.S)


def commands(text):
    """(command, shown lines) of each block."""
    for block in BLOCK.findall(text):
        for shown in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, *lines = shown.splitlines()
            yield command, lines


def same(line, printed):
    pattern = ".*".join(re.escape(" ".join(part.split())) for part in line.split("..."))
    return any(re.search(pattern, " ".join(each.split())) for each in printed)


def link_traces(traces, folder):
    """Each set, and each file by its name alone, as pages name them."""
    for path in [*glob.glob(f"{traces}/*/"), *glob.glob(f"{traces}/*/*.json.gz")]:
        link = os.path.join(folder, os.path.basename(path.rstrip("/")))
        if not os.path.lexists(link):
            os.symlink(path, link)


def compare(page, tracetool, traces):
    """How many commands were compared."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    count = 0
    with Folder() as folder:
        link_traces(traces, folder)
        if page == README:
            os.symlink(f"{traces}/modded-nanogpt-8xh100", f"{folder}/traces")
        for command, lines in commands(text):
            words = command.split()
            if words[0] != "tracetool" or not any(os.path.exists(os.path.join(folder, word)) for word in words[1:]):
                continue
            count += 1
            done = run(["bash", "-c", command], cwd=folder, PATH=f"{os.path.dirname(tracetool)}:{os.environ['PATH']}")
            printed = (done.stdout + done.stderr).splitlines()
            missing = [line for line in lines if line.strip() not in ("", "...") and "next:" not in line and not same(line, printed)]
            check(done.returncode == 0 and not missing, f"{os.path.basename(page)}: {command}", f"status {done.returncode}, not printed: {missing}")
    return count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tracetool", required=True, type=os.path.abspath)
    parser.add_argument("--traces", required=True, type=os.path.abspath)
    options = parser.parse_args()
    if not os.path.isdir(options.traces):
        skip(f"there are no real traces in {options.traces}")
    count = sum(compare(page, options.tracetool, options.traces) for page in [README, *sorted(glob.glob(f"{ROOT}/docs/*.md"))])
    check(count > 30, "the pages show output of real traces", count)
    finish()


if __name__ == "__main__":
    sys.exit(main())
