#!/usr/bin/env python3
"""The rooms of the sources: which includes which, and how large they are.

  rooms.py          print the size of each room
  rooms.py --write  rewrite the drawing between the markers in docs/architecture.md
  rooms.py --check  exit 1 if the drawing differs from the includes, if rooms include each other in a circle, if other rooms include
                    too many headers of a room, or if a unit test is in no meson.build; print the sizes too
"""
import collections
import functools
import graphlib
import os
import re
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PAGE = f"{ROOT}/docs/architecture.md"
DRAWING = re.compile(r"(?<=<!-- rooms -->\n)```\n.*?```\n(?=<!-- end -->)", re.S)
TOPS = ("common", "agent", "cli")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
# The most headers of a room of the command line that other rooms may include. The rooms listed have more, and get no further ones: the first
# two are the vocabulary of all others.
MOST_PUBLIC = 5
PUBLIC = {"cli/base": 13, "cli/trace": 20, "cli/answers/tables": 20, "cli/formats/json": 7, "cli/timeline/merge": 7, "cli/formats/export": 7,
          "cli/formats/ttrace": 6}


@functools.cache
def sources(top):
    """{path: text} of the C++ files below it."""
    found = {}
    for at, _, names in sorted(os.walk(f"{ROOT}/{top}")):
        for name in sorted(name for name in names if name.endswith((".h", ".cpp"))):
            with open(f"{at}/{name}", encoding="utf-8") as file:
                found[os.path.relpath(f"{at}/{name}", ROOT)] = file.read()
    return found


def includes(top):
    """Yields (file, included file) for each include of another room's file."""
    for path, text in sources(top).items():
        for included in INCLUDE.findall(text):
            if os.path.exists(f"{ROOT}/{included}") and os.path.dirname(included) != os.path.dirname(path):
                yield path, included


def rooms_of(arrows):
    """{room: rooms that it includes}"""
    graph = {}
    for path, included in arrows:
        graph.setdefault(os.path.dirname(path), set()).add(os.path.dirname(included))
        graph.setdefault(os.path.dirname(included), set())
    return graph


def circle(arrows):
    """Returns the rooms of a circle, or None."""
    try:
        graphlib.TopologicalSorter(rooms_of(arrows)).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return None


def reached(graph, room):
    """Returns the rooms that it includes, directly or not."""
    found, left = set(), [room]
    while left:
        new = graph[left.pop()] - found
        found |= new
        left += new
    return found


def layers(graph):
    """Yields lists of rooms; those of a list include only rooms of the lists before it."""
    sorter = graphlib.TopologicalSorter(graph)
    sorter.prepare()
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        yield ready
        sorter.done(*ready)


def drawing():
    """Returns a line for each room, in order, with what it includes directly; what these include themselves is omitted."""
    graph = rooms_of([arrow for top in TOPS for arrow in includes(top)])
    order = [room for layer in layers(graph) for room in layer]
    parts = []
    for top in TOPS:
        lines = ""
        for room in (room for room in order if room.split("/")[0] == top):
            below = [other for other in graph[room] if not any(other in reached(graph, between) for between in graph[room])]
            lines += f"{room:<25}<- {', '.join(sorted(below))}\n" if below else f"{room}\n"
        parts.append(lines)
    return "```\n" + "\n".join(parts) + "```\n"


def public_headers():
    """{room: its headers that other rooms of the command line include}"""
    found = collections.defaultdict(set)
    for _, included in includes("cli"):
        if included.startswith("cli/"):
            found[os.path.dirname(included)].add(included)
    return found


def tests_not_built():
    for at, _, names in os.walk(f"{ROOT}/tests/unit"):
        for name in (name for name in names if name.startswith("test_") and name.endswith(".cpp")):
            text = ""
            for path in (f"{at}/meson.build", f"{os.path.dirname(at)}/meson.build"):  # tests of common/ are in the one above
                if os.path.exists(path):
                    with open(path, encoding="utf-8") as file:
                        text += file.read()
            if f"{name}'" not in text:
                yield f"{os.path.relpath(f'{at}/{name}', ROOT)} is in no meson.build"


def against_order():
    """agent/meson.build lists the rooms of the agent in order."""
    with open(f"{ROOT}/agent/meson.build", encoding="utf-8") as file:
        named = re.findall(r"'(\w+)'", re.search(r"foreach room : \[(.*?)\]", file.read()).group(1))
    place = {room: number for number, room in enumerate([f"agent/{room}" for room in named] + ["agent"])}
    for path, included in includes("agent"):
        room, other = os.path.dirname(path), os.path.dirname(included)
        if room not in place or (other in place and place[other] > place[room]):
            yield f"{path} includes {included}, a room that agent/meson.build does not name before"


def faults():
    everything = [arrow for top in TOPS for arrow in includes(top)]
    if len(everything) < 500:
        yield f"only {len(everything)} includes of other rooms were found"
    if circle([("a/x.cpp", "b/y.h"), ("b/z.cpp", "c/y.h"), ("c/z.cpp", "a/y.h")]) is None:
        yield "no circle was found in an example with one"
    if found := circle(everything):
        yield f"rooms include each other in a circle: {' <- '.join(found)}"
        yield from (f"  {path} includes {included}" for path, included in everything
                    if os.path.dirname(path) in found and os.path.dirname(included) in found)
        return
    yield from tests_not_built()
    yield from against_order()
    for room, headers in sorted(public_headers().items()):
        if len(headers) > PUBLIC.get(room, MOST_PUBLIC):
            yield f"{room}: other rooms include {len(headers)} of its headers, more than {PUBLIC.get(room, MOST_PUBLIC)}: {', '.join(sorted(headers))}"
    with open(PAGE, encoding="utf-8") as file:
        found = DRAWING.search(file.read())
    if found is None or found[0] != drawing():
        yield f"{PAGE}: the drawing differs from the includes; run scripts/rooms.py --write"


def print_sizes():
    """Code lines are those that are neither empty nor only a comment."""
    public, total = public_headers(), collections.Counter()
    print(f"{'room':<26}{'files':>7}{'headers':>9}{'for others':>12}{'code lines':>12}")
    for top in TOPS:
        rooms = collections.defaultdict(collections.Counter)
        for path, text in sources(top).items():
            lines = sum(1 for line in text.split("\n") if line.strip() and not line.lstrip().startswith("//"))
            rooms[os.path.dirname(path)].update(files=1, headers=path.endswith(".h"), lines=lines)
        for room, count in sorted(rooms.items()):
            print(f"{room:<26}{count['files']:>7}{count['headers']:>9}{len(public.get(room, '')) or '':>12}{count['lines']:>12}")
            total.update(count)
    print(f"{'all':<26}{total['files']:>7}{total['headers']:>9}{'':>12}{total['lines']:>12}")


def main():
    wrong = list(faults()) if "--check" in sys.argv else []
    if "--write" in sys.argv:
        with open(PAGE, encoding="utf-8") as file:
            text = file.read()
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(DRAWING.sub(lambda _: drawing(), text))
    else:
        print_sizes()
    print("\n".join(wrong), end="\n" if wrong else "")
    sys.exit(1 if wrong else 0)


main()
