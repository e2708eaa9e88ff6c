"""graphs: what a node costs where each node is recorded and where a launch is one record; whether a node knows its capture;
and whether the memory of the GPU or of the process grows with the records (parcagpu#23: about 40 bytes of the GPU each)."""
import json
import os
import statistics

import build
import measure
import recording
from places import PROGRAMS
from recording import events

NODES = 64
LEVELS = {"without": None, "each node": "default", "whole launches": "default,graph_launch"}
REST_SHARE = 0.6  # of the part's time: no more rounds then than are needed
MOST_GROWTH_BYTES = 32 << 20  # of 5 million records, where parcagpu#23 took 200 MB


def run(part):
    program = build.program(part, "graphs")
    part.attempt("cost of a node", levels, program)
    part.attempt("attribution", attribution, program)
    part.attempt("memory", memory, program)
    part.attempt("NCCL in a capture", attribution_of_nccl)


def graphs(part, program, name, launches, samples, events, timeout=240):
    """(what the program says it did, Recorded or None)"""
    settings = {"TRACETOOL_EVENTS": events, "TRACETOOL_BUFFER": "32M"} if events else {}
    recorded = recording.run(part, name, [program, launches, NODES, samples], events is not None, timeout, **settings)
    if recorded.done.returncode != 0:
        raise RuntimeError(f"graphs, {name}: {recorded.done.stderr[-500:]}")
    return json.loads(recorded.done.stdout), recorded if events else None


def levels(part, program):
    rounds, launches = (2, 60) if part.simulate else (7, 2000)
    found = measure.interleaved(LEVELS, rounds, lambda level: timed(part, program, level, launches),
                                lambda: part.left_s() > REST_SHARE * part.limit_s)
    for what, key in (("in the call", "call_ns"), ("until it is done", "all_ns")):
        samples = {level: [statistics.median(done[key]) for done in runs] for level, runs in found.items()}
        for level in LEVELS:
            part.samples(f"a node {what}, {level}", samples[level], "ns")
        for level in list(LEVELS)[1:]:
            part.ratio(f"a node {what}: {level} / without", samples[level], samples["without"])


def timed(part, program, level, launches):
    done, recorded = graphs(part, program, level.replace(" ", "_"), launches, 10, LEVELS[level])
    if recorded:
        recorded.discard()
    return done


def attribution(part, program):
    launches = 20
    _, recorded = graphs(part, program, "nodes", launches, 1, "default")
    found = recorded.recordings()
    kernels = events(found, "kernel", "kernel_wide")
    part.check(len(kernels) == launches * NODES, "each node of each launch is recorded",
               f"{len(kernels)} of {launches * NODES}")
    part.check(len({kernel.graph_node for kernel in kernels}) == NODES, "by the number of its node")
    origins = {node: found[0].captured(node) for node in {kernel.graph_node for kernel in kernels}}
    unknown = [node for node, origin in origins.items() if origin is None or origin.range != "capture"]
    part.check(not unknown, "each node knows the range of its capture", f"{len(unknown)} of {len(origins)} do not")
    _, recorded = graphs(part, program, "whole", launches, 1, "default,graph_launch")
    found = recorded.recordings()
    whole, kernels = len(events(found, "graph_launch")), len(events(found, "kernel", "kernel_wide"))
    part.check(whole == launches, "with graph_launch each launch is one record", whole)
    part.check(kernels == 0, "and its nodes have none", kernels)


def nccl_command(part):
    """A program that captures collectives; None where there is none."""
    if part.simulate:
        program = os.path.join(os.path.dirname(part.places.standins), "simulated_training")
        return [program, "--agent", part.places.agent, "--dir", "traces", "--ranks", 2, "--steps", 6, "--graphs"]
    torch = part.machine.torch
    usable = torch and torch["gpu"] and torch["nccl"]
    return [part.machine.python, os.path.join(PROGRAMS, "captured_nccl.py")] if usable else None


def attribution_of_nccl(part):
    command = nccl_command(part)
    if command is None:
        part.note("NCCL in a capture was left out: no torch with NCCL")
        return
    recorded = recording.run(part, "nccl", command, SIM_DEVICES=None)
    if not part.check(recorded.done.returncode == 0, "the program that captures collectives ends with 0",
                      recorded.done.stderr[-500:]):
        return
    found = recorded.recordings()
    origins = [each.captured(kernel.graph_node) for each in found for kernel in events([each], "kernel_wide")
               if kernel.graph and "nccl" in kernel.shape.name.lower()]
    known = [origin for origin in origins if origin and origin.nccl_name]
    part.check(origins and len(known) == len(origins), "each captured kernel of NCCL knows the call of its capture",
               f"{len(known)} of {len(origins)} in {len(found)} recordings: {sorted({origin.nccl_name for origin in known})}")
    part.check(all(origin.bytes for origin in known), "with its bytes", {origin.bytes for origin in known})


def memory(part, program):
    records = 60_000 if part.simulate else 5_000_000
    done, recorded = graphs(part, program, "memory", records // NODES, 50, "default", timeout=400)
    found = recorded.recordings()[0]
    total = sum((found.kept + found.overwritten + found.lost)[kind] for kind in ("kernel", "kernel_wide"))
    part.check(total == done["nodes"] * done["launches"], "every node is recorded, overwritten or counted as lost",
               f"{total} of {done['nodes'] * done['launches']}")
    part.check(found.header["invalid_timestamps"] == 0 and found.dropped == 0, "no time is odd, CUPTI dropped nothing",
               f"{found.header['invalid_timestamps']} odd, {found.dropped} dropped")
    bare, _ = graphs(part, program, "memory_without", records // NODES // 10, 50, None)
    for what, column in (("GPU", 1), ("process", 2)):
        report_growth(part, what, [(sample[0], sample[column]) for sample in done["memory"]])
        base, most = (max(sample[column] for sample in each["memory"]) for each in (bare, done))
        part.figure(f"{what}: memory in use at most, beyond without", most - base, "bytes")


def report_growth(part, what, points):
    """From the second tenth on: the first fills pools."""
    later = points[len(points) // 10:]
    part.check(min(value for _, value in later) >= 0, f"{what}: its memory could be read", later[:3])
    grown = later[-1][1] - later[0][1]
    part.figure(f"{what}: growth over {later[-1][0] - later[0][0]:,} node records", grown, "bytes")
    part.figure(f"{what}: growth of memory for each node record", measure.slope(later), "bytes")
    part.check(grown <= MOST_GROWTH_BYTES, f"{what}: no memory is taken with the records", f"{grown} bytes")
