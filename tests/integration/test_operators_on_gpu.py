#!/usr/bin/env python3
"""Kernels find their operators and modules, and backward operators their forward ones, in a recording with operators, stacks and kernels
(stand-ins of PyTorch and CUDA): in tables, folded stacks and the Kineto export, and the same from a merged file and from that export.

  test_operators_on_gpu.py --agent PATH --simulated PATH --tracetool PATH --torch PATH --launcher PATH
"""
import collections
import glob
import json
import os
import re
import sys

from harness import Folder, arguments, check, finish, first, run
from recorded import environment_of, no_core
from slow_tables import ns, read_json
from test_torch import is_known_python

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "operators_on_gpu.py")
PYTHON = os.environ.get("TRACETOOL_PYTHON", sys.executable)
STEPS = 20
WIDER_NS = 500  # calls of Python are a little wider than what lies in them


def sums(launched, key):
    """{key of a launch: (ns, kernels)}; of several keys each."""
    found = collections.defaultdict(lambda: [0, 0])
    for one in launched:
        for each in key(one):
            found[each][0] += one["ns"]
            found[each][1] += 1
    return {each: tuple(both) for each, both in found.items()}


def rows_of(options, path, table):
    return json.loads(run([options.tracetool, "analyze", path, "--only", table, "--format", "json"]).stdout)[table]


def module_paths(one):
    """Of the modules around a launch, by their classes."""
    classes = [module.rpartition("_")[0] for module in one["modules"]]
    return {" > ".join(classes[:n + 1]) for n in range(len(classes))}


def check_tables(options, what, path, launched):
    rows = {row["name"]: row for row in rows_of(options, path, "operators")}
    inner = sums(launched, lambda one: one["operators"][-1:])
    check({name: (row["gpu_self_ns"], row["gpu_count"]) for name, row in rows.items() if row["gpu_count"]} == inner, f"{what}: operators", lambda: (rows, inner))
    outer = sums(launched, lambda one: set(one["operators"]))
    check({name: row["gpu_ns"] for name, row in rows.items() if row["gpu_ns"]} == {name: ns for name, (ns, _) in outer.items()}, f"{what}: with those in them", rows)
    flops = rows_of(options, path, "flops")
    multiplied = [one for one in launched if one["operators"][-1:] == ["aten::mm"]]
    check(len(flops) == 1 and (flops[0]["flop"], flops[0]["count"]) == (2 * 16 * 32 * 8, len(multiplied)), f"{what}: operations of {len(multiplied)} products", flops)
    if not is_known_python():
        return
    forward = sums([one for one in launched if not one["is_backward"]], module_paths)
    behind = sums([one for one in launched if one["is_backward"]], module_paths)
    told = {row["module"]: row for row in rows_of(options, path, "modules")}
    names = {"Model": "Model", "first": "Model > Linear", "second": "Model > Linear", "Model > Linear": "Model > Linear"}
    by_class = collections.defaultdict(lambda: [0, 0])
    for module, row in told.items():
        of_class = names.get(module) or re.sub(r"_\d+(?= > |$)", "", module)  # a profile's have numbers
        by_class[of_class][0] += row["gpu_forward_ns"]
        by_class[of_class][1] += row["gpu_backward_ns"]
    true = {module: [forward.get(module, (0, 0))[0], behind.get(module, (0, 0))[0]] for module in {*forward, *behind}}
    check(dict(by_class) == true, f"{what}: modules, forward and backward", lambda: (told, true))
    folded = run([options.tracetool, "export", "--folded", path, "-o", "-"]).stdout.splitlines()
    total = sum(int(line.rpartition(" ")[2]) for line in folded)
    check(total == sum(one["ns"] for one in launched), f"{what}: folded stacks hold all work", total)
    behind_linear = [line for line in folded if ";MmBackward0;aten::mm;" in line]
    check(behind_linear and all("Linear" in line and "Model" in line for line in behind_linear), f"{what}: backward stands below its forward frames", first(behind_linear, 2))


