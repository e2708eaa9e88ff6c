#!/usr/bin/env python3
"""Makes docs/reference.md of what the commands say of themselves: their help, the tables of `analyze`, the rules of `diagnose`.

  reference.py --tracetool PATH          writes the page
  reference.py --tracetool PATH --check  exits with 1, naming the first difference, if the page is not what the commands print
"""
import argparse
import os
import re
import subprocess
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PAGE = f"{ROOT}/docs/reference.md"
HEAD = """# Reference

`scripts/reference.py` makes this page of what the commands print: `tracetool help COMMAND`, `tracetool analyze --list` and `tracetool diagnose --list`.
[Commands](commands.md), [tables](tables.md) and [findings](diagnose.md) explain them.
"""


def printed(tracetool, *words):
    done = subprocess.run([tracetool, *words], capture_output=True, text=True, check=True)
    return done.stdout


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;")


def commands(tracetool):
    """The names of commands that the help lists."""
    listed = printed(tracetool, "--help").split("Subcommands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in listed.splitlines() if re.match(r"  \w", line)]


def tables(tracetool):
    """## Tables, each with its columns."""
    lines = ["## Tables", ""]
    for block in printed(tracetool, "analyze", "--list").rstrip().split("\n\n"):
        title, *columns = block.splitlines()
        name, meaning = title.split(": ", 1)
        lines += [f"### Table {name}", "", f"{cell(meaning)}.", "", "| column | meaning |", "|---|---|"]
        lines += [f"| `{key}` | {cell(text)} |" for key, text in (re.split(r"\s{2,}", column.strip(), maxsplit=1) for column in columns)] + [""]
    return lines


def rules(tracetool):
    lines = ["## Rules", "", "| rule | fires when | source |", "|---|---|---|"]
    rows = printed(tracetool, "diagnose", "--list").splitlines()[1:]
    return lines + ["| " + " | ".join(cell(text) for text in re.split(r"\s{2,}", row.strip())) + " |" for row in rows] + [""]


def page(tracetool):
    lines = [HEAD, "## Commands", ""]
    for name in commands(tracetool):
        lines += [f"### tracetool {name}", "", "```text", printed(tracetool, "help", name).rstrip(), "```", ""]
    return "\n".join(lines + tables(tracetool) + rules(tracetool)).rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tracetool", required=True)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    text = page(options.tracetool)
    if not options.check:
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(text)
        return 0
    with open(PAGE, encoding="utf-8") as file:
        old = file.read()
    for number, (is_, should) in enumerate(zip(old.splitlines() + [""], text.splitlines() + [""]), 1):
        if is_ != should:
            sys.exit(f"docs/reference.md:{number}: {is_!r} should be {should!r}; run scripts/reference.py")
    return 0


if __name__ == "__main__":
    sys.exit(main())
