#!/usr/bin/env python3
"""readme.py ROOT: the page next to the programs of dist/, made of the pages in README.md and docs/: how to record, the settings, the commands, the limits."""
import re
import sys

PARTS = (("README.md", "Record"), ("docs/settings.md", "Settings"), ("docs/commands.md", "The commands"), ("docs/limits.md", "Limits"))
HEAD = """# tracetool

`libagent.so` records what a training process does on the GPU. `tracetool` reads its recordings. Both need Linux with glibc 2.34 or
newer, and no other packages. Copy them to any directory; `tracetool record` finds `libagent.so` next to itself.
`gpu_check.sh` checks the agent on a machine with a GPU and measures its cost (gpu_check/README.md).
Licenses: LICENSE and licences/.
"""


def section(path, title):
    """The part of a page from this heading to the next one of the same level."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    found = re.search(rf"^(#+) {title}\n(.*?)(?=^\1 |\Z)", text, re.M | re.S)
    return f"## {title}\n{found[2]}"


def main():
    text = "\n".join([HEAD, *(section(f"{sys.argv[1]}/{path}", title) for path, title in PARTS)])
    text = re.sub(r"^!\[.*\n", "", text, flags=re.M)
    text = re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]*\)", r"\1", text)  # the files that they lead to are not here
    sys.stdout.write(re.sub(r"build/(agent|cli)/", "", text))


main()
