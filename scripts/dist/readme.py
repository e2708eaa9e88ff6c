#!/usr/bin/env python3
"""readme.py README.md: what of it belongs beside the programs of dist/: how to record, the commands, the limits."""
import re
import sys

SECTIONS = ("Recording", "Settings", "Commands", "Limits")
HEAD = """# tracetool

`libagent.so` records what a training process does on the GPU, `tracetool` reads it. Both need Linux with glibc 2.34 or newer
and nothing else. Copy them where you like; `tracetool record` looks for `libagent.so` beside itself.
`gpu_check.sh` checks the recorder on a machine with a GPU and measures its cost: gpu_check/README.md.
Licences: LICENSE and licences/.
"""


def main():
    text = open(sys.argv[1], encoding="utf-8").read()
    parts = re.split(r"^(?=## )", text, flags=re.M)[1:]
    chosen = [part for part in parts if part[3:].split("\n")[0].startswith(SECTIONS)]
    text = "\n".join([HEAD, *chosen])
    text = re.sub(r"^!\[.*\n", "", text, flags=re.M)
    text = re.sub(r"\[([^\]]+)\]\((?!https?:)[^)]*\)", r"\1", text)  # the files that they lead to are not here
    sys.stdout.write(re.sub(r"build/(agent|cli)/", "", text))


main()
