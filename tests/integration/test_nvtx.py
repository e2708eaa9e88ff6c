#!/usr/bin/env python3
"""NVTX as programs/nvtx_calls.cpp calls it, without a GPU: every kind of range and name is in the recording, names
without end cost no memory, mistakes do no harm, and another NVTX tool is respected.

  test_nvtx.py --agent PATH --program PATH      TRACETOOL_NVTX_STRINGS=10000000: that many distinct names, 64 MiB ring
"""
import os
import sys
from collections import Counter

from harness import Folder, arguments, check, files_below, finish, first, run

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples"))
import read_recording  # noqa: E402

UNKNOWN = 0xffffffff
ON, TAKEN = 1, 3  # SourceState


def record(options, folder, *what, code=0, buffer="2M", **environment):
    """Runs the program with the agent. (what it printed, its recording)"""
    done = run([options.program, *map(str, what)], cwd=folder, LD_PRELOAD=options.agent, TRACETOOL_DIR=folder,
               TRACETOOL_BUFFER=buffer, **environment)
    check(done.returncode == code, f"{what[0]}: the program ends as without us", done)
    files = files_below(folder, ".ring")
    if not check(len(files) == 1, f"{what[0]}: there is one recording", files):
        finish()
    return done, read_recording.read(files[0])


def recorded(recording):
    """Events per kind: kept, overwritten and lost."""
    return recording.kept + recording.overwritten + recording.lost


def check_values(recording, what):
    # NCCL's two events, and the pending ones keep their order.
    events = [e for e in recording.events if e.kind.startswith("nvtx")]
    pushes = [(e.name, e.domain, e.color_argb, e.category, e.payload) for e in events if e.kind == "nvtx_push"]
    check(pushes == [("colored", "worker", 0xff00ff00, 7, 2.5), ("after destroy", "worker", 0, 0, None),
                     ("plain", None, 0, 0, None), ("gr\u00fc\u00dfe \U0001f600", None, 0, 0, None)],
          f"{what}: pushes with name, domain, colour, category and payload", pushes)
    marks = [(e.name, e.domain, e.payload) for e in events if e.kind == "nvtx_mark"]
    check(marks == [("colored", "worker", -3), ("mark", None, None)], f"{what}: marks", marks)
    starts = {e.range_id: (e.name, e.domain, e.payload) for e in events if e.kind == "nvtx_start"}
    check(list(starts.values()) == [("colored", "worker", 2**64 - 1), ("start", None, None)], f"{what}: starts", starts)
    ends = [e.range_id for e in events if e.kind == "nvtx_end"]
    check(ends == list(starts), f"{what}: each start has its end", ends)


def check_names(recording, what):
    categories = {(c.domain, c.category): c.name for c in recording.categories.values()}
    check(categories == {(None, 3): "io", ("worker", 7): "compute"}, f"{what}: categories", recording.categories)
    names = [(n.resource, n.name, n.id, n.handle) for n in recording.resource_names]
    tid = names[0][2] if names else 0
    expected = [("thread", "main thread", tid, 0), ("device", "second", 1, 0), ("device", "first", 0, 0),
                ("stream", "copies", UNKNOWN, 0x1234), ("context", "context", UNKNOWN, 0x2345),
                ("event", "event", UNKNOWN, 0x3456), ("stream", "by resource", UNKNOWN, 0x4567)]
    check(tid > 1 and names == expected, f"{what}: names of things, each once", names)


def check_events(options):
    with Folder() as folder:
        _, recording = record(options, folder, "values")
        check_values(recording, "values")
        check(recording.header["nvtx_state"] == ON, "NVTX's state is on", recording.header["nvtx_state"])
    with Folder() as folder:
        check_names(record(options, folder, "names")[1], "names")
    with Folder() as folder:
        _, recording = record(options, folder, "early")
        check_values(recording, "before the recording begins")
        check_names(recording, "before the recording begins")


def check_choice(options):
    with Folder() as folder:
        _, recording = record(options, folder, "values", TRACETOOL_EVENTS="default,-nvtx")
        kept = {kind: count for kind, count in recording.kept.items() if kind != "clock"}
        check(kept == {"nccl_call": 1, "nvtx_pop": 1}, "without nvtx: only NCCL's call and its end", kept)


def check_hostile(options):
    with Folder() as folder:
        done, recording = record(options, folder, "hostile")
        check(not done.stderr, "hostile: nothing is said", done.stderr)
        counts = recorded(recording)
        check((counts["nvtx_push"], counts["nvtx_pop"], counts["nvtx_mark"]) == (203, 209, 6),
              "hostile: what came is counted", counts)
        marks = [e for e in recording.events if e.kind == "nvtx_mark"]
        check([m.name for m in marks if m.name and len(m.name) < 100] == ["unknown payload", "\ufffd\ufffda"],
              "hostile: broken text is not made up", marks)
        check(all(m.payload is None for m in marks), "hostile: an unknown payload is none", marks)
        cut = recording.header["truncated_names"]
        check(cut >= 1, "hostile: a name that was cut short is counted", cut)


