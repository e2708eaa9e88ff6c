#!/usr/bin/env python3
"""What NCCL kernels say of their call in the Kineto profiles of simulated trainings, against what really happened: plain
calls, calls in groups, communicators that were split, calls captured in CUDA graphs.

  test_kineto_nccl.py --agent PATH --simulated PATH --tracetool PATH
"""
import bisect
import collections
import os

import truth
from harness import Folder, arguments, check, finish, first, run
from kineto_files import load

RANKS, STEPS = 4, 4
SAID = ("Collective name", "In msg nelems", "Out msg nelems", "Group size", "dtype", "Process Group Name",
        "Process Group Ranks")
TRAININGS = {"plain": [], "split": ["--comms", "2"], "groups": ["--groups", "--p2p"], "graphs": ["--graphs", "--comms", "2"]}
TYPES = {"bf16": ("BFloat16", 2), "f32": ("Float", 4)}


def groups_of(ranks):
    """{communicator: ascending ranks of the job that have it}, of inits and splits."""
    found = collections.defaultdict(set)
    for each in ranks:
        for line in each.lines:
            if "init" in line and line["communicator"]:
                found[line["communicator"]].add(each.rank)
    return {communicator: sorted(members) for communicator, members in found.items()}


def stacks_of(rank):
    """{tid: ([time], [open lines just after it])}, of ranges and calls; a group's calls are kept with its start."""
    found, stacks = collections.defaultdict(lambda: ([], [])), collections.defaultdict(list)
    for line in rank.of("nvtx_push", "nvtx_pop", "nccl_call"):
        stack = stacks[line["tid"]]
        if line["kind"] == "nvtx_pop":
            at = max((i for i, each in enumerate(stack) if each["domain"] == line["domain"]), default=None)
            del stack[at:at + 1 if at is not None else 0]
        else:
            stack.append(line)
        times, open_lines = found[line["tid"]]
        times.append(line["time"])
        open_lines.append(list(stack))
    return found


def calls_at(stacks, tid, time):
    """The NCCL call that is open then, as a list."""
    times, open_lines = stacks[tid]
    at = bisect.bisect_right(times, time) - 1
    return [line for line in open_lines[at] if line["kind"] == "nccl_call"] if at >= 0 else []


def launches_of(rank):
    return {line["correlation"]: line for line in rank.of("driver", "runtime") if "Launch" in line["name"]}


def message(kernel, call, groups):
    """What PyTorch's profiler would say of an all-reduce."""
    name, size = next(TYPES[word] for word in kernel["name"].split("_") if word in TYPES)
    members = groups[call["communicator"]]
    return ("allreduce", call["bytes"] // size, call["bytes"] // size, len(members), name,
            f"0x{int(str(call['communicator']), 0):016x}", str(members))


def wanted(rank, groups):
    """Counter of (correlation, what the kernel has to say, or None where its call is not certain)."""
    found, stacks, launches, captured = collections.Counter(), stacks_of(rank), launches_of(rank), rank.captured()
    for kernel in (line for line in rank.of("kernel") if "nccl" in line["name"]):
        if kernel.get("graph_node"):
            node = captured[captured[kernel["graph_node"]][0] or kernel["graph_node"]]
            calls = [node[2]] if node[2] else []
        else:
            launch = launches[kernel["correlation"]]
            calls = calls_at(stacks, launch["tid"], launch["start"])
        found[kernel["correlation"], message(kernel, calls[0], groups) if calls else None] += 1
    return found


def said(events):
    found = collections.Counter()
    for event in (each for each in events if each.get("cat") == "kernel" and "nccl" in each["name"]):
        values = tuple(event["args"].get(key) for key in SAID)
        found[event["args"]["correlation"], values if any(value is not None for value in values) else None] += 1
    return found


def check_filtered(options, name, folder, rank, should):
    """What is said of a kernel does not depend on which other events are drawn."""
    out = os.path.join(folder, "filtered")
    run([options.tracetool, "export", "--kineto", "--min-dur", "10us", os.path.join(folder, "traces"), "-o", out])
    have = said(load(os.path.join(out, f"rank{rank.rank}.pt.trace.json.gz"))[1])
    check(have and not have - should, f"{name}: rank {rank.rank}: {have.total()} kernels of 10 us or more say the same",
          lambda: first((have - should).items(), 3))


def check_training(options, name, folder):
    os.mkdir(folder)
    done = truth.train(options, folder, "--ranks", RANKS, "--steps", STEPS, *TRAININGS[name])
    out = os.path.join(folder, "profiles")
    result = run([options.tracetool, "export", "--kineto", os.path.join(folder, "traces"), "-o", out])
    if not check(done.returncode == result.returncode == 0, f"{name}: recorded and exported", done.stderr + result.stderr):
        return
    ranks = truth.load(os.path.join(folder, "truth"))
    groups = groups_of(ranks)
    for rank in ranks:
        header, events = load(os.path.join(out, f"rank{rank.rank}.pt.trace.json.gz"))
        have, should = said(events), wanted(rank, groups)
        sure = sum(count for (_, values), count in should.items() if values)
        check(sure > 0 and have == should, f"{name}: rank {rank.rank}: {sure} of {should.total()} kernels have their call",
              lambda: f"only said {first((have - should).items(), 3)}, only true {first((should - have).items(), 3)}")
        check_filtered(options, name, folder, rank, should)
        listed = {each["pg_name"]: each.get("ranks") for each in header["distributedInfo"]["pg_config"]}
        mine = {f"0x{int(str(key), 0):016x}": members for key, members in groups.items() if rank.rank in members}
        check(listed == mine, f"{name}: rank {rank.rank}: its groups are {mine}", listed)


def main():
    options = arguments("agent", "simulated", "tracetool")
    with Folder() as folder:
        for name in TRAININGS:
            check_training(options, name, os.path.join(folder, name))
    finish()


main()