def places_of(begun, events):
    """{thread and start of an operator in the profile: its place in what the program began}. The first may not be there."""
    said, true = collections.defaultdict(list), collections.defaultdict(list)
    for event in sorted((event for event in events if event.get("cat") == "cpu_op"), key=lambda event: (ns(event["ts"]), -ns(event["dur"]))):
        said[event["tid"]].append(event)
    for place, operator in enumerate(begun):
        true[operator["tid"]].append(place)
    found = {}
    for tid, operators in said.items():
        for event, place in zip(reversed(operators), reversed(true[tid])):
            found[tid, ns(event["ts"])] = place, ns(event["ts"]) + ns(event["dur"])
    wrong = [event for event in events if event.get("cat") == "cpu_op" and event["name"] != begun[found[event["tid"], ns(event["ts"])][0]]["name"]]
    check(not wrong, f"{len(found)} operators are in their order", lambda: first(wrong))
    return found


def check_flows(events, said, places):
    """A flow from each forward operator to its backward one."""
    ends = collections.defaultdict(dict)
    for event in events:
        if event.get("cat") == "fwdbwd":
            ends[event["id"]][event["ph"]] = places[event["tid"], ns(event["ts"])][0]
    pairs = sorted((both["s"], both["f"]) for both in ends.values())
    true = sorted(tuple(pair) for pair in said["pairs"])
    # It takes an observer some operators to find the numbers.
    check(pairs == true[len(true) - len(pairs):] and len(pairs) >= 2 * STEPS, f"{len(pairs)} flows from forward to backward operators", lambda: (pairs[:3], true[:3]))


def same_function(a, b):
    return a[:3] == b[:3] and a[4] == b[4]


def text_of(frame, numbers):
    if frame[0] == "module":
        return f"nn.Module: {frame[1]}_{numbers[frame[1]].index(frame[4])}"
    return f"{frame[2]}({frame[3]}): {frame[1]}"


def slow_calls(begun):
    """[(text, place of the first operator, of the last, text of the call around)] of each thread's calls, from the stacks alone: a call goes
    on in the next operator of the thread where all frames around it are the same, line for line, and it is the same function."""
    numbers, by_thread, found = collections.defaultdict(list), collections.defaultdict(list), []
    for place, operator in enumerate(begun):
        by_thread[operator["tid"]].append((place, operator["stack"][::-1]))
        for frame in operator["stack"][::-1]:
            if frame[0] == "module" and frame[4] not in numbers[frame[1]]:
                numbers[frame[1]].append(frame[4])
    for operators in by_thread.values():
        for at, (place, stack) in enumerate(operators):
            before = operators[at - 1][1] if at > 0 else []
            for depth, frame in enumerate(stack):
                if depth < len(before) and before[:depth] == stack[:depth] and same_function(before[depth], frame):
                    continue
                last, now = place, stack
                for later, others in operators[at + 1:]:
                    if len(others) <= depth or others[:depth] != now[:depth] or not same_function(others[depth], now[depth]):
                        break
                    last, now = later, others
                around = next((call for call in reversed(found) if depth > 0 and call["depth"] == depth - 1 and call["first"] <= place <= call["last"]), None)
                found.append({"depth": depth, "text": text_of(frame, numbers), "first": place, "last": last, "around": around and around["text"]})
    return found


def check_calls(events, said, places):
    """Calls of Python: those that follow from the stacks, and they lie within each other."""
    begun, of_operator = said["begun"], {place: (tid, start, end) for (tid, start), (place, end) in places.items()}
    true = []
    for call in slow_calls(begun):
        if call["first"] >= said["measured"]:
            tid, start, _ = of_operator[call["first"]]
            end = max(of_operator[place][2] for place in range(call["first"], call["last"] + 1) if begun[place]["tid"] == tid)
            true.append((call["text"], tid, start, end, call["around"]))
    begin = of_operator[said["measured"]][1]
    calls = [event for event in events if event.get("cat") == "python_function"]
    by_id = {event["args"]["Python id"]: event for event in calls}
    check(len(by_id) == len(calls) > 0, f"{len(calls)} calls of Python have numbers of their own")
    found, wrong = [], []
    for event in calls:
        start, end = ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])
        around = by_id.get(event["args"]["Python parent id"])
        inner = [(tid, a, b) for (tid, a), (_, b) in places.items() if tid == event["tid"] and start < a and b < end]
        if around is not None and not (around["tid"] == event["tid"] and ns(around["ts"]) < start and end < ns(around["ts"]) + ns(around["dur"])):
            wrong.append((event, around))
        if start >= begin - WIDER_NS:
            found.append((event["name"], event["tid"], min(each[1] for each in inner), max(each[2] for each in inner), around and around["name"]))
            if start < found[-1][2] - WIDER_NS or end > found[-1][3] + WIDER_NS:
                wrong.append((event, found[-1]))
    check(not wrong, "calls lie in each other, and are hardly wider than their operators", lambda: first(wrong, 2))
    check(sorted(found, key=str) == sorted(true, key=str), f"{len(true)} calls of Python are those of the stacks", lambda: (len(found), first(sorted(set(found) ^ set(true), key=str), 4)))


