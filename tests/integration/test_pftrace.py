#!/usr/bin/env python3
"""The native Perfetto export against independent readers: pftrace.py, which knows the protos alone; the JSON export of
the same trace, slice by slice and arrow by arrow; the counts of the input; and Perfetto's own trace_processor, where
TRACE_PROCESSOR names it or scripts/viewer has it.

  test_pftrace.py --tracetool PATH --traces FOLDER [--agent PATH --simulated PATH]
"""
import argparse
import collections
import json
import os

import pftrace
import trace_sets
from harness import Folder, check, finish, run
from pftrace_compare import check_against_json, check_computed, check_counts
from pftrace_made import check_forms, check_hostile, check_stage_flows, export
from pftrace_processor import check_processor, find_processor

# Of one job of each kind all is looked at: (--time of some copies).
WHOLE = {"modded-nanogpt-8xh100": "20ms-40ms", "job-ns": "2ms-5ms"}


def check_kineto(options, folder, work):
    for name, inputs in trace_sets.inputs(folder):
        merged = f"{work}/m.ttrace"
        run([options.tracetool, "merge", *inputs, "-o", merged], timeout=600)
        trace = export(options, [merged], f"{work}/t.pftrace")
        if trace is None:
            continue
        check_counts(options, name, inputs, trace)
        check(trace.compressed_chunks > 0, f"{name}: its packets are compressed")
        if name in WHOLE:
            check_against_json(options, name, [merged], trace, work)
            check_computed(options, f"{name} --kinds", [merged], work, "--kinds", "kernel", "--ranks", "3")
            check_computed(options, f"{name} --time", [merged], work, "--time", WHOLE[name], "--kinds", "memcpy")
            check_processor(name, f"{work}/t.pftrace", trace)
            check_gpu_tracks(options, name, inputs, merged, trace, work)


def check_gpu_tracks(options, name, inputs, merged, trace, work):
    staged = export(options, [merged], f"{work}/g.pftrace", "--gpu-tracks")
    if staged is None:
        return
    check_counts(options, f"{name} --gpu-tracks", inputs, staged)
    work_of = lambda t: collections.Counter((s.name, s.start, s.duration) for s in t.slices
                                            if s.gpu is not None or s.category in pftrace.GPU_WORK)
    check(work_of(staged) == work_of(trace), f"{name}: render stages are the kernels, copies and sets")
    check(len(staged.gpus) == 8, f"{name}: eight GPUs are described", staged.gpus)
    kernels = [s for s in staged.slices if s.gpu is not None and s.category == "kernel"]
    check(kernels and all(len(s.args["grid size"]) == 3 and len(s.args["workgroup size"]) == 3 for s in kernels),
          f"{name}: kernels have their launch shape")


def check_simulated(options, work):
    if not options.simulated:
        return
    result = run([options.simulated, "--agent", options.agent, "--dir", f"{work}/traces", "--ranks", "2", "--steps", "5"])
    check(result.returncode == 0, "a simulated run is recorded", result.stderr)
    trace = export(options, [f"{work}/traces"], f"{work}/s.pftrace")
    if trace is None:
        return
    ranks = json.loads(run([options.tracetool, "info", "--json", f"{work}/traces"]).stdout)["ranks"]
    check(all(rank["counts"]["kernel"] for rank in ranks), "simulated: every rank has kernels", ranks)
    have = collections.Counter((trace.rank_of(s), s.category) for s in trace.slices)
    for rank in ranks:
        for kind, category in (("kernel", "kernel"), ("memcpy", "gpu_memcpy"), ("memset", "gpu_memset"),
                               ("runtime", "cuda_runtime"), ("driver", "cuda_driver"), ("nccl", "nccl")):
            check(have[rank["rank"], category] == rank["counts"].get(kind, 0),
                  f"simulated: rank {rank['rank']} has its {kind} events", have[rank["rank"], category])
    check_against_json(options, "simulated", [f"{work}/traces"], trace, work)
    check_processor("simulated", f"{work}/s.pftrace", trace)


def check_overwritten(options, work):
    """What was lost lies before the first event of a rank."""
    if not options.simulated:
        return
    folder = f"{work}/overwritten"
    result = run([options.simulated, "--agent", options.agent, "--dir", folder, "--ranks", "2", "--steps", "12"],
                 TRACETOOL_BUFFER="256K")
    check(result.returncode == 0, "a simulated run with small rings is recorded", result.stderr)
    check_computed(options, "small rings", [folder], work)
    check_computed(options, "small rings --kinds", [folder], work, "--kinds", "memcpy")


def main():
    parser = argparse.ArgumentParser()
    for name in ("tracetool", "traces", "agent", "simulated"):
        parser.add_argument("--" + name, required=name in ("tracetool", "traces"), type=os.path.abspath)
    options = parser.parse_args()
    with Folder() as work:
        check_hostile(options, work)
        check_forms(options, work)
        check_stage_flows(options, work)
        check_simulated(options, work)
        check_overwritten(options, work)
        with trace_sets.folders(options.traces) as folders:
            for folder in folders:
                check_kineto(options, folder, work)
    if not find_processor():
        print("left out: Perfetto's own reader: TRACE_PROCESSOR names none, and scripts/viewer has none")
    finish()


if __name__ == "__main__":
    main()
