#!/usr/bin/env python3
"""TRACETOOL_EVENTS: each choice records what it names and nothing else, and the header says how it was understood."""
import os
import sys

from compare import kind_of
from harness import Folder, arguments, check, files_below, finish, first, run
from truth import AGENTS_OWN

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples"))
import read_recording  # noqa: E402  (after the path)

EVERYTHING = ("--graphs", "--groups", "--nvtx", "--memory")
WORK = {"kernel", "memcpy", "memcpy_peer", "memset"}
NVTX = {"nvtx_push", "nvtx_pop", "nvtx_start", "nvtx_end", "nvtx_mark"}
LIGHT = WORK | NVTX | {"nccl_call"}
DEFAULT = LIGHT | {"runtime", "driver", "sync", "cuda_event", "overhead"}
ALL = DEFAULT | {"memory", "memory_pool"}
# What is asked for: (as the header says it, the kinds of events that are recorded)
CHOICES = {
    "light": ("light", LIGHT),
    "default": ("default", DEFAULT),
    "all": ("all", ALL),
    "light,runtime": ("light,runtime", LIGHT | {"runtime"}),
    "-overhead,+memory": ("-overhead,+memory", DEFAULT - {"overhead"} | {"memory"}),
    "default,graph_launch": ("default,graph_launch", DEFAULT | {"graph_launch"}),
    "kernel,nccl": ("kernel,nccl", {"kernel", "nccl_call"}),
    "light,-nccl": ("light,-nccl", LIGHT - {"nccl_call"}),
    "light,-nvtx": ("light,-nvtx", WORK | {"nccl_call"}),
}


def record(args, *options, **environment):
    """(the only recording of a job of one rank, what it said)"""
    with Folder() as folder:
        done = run([args.simulated, "--ranks", "1", "--dir", folder, "--agent", args.agent, *options], **environment)
        check(done.returncode == 0, "the job ends well", done.stderr)
        rings = files_below(folder, ".ring")
        return (read_recording.read(rings[0]) if rings else None), done.stderr


def kinds(recording):
    """NCCL's own ranges are part of what NCCL tells."""
    return {"nccl_call" if getattr(event, "domain", None) == "NCCL" else kind_of(event.kind)
            for event in recording.events} - set(AGENTS_OWN)


def kernels_of_graphs(recording):
    return [e for e in recording.events if kind_of(e.kind) == "kernel" and e.graph_node]


def test_choices(args):
    for asked, (understood, expected) in CHOICES.items():
        recording, said = record(args, "--steps", "6", *EVERYTHING, TRACETOOL_EVENTS=asked)
        check("tracetool:" not in said, f"{asked}: nothing is said", said)
        check(recording.header["events"] == understood, f"{asked}: is {understood}", recording.header["events"])
        found = kinds(recording)
        check(found <= expected, f"{asked}: nothing else is recorded", found - expected)
        missing = expected - found - {"memcpy_peer", "nvtx_mark"}  # which this training may do without
        check(not missing, f"{asked}: all of it is recorded", missing)
        check(not recording.header["unknown_activities"], f"{asked}: CUPTI gave nothing else")
        check(bool(recording.contexts) == bool(recording.streams) == ("runtime" in expected and "light" not in asked),
              f"{asked}: contexts and streams come with default", (recording.contexts, recording.streams))
        check(bool(recording.devices) == (asked != "kernel,nccl"), f"{asked}: the devices", recording.devices)
        check(recording.header["cuda_driver_version"] >= 11_080, f"{asked}: the driver's version", recording.header)


def test_graphs(args):
    """Nodes lead to what was open at their capture, or whole launches take their place."""
    nodes, _ = record(args, "--steps", "6", "--graphs", TRACETOOL_EVENTS="light")
    of_graphs = kernels_of_graphs(nodes)
    check(of_graphs and all(nodes.captured(e.graph_node) for e in of_graphs), "light: nodes have their captures",
          lambda: first(of_graphs))
    launches, _ = record(args, "--steps", "6", "--graphs", TRACETOOL_EVENTS="graph_launch,default")
    check(not [e for e in launches.events if getattr(e, "graph_node", 0)], "graph_launch: no work of nodes")
    check(not launches.graph_nodes, "graph_launch: no nodes are defined", launches.graph_nodes)


def test_definitions_outlive_the_ring(args):
    """A graph that is captured once and replayed until the ring has been overwritten many times."""
    recording, _ = record(args, "--steps", "300", "--step-us", "100", "--graphs", TRACETOOL_BUFFER="256K")
    header = recording.header
    check(header["claimed_blocks"] > 3 * header["block_count"], "the ring was overwritten thrice", header)
    of_graphs = kernels_of_graphs(recording)
    unknown = [e for e in of_graphs if recording.captured(e.graph_node) is None]
    check(of_graphs and not unknown, "nodes still lead to their captures", lambda: first(unknown))
    check(recording.devices and recording.contexts and recording.streams, "the devices, contexts and streams are there")


def test_graphs_from_before(args):
    """CUPTI was another's while the graphs were captured."""
    recording, said = record(args, "--steps", "400", "--graphs", SIM_CUPTI_TAKEN_MS=1000)
    notices = [e for e in recording.events if e.kind == "notice" and e.code == "graphs_unknown"]
    check(len(notices) == 1, "graphs that were captured before are noticed, once", notices)
    check(recording.contexts and recording.streams, "contexts and streams that existed before are told", said)


def test_invalid_timestamps(args):
    recording, _ = record(args, "--steps", "6", SIM_CUPTI_BAD_TIMES=7, SIM_CUPTI_ZERO_TIMES=11)
    odd = [e for e in recording.events if kind_of(e.kind) in WORK | {"runtime", "driver", "sync", "overhead"}
           and not 0 < e.start <= e.end]
    check(len(odd) > 20 and recording.header["invalid_timestamps"] == len(odd), "invalid timestamps are kept and counted",
          (recording.header["invalid_timestamps"], len(odd)))


def test_refused(args):
    for bad in ("kernels", "graph_node,graph_launch", "", "kernel,,nvtx", "light default"):
        recording, said = record(args, "--steps", "2", TRACETOOL_EVENTS=bad)
        lines = [line for line in said.splitlines() if line.startswith("tracetool:")]
        named = all(part in said for part in (f"TRACETOOL_EVENTS={bad}", "(light, default, all, or kinds ", "record --help", "; using default"))
        check(len(lines) == 1 and named, f"{bad!r} is refused in one line with what is allowed and what is used", said)
        check(bad != "kernels" or ": kernels is not allowed" in said, f"{bad!r}: a word that is none is named", said)
        check(recording.header["events"] == "default", f"{bad!r}: the default is recorded", recording.header["events"])


def main():
    args = arguments("agent", "simulated")
    test_choices(args)
    test_graphs(args)
    test_definitions_outlive_the_ring(args)
    test_graphs_from_before(args)
    test_invalid_timestamps(args)
    test_refused(args)
    finish()


if __name__ == "__main__":
    main()