def renumber(events, begin):
    """Numbers the modules of each class by their first calls after `begin`. Which module the recorder knows first varies."""
    numbers = collections.defaultdict(dict)
    calls = [event for event in events if event.get("cat") == "python_function" and event["name"].startswith("nn.Module: ")]
    for event in sorted(calls, key=lambda event: (ns(event["ts"]) < begin, ns(event["ts"]))):
        kind, _, number = event["name"].rpartition("_")
        event["name"] = f"{kind}_{numbers[kind].setdefault(number, len(numbers[kind]))}" if kind else event["name"]


def check_joined(events, launched):
    """GPU time of modules, forward and backward, as TensorBoard joins it: kernels with operators by External ids, with modules by times, and
    backward operators with forward ones by flows."""
    slices = [(event, ns(event["ts"]), ns(event["ts"]) + ns(event["dur"])) for event in events if event["ph"] == "X"]
    operators = {event["args"]["External id"]: (event["tid"], start, end) for event, start, end in slices if event["cat"] == "cpu_op"}
    modules = [(event, start, end) for event, start, end in slices if event["name"].startswith("nn.Module: ")]
    calls = {event["args"]["correlation"]: event["args"]["External id"] for event, *_ in slices if event["cat"] == "cuda_runtime" and "correlation" in event["args"]}
    flows = collections.defaultdict(dict)
    for event in events:
        if event.get("cat") == "fwdbwd":
            flows[event["id"]][event["ph"]] = event["tid"], ns(event["ts"])
    forward = {both["f"]: both["s"] for both in flows.values()}

    def around(tid, at):
        return " > ".join(event["name"] for event, start, end in sorted(modules, key=lambda module: module[1]) if event["tid"] == tid and start <= at < end)

    joined, odd = collections.Counter(), []
    for event, *_ in slices:
        if event["cat"] != "kernel":
            continue
        number = event["args"]["External id"]
        odd += [event] if number != calls[event["args"]["correlation"]] else []
        if number == 0:
            joined["", False] += ns(event["dur"])
            continue
        tid, start, end = operators[number]
        nodes = [source for (other, at), source in forward.items() if other == tid and at <= start and any(a == at and b >= end for t, a, b in operators.values() if t == tid)]
        joined[around(*(nodes[0] if nodes else (tid, start))), bool(nodes)] += ns(event["dur"])
    true = collections.Counter()
    for one in launched:
        true[" > ".join(f"nn.Module: {module}" for module in one["modules"]), one["is_backward"]] += one["ns"]
    check(not odd, "calls and their kernels have one External id", lambda: first(odd))
    check(joined == true, f"GPU time of {len(true)} modules and directions, joined as TensorBoard does", (joined, true))


def tables_of(variable, module, script, folder):
    """What a consumer shows of a folder; None where no Python is named that has it."""
    python = os.environ.get(variable, "")
    if not python or run([python, "-c", f"import {module}"]).returncode != 0:
        return print(f"      without {module}: {variable}", flush=True)
    done = run([python, os.path.join(HERE, script), folder])
    check(done.returncode == 0, f"{module} loads the profile", done)
    return json.loads(done.stdout or "{}")


