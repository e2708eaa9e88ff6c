#!/usr/bin/env python3
"""The rooms: no folder of the sources includes one that includes it, over however many others; and those of agent/ include
only rooms that agent/meson.build names before them. Every file of unit tests is in its folder's meson.build, or it would test nothing."""
import graphlib
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOPS = ("common", "agent", "cli")


def includes(top):
    """(file, included file) of each include of another folder's file."""
    for at, _, names in os.walk(os.path.join(ROOT, top)):
        for name in sorted(names):
            if not name.endswith((".h", ".cpp")):
                continue
            path = os.path.relpath(os.path.join(at, name), ROOT)
            with open(os.path.join(ROOT, path), encoding="utf-8") as file:
                for included in re.findall(r'^#include "([^"]+)"', file.read(), re.M):
                    if os.path.exists(os.path.join(ROOT, included)) and os.path.dirname(included) != os.path.dirname(path):
                        yield path, included


def circle(arrows):
    """The folders of a circle, or None."""
    graph = {}
    for path, included in arrows:
        graph.setdefault(os.path.dirname(path), set()).add(os.path.dirname(included))
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return None


def against_order(arrows, rooms):
    place = {room: number for number, room in enumerate(rooms)}
    for path, included in arrows:
        room, other = os.path.dirname(path), os.path.dirname(included)
        if room not in place or (other in place and place[other] > place[room]):
            yield f"{path} includes {included}, which is not of an earlier room"


def tests_not_built():
    for at, _, names in os.walk(os.path.join(ROOT, "tests", "unit")):
        for name in (name for name in names if name.startswith("test_") and name.endswith(".cpp")):
            text = ""
            for path in (os.path.join(folder, "meson.build") for folder in (at, os.path.dirname(at))):  # common/ is in that above it
                if os.path.exists(path):
                    with open(path, encoding="utf-8") as file:
                        text += file.read()
            if f"{name}'" not in text:
                yield f"{os.path.relpath(os.path.join(at, name), ROOT)} is in no meson.build"


def main():
    arrows = {top: list(includes(top)) for top in TOPS}
    everything = [arrow for top in TOPS for arrow in arrows[top]]
    with open(f"{ROOT}/agent/meson.build", encoding="utf-8") as file:
        named = re.findall(r"'(\w+)'", re.search(r"foreach room : \[(.*?)\]", file.read()).group(1))
    wrong = list(tests_not_built())
    wrong += list(against_order(arrows["agent"], [f"agent/{room}" for room in named] + ["agent"]))
    if found := circle(everything):
        inside = [arrow for arrow in everything if all(os.path.dirname(name) in found for name in arrow)]
        wrong += [f"a circle: {' <- '.join(found)}"] + [f"  {path} includes {included}" for path, included in inside[:20]]
    if circle([("a/x.cpp", "b/y.h"), ("b/z.cpp", "c/y.h"), ("c/z.cpp", "a/y.h")]) is None:
        wrong.append("the test finds no circle where there is one")
    print("\n".join(wrong) or f"all held: {len(everything)} includes of other rooms")
    sys.exit(1 if wrong or len(everything) < 500 else 0)


main()
