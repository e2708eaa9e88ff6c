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


def counts(done, ranks):
    """(kind, how many were done, how many are recorded) of each kind that known_work counts."""
    return [(kind, done[kind], sum(rank["counts"][kind] for rank in ranks)) for kind in ("kernel", "memcpy", "memset")]


def lost(ranks):
    return sum(rank["lost"] + rank["overwritten"] for rank in ranks)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        done = json.load(file)
    ranks = recorded(sys.argv[2])
    wrong = 0
    for kind, expected, seen in counts(done, ranks):
        wrong += seen != expected
        print(f"{kind}: {expected} done, {seen} recorded{'' if seen == expected else '   DIFFERENT'}")
    print(f"lost or overwritten, of any kind: {lost(ranks)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