def check_lying(options):
    """Pointers into nothing, texts without an end, sizes that are too large: the program ends as without us."""
    with Folder() as folder:
        done, recording = record(options, folder, "lying", buffer="16M")
        check(not done.stderr, "lying: nothing is said", done.stderr)
        names = Counter(e.name for e in recording.events if e.kind == "nvtx_push")
        check((names["never popped"], names["no end!!"]) == (100_000, 1) and not recording.overwritten, "lying: what can be read is there", names)
        marks = Counter((e.name or "")[:20] for e in recording.events if e.kind == "nvtx_mark")
        check(marks["a newer header"] == 1 and marks["m" * 20] == 1 and marks["no end!!"] == 2, "lying: and of marks", marks)
        calls = [e for e in recording.events if e.kind == "nccl_call"]
        check(len(calls) == 19 and {(e.communicator, e.bytes) for e in calls[1:]} == {(None, None)}, "lying: no payload is made up", first(calls))
        check(not recording.communicators, "lying: and no communicator", recording.communicators)


def check_killed(options):
    for what, communicators in (("killed in the first call", [0x99]), ("killed", [0x77, 0x99])):
        with Folder() as folder:
            _, recording = record(options, folder, what, code=-9)
        calls = [(e.name, e.communicator, e.bytes) for e in recording.events if e.kind == "nccl_call"]
        check(calls == [("ncclAllReduce", each, 4096) for each in communicators],
              f"{what}: every call that was entered is there", calls)


def check_endless(options):
    count = int(os.environ.get("TRACETOOL_NVTX_STRINGS", "300000"))
    buffer = "64M" if count > 1_000_000 else "2M"
    with Folder() as folder:
        done, recording = record(options, folder, "distinct", count, buffer=buffer)
        counts = recorded(recording)
        # One NCCL range opened the recording.
        check((counts["nvtx_push"], counts["nvtx_pop"]) == (count, count + 1), f"{count} names: counts are exact",
              counts)
        grown = int(done.stdout)
        limit = 4096 + (64 << 10 if buffer == "64M" else 2 << 10)  # the ring's own pages are touched once
        check(grown < limit, f"{count} names: memory is flat ({grown} KiB)", f"{grown} KiB, expected below {limit}")
        names = [e.name for e in recording.events if e.kind == "nvtx_push"]
        last = [f"step {i} of a training that never ends" for i in range(count - count // 4)][-len(names):]
        check(names == last, f"{count} names: the newest {len(names)} are kept, each with its own name", first(names))
    with Folder() as folder:
        done, recording = record(options, folder, "registered", 600_000)
        marks = [e.name for e in recording.events if e.kind == "nvtx_mark"]
        check(marks and set(marks) == {"(string limit reached)"}, "600000 registered strings: the last share a name",
              first(set(marks)))
        check(recording.header["truncated_names"] > 50_000, "600000 registered strings: those without their own are counted",
              recording.header["truncated_names"])
        check(int(done.stdout) < 34 << 10, "600000 registered strings: memory has a limit", done.stdout)


def check_many_categories(options):
    with Folder() as folder:
        count = 100_000
        _, recording = record(options, folder, "categories", count)
        known = {c.category: c.name for c in recording.categories.values()}
        wrong = [(number, name) for number, name in known.items() if name != f"category {number}"]
        check(not wrong and set(range(count - 1000, count)) <= set(known),
              f"{count} categories: those that fit are right, the newest among them", first(wrong) + str(len(known)))
        free = recording.header["definitions_bytes"] - recording.header["definitions_used"]
        check(free >= 4096, "100000 categories: who we are still finds room", free)


def check_sleepers(options):
    with Folder() as folder:
        count = 300_000
        _, recording = record(options, folder, "sleepers", count)
        counts = recorded(recording)
        check((counts["nvtx_push"], counts["nvtx_pop"]) == (count + 500, count + 1),
              "500 sleeping threads: counts are exact", counts)
        kept = Counter(e.tid for e in recording.events if e.kind == "nvtx_push")
        check(len(kept) == 1 and max(kept.values()) > 10_000,
              "500 sleeping threads pin nothing: the ring holds the busy one's newest", first(kept.items()))


def check_taken(options):
    with Folder() as folder:
        nobody = os.path.join(folder, "libother.so")
        done = run([options.program, "values"], cwd=folder, LD_PRELOAD=options.agent, TRACETOOL_DIR=folder,
                   NVTX_INJECTION64_PATH=nobody, TRACETOOL_VERBOSE=1)
        check(done.returncode == 0 and not files_below(folder, ".ring"),
              "another NVTX tool: its variable stays, and nothing comes to us", done)


def main():
    options = arguments("agent", "program")
    check_events(options)
    check_choice(options)
    check_hostile(options)
    check_lying(options)
    check_killed(options)
    check_endless(options)
    check_many_categories(options)
    check_sleepers(options)
    check_taken(options)
    finish()


main()
