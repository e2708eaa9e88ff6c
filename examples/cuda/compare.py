#!/usr/bin/env python3
"""compare.py DONE.json TRACES: is what known_work says it did what tracetool says was recorded? Exit 1 where it is not.

$TRACETOOL names the program (tracetool)."""
import json
import os
import subprocess
import sys


def recorded(traces):
    tool = os.environ.get("TRACETOOL", "tracetool")
    found = subprocess.run([tool, "info", "--json", traces], check=True, capture_output=True, text=True)
    return json.loads(found.stdout)["ranks"]


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        done = json.load(file)
    ranks = recorded(sys.argv[2])
    wrong = 0
    for kind in ("kernel", "memcpy", "memset"):
        seen = sum(rank["counts"][kind] for rank in ranks)
        wrong += seen != done[kind]
        print(f"{kind}: {done[kind]} done, {seen} recorded{'' if seen == done[kind] else '   DIFFERENT'}")
    lost = sum(rank["lost"] + rank["overwritten"] for rank in ranks)
    print(f"lost or overwritten, of any kind: {lost}")
    return 1 if wrong else 0


sys.exit(main())