def check_consumers(folder, events):
    """TensorBoard's view of modules is made of their calls, HTA's tables are the same without them."""
    os.rename(glob.glob(f"{folder}/plain/*.json*")[0], f"{folder}/plain/worker.pt.trace.json.gz")
    os.makedirs(f"{folder}/shown")
    os.link(glob.glob(f"{folder}/kineto/*.json*")[0], f"{folder}/shown/worker.pt.trace.json.gz")
    tables = [tables_of("TRACETOOL_HTA_PYTHON", "hta", "hta_tables.py", f"{folder}/{one}") for one in ("shown", "plain")]
    if tables[0] is not None:
        check(tables[0] == tables[1], "HTA's tables are the same with and without calls of Python")
    shown = tables_of("TRACETOOL_TENSORBOARD_PYTHON", "torch_tb_profiler", "tensorboard_tables.py", f"{folder}/shown")
    if shown is None:
        return
    calls = collections.Counter(event["name"][len("nn.Module: "):] for event in events if event.get("name", "").startswith("nn.Module: "))
    tree = [[name, of, calls[name], operators] for name, of, operators in (("Model_0", 0, 0), ("Linear_0", 0, calls["Linear_0"]), ("Linear_1", 1, calls["Linear_1"]))]
    model = next(iter(shown.values()))["module_stats"][0]
    check([row[:4] for row in (model, *model[-1])] == tree, "TensorBoard shows the modules", (model, tree))


def check_kineto(options, folder, said):
    """Kineto's External ids: of a kernel the innermost operator's."""
    done = run([options.tracetool, "export", "--kineto", f"{folder}/traces", "-o", f"{folder}/kineto", "--json"])
    events = read_json(glob.glob(f"{folder}/kineto/*.json*")[0])
    names = {event["args"]["External id"]: event["name"] for event in events if event.get("cat") == "cpu_op"}
    check(len(names) == sum(event.get("cat") == "cpu_op" for event in events), "each operator has an External id of its own", len(names))
    kernels = collections.Counter(names.get(event["args"].get("External id")) for event in events if event.get("cat") == "kernel")
    true = collections.Counter((one["operators"] or [None])[-1] for one in said["launched"])
    check(kernels == true, "kernels have that of their operator", (kernels, true))
    places = places_of(said["begun"], events)
    renumber(events, min(start for (_, start), (place, _) in places.items() if place == said["measured"]) - WIDER_NS)
    check_flows(events, said, places)
    derived = sum(event.get("cat") == "python_function" for event in events)
    check(json.loads(done.stdout)["computed_slices"] == derived, f"{derived} calls of Python are counted as computed", done)
    if is_known_python():
        check_calls(events, said, places)
        check_joined(events, said["launched"])
    run([options.tracetool, "export", "--kineto", "--no-computed", f"{folder}/traces", "-o", f"{folder}/plain"])
    plain = read_json(glob.glob(f"{folder}/plain/*.json*")[0])
    check(plain == [event for event in events if event.get("cat") != "python_function"], "--no-computed leaves calls of Python out, and nothing else")
    if is_known_python():
        check_consumers(folder, events)


def main():
    options = arguments("agent", "simulated", "tracetool", "torch", "launcher")
    with Folder() as folder:
        environment = environment_of(options, folder, TRACETOOL_TORCH="all", TRACETOOL_BUFFER="16M", TORCH_LAYOUT="2.9", SIM_TRUTH=None)
        done = run([PYTHON, PROGRAM, options.torch, options.launcher, str(STEPS)], cwd=folder, limit=no_core, **environment)
        if check(done.returncode == 0 and "tracetool" not in done.stderr, "the program runs as without us", done):
            said = json.loads(done.stdout)
            launched = said["launched"]
            check(len(launched) == 6 * STEPS, f"{len(launched)} kernels were launched")
            check_tables(options, "a recording", f"{folder}/traces", launched)
            run([options.tracetool, "merge", f"{folder}/traces", "-o", f"{folder}/run.ttrace"])
            check_tables(options, "a merged file", f"{folder}/run.ttrace", launched)
            check_kineto(options, folder, said)
            check_tables(options, "its Kineto profile", f"{folder}/kineto", launched)
    finish()


if __name__ == "__main__":
    main()
