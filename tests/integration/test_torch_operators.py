#!/usr/bin/env python3
"""Operators of a real PyTorch on the CPU, recorded while torch.profiler looks on: names, nesting, times, sequence numbers and inputs
are what it says; and `analyze --only operators` of its profile is what its key_averages() says. Skipped where the Python of TRACETOOL_PYTHON (else this one) has no torch.

  test_torch_operators.py --agent PATH --tracetool PATH
"""
import collections
import glob
import gzip
import json
import os
import re
import sys

from harness import SKIPPED, Folder, arguments, check, finish, first, run, skip
from slow_tables import ns

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_profiled.py")
PYTHON = os.environ.get("TRACETOOL_PYTHON", sys.executable)
INPUTS = ("Input Dims", "Input Strides", "Input type", "Concrete Inputs")
ONLY_FORWARD = {"nest::once", "nest::more", "aten::linear", "aten::addmm", "aten::randn", "aten::normal_", "aten::relu", "aten::slice"}
NEAR_NS = 200_000  # one observer is called after the other, and a busy machine may come between


def read(path):
    """The events of a profile, and what their times are relative to."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        trace = json.load(file)
    return trace["traceEvents"], trace.get("baseTimeNanoseconds", 0)


def operators(path):
    """tid -> its operators and annotations, by time, the outer first."""
    events, base = read(path)
    found = {}
    for event in events:
        if event.get("ph") == "X" and event.get("cat") in ("cpu_op", "user_annotation") and not event["name"].startswith("ProfilerStep#"):
            event.setdefault("args", {})
            event["start"] = base + ns(event["ts"])
            event["end"] = event["start"] + ns(event["dur"])
            found.setdefault(event["tid"], []).append(event)
    for events in found.values():
        events.sort(key=lambda event: (event["start"], -event["end"]))
    return found


def in_order_of(profiled, recorded):
    """`profiled` with those that began in the same microsecond in the order of `recorded`: PyTorch 2.1 knows no more of them."""
    order = list(profiled)
    for at, event in enumerate(recorded[:len(order)]):
        for other in range(at, min(at + 12, len(order))):
            if order[other]["name"] == event["name"] and order[other]["start"] - order[at]["start"] <= 1000:
                order.insert(at, order.pop(other))
                break
    return order


def depths(events):
    """How many of them are open at the begin of each."""
    found, ends = [], []
    for event in events:
        ends = [end for end in ends if end > event["start"]]
        found.append(len(ends))
        ends.append(event["end"])
    return found


def part(recorded, profiled):
    """Of what was recorded on a thread, as many as were profiled, from about where the first began: where most names are the same."""
    nearest = min(range(len(recorded)), key=lambda at: abs(recorded[at]["start"] - profiled[0]["start"]))
    begins = sorted(range(max(0, nearest - 8), nearest + 8), key=lambda at: abs(at - nearest))
    return max((recorded[at:at + len(profiled)] for at in begins), key=lambda some: sum(a["name"] == b["name"] for a, b in zip(some, profiled)))


def same_inputs(said, true, coarse):
    """PyTorch 2.1 tells no sizes of lists of tensors. Operators of one name in one microsecond are not told apart there."""
    return said == true or (coarse and len(said) == len(true))


def of_inner(events, at, fact):
    """torch.profiler says no numbers of a backward operator with a hook that names a range (FSDP2's); of the same one inside it does."""
    name = events[at]["name"].removeprefix("autograd::engine::evaluate_function: ")
    inside = (event for event in events[at + 1:] if event["start"] <= events[at]["end"])
    return next((event["args"].get(fact) for event in inside if event["name"] == name), None) if name != events[at]["name"] else None


def comparable(recorded, profiled):
    """Of the threads of gloo PyTorch 2.5 profiles the collectives alone."""
    return [event for event in recorded if event["name"].startswith("gloo:")] if all(event["name"].startswith("gloo:") for event in profiled) else recorded


def check_thread(what, recorded, profiled, counts):
    coarse = all(event["start"] % 1000 == 0 for event in profiled)
    profiled = in_order_of(profiled, recorded) if coarse else profiled
    names = [(a["name"], b["name"]) for a, b in zip(recorded, profiled) if a["name"] != b["name"]]
    if not check(len(recorded) == len(profiled) and not names, f"{what}: {len(profiled)} names, in their order", lambda: (len(recorded), names[:3])):
        return
    check(coarse or depths(recorded) == depths(profiled), f"{what}: they lie in each other alike",
          lambda: first([(a["name"], x, y) for a, x, y in zip(recorded, depths(recorded), depths(profiled)) if x != y]))
    late = [(a["name"], a["start"] - b["start"], a["end"] - b["end"]) for a, b in zip(recorded, profiled)
            if abs(a["start"] - b["start"]) > NEAR_NS or abs(a["end"] - b["end"]) > NEAR_NS]
    check(len(late) <= 2 + len(profiled) // 50, f"{what}: at the same times", lambda: first(late))
    for fact in ("Sequence number", "Fwd thread id"):
        pairs = [(a["name"], a["args"].get(fact), b["args"].get(fact, of_inner(profiled, at, fact))) for at, (a, b) in enumerate(zip(recorded, profiled)) if b["cat"] == "cpu_op"]
        wrong = [pair for pair in pairs if pair[1] != pair[2] and not (pair[1] is None and pair[2] in (None, 0))]
        counts[fact] = counts.get(fact, 0) + sum(pair[2] not in (None, 0) for pair in pairs)
        check(not wrong, f"{what}: {fact}", lambda: (len(wrong), first(wrong)))
    for fact in INPUTS:
        pairs = [(a["name"], a["args"].get(fact), b["args"].get(fact)) for a, b in zip(recorded, profiled) if b["cat"] == "cpu_op" and fact in b["args"]]
        blank = {"Input Dims": [], "Input Strides": []}.get(fact, "")
        wrong = [pair for pair in pairs if not same_inputs(pair[1] or [blank] * len(pair[2]), pair[2], coarse)]
        counts[fact] = counts.get(fact, 0) + len(pairs)
        check(not wrong, f"{what}: {fact}", lambda: (len(wrong), len(pairs), wrong[:4]))


def frames_around(path):
    """tid -> [(start, end, file, function)] of what torch.profiler saw of Python, the outer first. A call of a module has no file."""
    events, base = read(path)
    found = {}
    for event in events:
        match = re.fullmatch(r"(.*)\((\d+)\): (.*)", event.get("name", ""))
        if event.get("ph") == "X" and event.get("cat") == "python_function" and match:
            start = base + ns(event["ts"])
            found.setdefault(event["tid"], []).append((start, start + ns(event["dur"]), match[1], match[3]))
    for frames in found.values():
        frames.sort(key=lambda frame: (frame[0], -frame[1]))
    return found


def calls(path):
    """tid -> [(start, end, name)] of all calls of functions of Python that have a file, and of modules; the outer first."""
    events, base = read(path)
    found = {}
    for event in events:
        if event.get("cat") == "python_function" and (event["name"].startswith("nn.Module: ") or re.search(r"\(\d+\): ", event["name"])):
            start = base + ns(event["ts"])
            found.setdefault(event["tid"], []).append((start, start + ns(event["dur"]), event["name"]))
    for some in found.values():
        some.sort(key=lambda call: (call[0], -call[1]))
    return found


def named(call):
    """torch.profiler tells the line where a function begins, a recording the line that runs; and older Pythons no qualified names."""
    file, _, function = call[2].rpartition(": ")
    return call[2] if file == "nn.Module" else (os.path.basename(re.sub(r"\(\d+\)$", "", file)), function.split(".")[-1])


class SameModules:
    """Compares calls with those of torch.profiler. Both number the modules of a class, in different orders; a call before its module was
    named has no number in a recording."""

    def __init__(self):
        self.number = {}  # (class, our number) -> theirs
        self.calls = self.without_number = 0  # of modules

    def is_same(self, said, true):
        if not (isinstance(said, str) and isinstance(true, str)):
            return said == true
        self.calls += 1
        name, _, number = true.rpartition("_")
        if said == name:
            self.without_number += 1
            return True
        ours, _, own_number = said.rpartition("_")
        return ours == name and self.number.setdefault((name, own_number), number) == number

    def are_same(self, said, true):
        return len(said) == len(true) and all(map(self.is_same, said, true))


def check_calls(folder, aligned, profiled):
    """The calls that are derived from stacks: around each operator those that torch.profiler saw, each module as often."""
    ours, true = calls(glob.glob(f"{folder}/kineto/*.json*")[0]), calls(f"{folder}/profiled.json")
    wrong, count, often, modules = [], 0, [], SameModules()
    for tid, events in profiled.items():
        for mine, theirs in zip(aligned[tid], events):
            said, around = ([named(call) for call in some.get(tid, []) if call[0] <= event["start"] and call[1] >= event["end"]]
                            for some, event in ((ours, mine), (true, theirs)))
            around = [call for call in around if "_wrapped_call_impl" not in call]  # the call of a module itself
            count += len(around) > 0
            if theirs["cat"] == "cpu_op" and mine["name"] == theirs["name"] and not modules.are_same(said[len(said) - len(around):], around):
                wrong.append((theirs["name"], said, around))
        begin, end = aligned[tid][0]["start"], aligned[tid][-1]["end"]
        often.append([collections.Counter(re.sub(r"_\d+$", "", call[2]) for call in some.get(tid, []) if call[2].startswith("nn.Module") and first_ns <= call[0] <= last_ns)
                      for some, first_ns, last_ns in ((ours, begin, end), (true, 0, 1 << 62))])
    coarse = all(event["start"] % 1000 == 0 for events in profiled.values() for event in events)
    check(len(wrong) <= coarse * count // 500 and count > 1000, f"calls: around {count} operators as torch.profiler saw them", lambda: (len(wrong), first(wrong, 2)))
    check(len(set(modules.number.values())) > 1 and len(modules.number) == len({(name, true) for (name, _), true in modules.number.items()}),
          "calls: each module has a number of its own", modules.number)
    check(modules.without_number < modules.calls, "calls: some come after their module was named", (modules.without_number, modules.calls))
    # The call in which a module is named looks like two.
    check(all(mine.keys() == theirs.keys() and all(0 <= mine[name] - theirs[name] <= 1 for name in theirs) for mine, theirs in often) and any(mine for mine, _ in often),
          "calls: of each class of modules as many", often)


def is_same_frame(said, true):
    file, _, function = re.fullmatch(r"(.*)\((\d+)\): (.*)", said).groups()
    return file.endswith(true[2]) and function.split(".")[-1] == true[3]


def check_stacks(options):
    """Of each operator the frames that torch.profiler saw around it, and modules as named_modules() has them."""
    with Folder() as folder:
        done = run([PYTHON, PROGRAM, f"{folder}/profiled.json", "--stacks"], cwd=folder, LD_PRELOAD=options.agent, TRACETOOL_TORCH="stacks",
                   TRACETOOL_DIR=f"{folder}/traces", TRACETOOL_BUFFER="64M", OMP_NUM_THREADS=1)
        if not check(done.returncode == 0 and "tracetool" not in done.stderr, "stacks: it runs", done.stderr[-2000:]):
            return
        run([options.tracetool, "export", f"{folder}/traces", "--kineto", "-o", f"{folder}/kineto"])
        recorded, profiled, frames = operators(glob.glob(f"{folder}/kineto/*.json*")[0]), operators(f"{folder}/profiled.json"), frames_around(f"{folder}/profiled.json")
        aligned = {tid: part(recorded[tid], events) for tid, events in profiled.items()}
        check_calls(folder, aligned, profiled)
        wrong, count = [], 0
        for tid, events in profiled.items():
            for ours, true in zip(aligned[tid], events):
                around = [frame for frame in frames.get(tid, []) if frame[0] <= true["start"] and frame[1] >= true["end"]]
                said = [frame for frame in ours["args"].get("Call stack", "").split(";") if frame][::-1]
                # What was called before the profiler began it may not have seen.
                seen = said[-len(around):] if around else []
                count += len(seen) > 0
                if true["cat"] == "cpu_op" and ours["name"] == true["name"] and (len(seen) < len(around) or not all(map(is_same_frame, seen, around))):
                    wrong.append((true["name"], said, around))
        coarse = all(event["start"] % 1000 == 0 for events in profiled.values() for event in events)  # what was called in one microsecond is not told apart
        check(len(wrong) <= coarse * count // 500 and count > 1000, f"stacks: of {count} operators as torch.profiler saw them", lambda: (len(wrong), first(wrong, 2)))
        with open(f"{folder}/profiled.json.modules", encoding="utf-8") as file:
            names = sorted(name for name in json.load(file).values() if name)
        rows = json.loads(run([options.tracetool, "analyze", f"{folder}/traces", "--only", "modules", "--format", "json"]).stdout)["modules"]
        said = sorted(row["module"] for row in rows)
        called = [name for name in names if name != "blocks"]  # a ModuleList is not called itself
        unnamed = [name for name in said if name == "Model" or name.startswith("Model > ")]  # its classes, before it was named
        check(sorted(set(said) - set(unnamed)) == called and "Model" in unnamed, "stacks: modules as named_modules() has them", lambda: (said, called))
        both = [row["module"] for row in rows if row["module"] in [*called, "Model"] and not (row["cpu_forward_ns"] and row["cpu_backward_ns"])]
        check(not both, "stacks: each has forward and backward operators", both)


def flows(path, threads):
    """[(start, end)] of the flows from forward to backward operators: of both the places in `threads` (tid -> operators) that they may
    mean, which are several where operators began at one time. Only those with both ends there."""
    events, base = read(path)
    starting, ends = {}, {}
    for tid, some in threads.items():
        for place, operator in enumerate(some):
            starting.setdefault((tid, operator["start"]), set()).add((tid, place))
    for event in events:
        if event.get("cat") == "fwdbwd":
            ends.setdefault(event["id"], {})[event["ph"]] = starting.get((event["tid"], base + ns(event["ts"])))
    check(all(set(both) == {"s", "f"} for both in ends.values()), f"{os.path.basename(path)}: {len(ends)} flows have two ends")
    return [(both["s"], both["f"]) for both in ends.values() if both["s"] and both["f"]]


def check_flows(what, folder, recorded, profiled):
    """torch.profiler's pairs of forward and backward operators are ours."""
    aligned = {tid: part(recorded[tid], events) for tid, events in profiled.items()}
    ours, true = flows(glob.glob(f"{folder}/kineto/*.json*")[0], aligned), flows(f"{folder}/profiled.json", profiled)
    by_end = {place: start for start, end in ours for place in end}
    wrong = [(start, end) for start, end in true if not any(start & by_end.get(place, set()) for place in end)]
    check(not wrong and len(ours) == len(true) > 0, f"{what}: {len(true)} pairs of forward and backward operators", lambda: (len(ours), len(wrong), first(wrong)))


def check_program(options, *how):
    with Folder() as folder:
        done = run([PYTHON, PROGRAM, f"{folder}/profiled.json", *how], cwd=folder, LD_PRELOAD=options.agent, TRACETOOL_TORCH="shapes",
                   TRACETOOL_DIR=f"{folder}/traces", TRACETOOL_BUFFER="64M", OMP_NUM_THREADS=1)
        what = " ".join(how) or "plain"
        if done.returncode == SKIPPED:
            return print(f"skipped: {what}: {done.stdout.strip()}", flush=True)
        if not check(done.returncode == 0 and "tracetool" not in done.stderr, f"{what}: it runs", done.stderr[-2000:]):
            return None
        done = run([options.tracetool, "export", f"{folder}/traces", "--kineto", "-o", f"{folder}/kineto"])
        paths = glob.glob(f"{folder}/kineto/*.json*")
        if not check(done.returncode == 0 and len(paths) == 1, f"{what}: it is exported", (done.stderr, paths)):
            return
        recorded, counts = operators(paths[0]), {}
        profiled = operators(f"{folder}/profiled.json")
        check(set(profiled) <= set(recorded), f"{what}: all its threads are recorded", (list(profiled), list(recorded)))
        for tid, events in profiled.items():
            if tid in recorded:
                check_thread(f"{what}, thread {list(profiled).index(tid)}", part(comparable(recorded[tid], events), events), events, counts)
        check_flows(what, folder, recorded, profiled)
        check(min((count for fact, count in counts.items() if fact != "Input Strides"), default=0) > 0, f"{what}: each fact was there to compare", counts)
        steps = json.loads(run([options.tracetool, "analyze", f"{folder}/traces", "--only", "steps", "--format", "json"]).stdout)["steps"]
        check(not steps and how == ("--compile",) or len(steps) == 7 and {row["found_by"] for row in steps} == {"Optimizer.step#"}, f"{what}: seven steps by the optimizer, or none where it was compiled, too", steps)


def averages_of(path, by, names):
    """{(name, sizes or frames): (calls, self ns, total ns)} of key_averages(), of these names."""
    found = {}
    with open(f"{path}.averages", encoding="utf-8") as file:
        for name, calls, self_us, total_us, sizes, frames in json.load(file)[by]:
            key = {"plain": None, "shape": None if sizes == "[]" else sizes, "stack": tuple(frames[::-1])}[by]
            if name in names:
                found[name, key] = (calls, round(1000 * self_us), round(1000 * total_us))
    return found


def as_shown(frame):
    """A call of a module, as tables have it."""
    return frame.removeprefix("nn.Module: ")


def check_averages(options, *how):
    """What `analyze --only operators` says of a profile is what key_averages() says of it: calls, own and all time, to the nanosecond."""
    with Folder() as folder:
        path = f"{folder}/profiled.json"
        done = run([PYTHON, os.path.join(os.path.dirname(PROGRAM), "torch_averages.py"), path, *how], cwd=folder, OMP_NUM_THREADS=1,
                   LD_PRELOAD=options.agent, TRACETOOL_TORCH="shapes", TRACETOOL_DIR=f"{folder}/traces", TRACETOOL_BUFFER="64M")
        if not check(done.returncode == 0, f"averages {how}: it runs", done.stderr[-2000:]):
            return
        names = {event["name"] for event in read(path)[0] if event.get("cat") == "cpu_op"}
        check({"nest::once", "nest::more"} <= names, f"averages {how}: there are operators in operators of their name", sorted(names))
        with open(f"{path}.averages", encoding="utf-8") as file:
            has_functions = any(".py(" in row[0] for row in json.load(file)["plain"])
        if how and not has_functions:
            print("averages with stacks: not compared, because key_averages() of this PyTorch omits Python functions (2.9 does)")
            return
        for by in ("plain", "shape", "stack")[:3 if how else 2]:
            words = ["--by", by] if by != "plain" else []
            done = run([options.tracetool, "analyze", path, "--only", "operators", *words, "--format", "json"])
            true = {(name, tuple(map(as_shown, key)) if by == "stack" else key): values for (name, key), values in averages_of(path, by, names).items()}
            said = {(row["name"], {"plain": None, "shape": row.get("shapes"), "stack": tuple(filter(None, (row.get("stack") or "").split(";")))}[by]):
                    (row["calls"], row["cpu_self_ns"], row["cpu_ns"]) for row in json.loads(done.stdout)["operators"]}
            if by == "stack":  # of a backward operator PyTorch takes the first one of its number, or where backward() was called
                check(sum(row[0] for row in said.values()) == sum(row[0] for row in true.values()), f"averages {how}: as many calls with stacks")
                said, true = ({key: values for key, values in rows.items() if key[0] in ONLY_FORWARD} for rows in (said, true))
            wrong = [(key, said.get(key), true.get(key)) for key in said.keys() | true.keys() if said.get(key) != true.get(key)]
            check(not wrong and len(true) > 9, f"averages {how}: {len(true)} rows {by} as key_averages() has them", lambda: (len(wrong), wrong[:3]))


        done = run([options.tracetool, "analyze", f"{folder}/traces", "--only", "operators", "--format", "json"])
        calls = {row["name"]: row["calls"] for row in json.loads(done.stdout)["operators"] if row["name"].startswith("nest::")}
        check(calls == {"nest::once": 8, "nest::more": 16}, f"averages {how}: and so are those of the recording, of four steps", calls)


def main():
    options = arguments("agent", "tracetool")
    if run([PYTHON, "-c", "import torch"]).returncode != 0:
        skip(f"{PYTHON} has no torch")
    check_averages(options)
    check_averages(options, "--stacks")
    check_program(options)
    check_stacks(options)
    check_program(options, "--ddp")
    check_program(options, "--fsdp")
    check_program(options, "--fsdp2")
    check_program(options, "--compile")
    finish()


if __name__ == "__main__":
    main()
