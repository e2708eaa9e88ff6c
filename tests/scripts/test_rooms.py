#!/usr/bin/env python3
"""The rooms: the folders of agent/ include only rooms that agent/meson.build names before them."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def includes(top):
    """(file, included file) of each include of a file of the project."""
    for at, _, names in os.walk(os.path.join(ROOT, top)):
        for name in sorted(names):
            if not name.endswith((".h", ".cpp")):
                continue
            path = os.path.relpath(os.path.join(at, name), ROOT)
            with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                for included in re.findall(r'^#include "([^"]+)"', file.read(), re.M):
                    yield path, included


def order():
    with open(f"{ROOT}/agent/meson.build", encoding="utf-8") as file:
        return re.findall(r"'(\w+)'", re.search(r"foreach room : \[(.*?)\]", file.read()).group(1))


def main():
    rooms = ["common"] + [f"agent/{room}" for room in order()] + ["agent"]
    place = {room: number for number, room in enumerate(rooms)}
    folders = {os.path.dirname(path) for path, _ in includes("agent")}
    wrong = [f"{folder}: no room of agent/meson.build" for folder in sorted(folders - set(rooms))]
    seen = 0
    for path, included in includes("agent"):
        room, other = os.path.dirname(path), os.path.dirname(included)
        other = "common" if other.startswith("common") else other
        seen += room != other
        if place.get(other, len(rooms)) > place.get(room, -1):
            wrong.append(f"{path} includes {included}, which is of a later room")
    print("\n".join(wrong) or f"all held: {seen} includes of other rooms")
    sys.exit(1 if wrong or seen < 100 else 0)


main()
