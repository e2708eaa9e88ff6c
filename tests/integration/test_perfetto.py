#!/usr/bin/env python3
"""The exports in trace_processor v58 or newer, the code that ui.perfetto.dev runs: of every form it takes every slice,
flow and counter value at its time, and has no error and no loss of data to report. What a file should hold is what
pftrace.py decodes from the native form, which the counts of the input and those that `export --json` prints confirm.

  test_perfetto.py --tracetool PATH --traces FOLDER --processor PATH [--agent PATH --simulated PATH]

Exit 77 where there is no such trace_processor; the environment's TRACE_PROCESSOR may name another one.
"""
import argparse
import collections
import glob
import json
import math
import os
import re
import tarfile

import pftrace
from harness import Folder, check, finish, first, run, skip
from perfetto_reader import Reading, Slice, Unreadable, in_order, why_not
from pftrace_compare import check_counts

# Name, options of export, ending of the file. Of large inputs only the first of each: the others differ in what is around
# the same bytes.
NATIVE = [("deflate", [], ".pftrace"), ("zstd", ["--compress", "zstd"], ".pftrace"), ("none", ["--compress", "none"], ".pftrace"),
          ("gzip", [], ".pftrace.gz")]
MANIFEST = [("manifest", []), ("manifest, zstd", ["--compress", "zstd"])]
JSON = [("JSON", ["--perfetto"], ".json.gz"), ("JSON, plain", ["--perfetto"], ".json")]
JSON_MANIFEST = [("JSON manifest", ["--perfetto", "--manifest"], ".tar.gz"), ("JSON manifest, plain", ["--perfetto", "--manifest"], ".tar")]
LARGE = "H100"
REAL = {
    LARGE: "modded-nanogpt-8xh100/rank[01]-*",
    "MTIA": "odd/mtia_inference_rank_0.json.gz",
    "counters": "odd/no-kernels-cupti-counters.json.gz",
    "CUDA graph": "single/vllm-decode-cuda-graph.json.gz",
}


class Truth:
    """A Reading's content as pftrace.py decodes it from native files, of one export."""

    def __init__(self, paths):
        self.traces = [pftrace.Trace().read(path) for path in paths]
        self.slices, self.flows, self.counters, self.stages = (collections.Counter() for _ in range(4))
        for trace in self.traces:
            self.add(trace)

    def add(self, trace):
        process = {uuid: trace.process_of(t).name for uuid, t in trace.tracks.items() if uuid}
        of_pid = {t.process[1]: t.name for t in trace.tracks.values() if t.process}
        made = {id(s): Slice(of_pid[s.gpu[2]] if s.gpu else process[s.track.uuid], s.name, s.start, s.duration)
                for s in trace.slices}
        self.slices.update(made.values())
        self.slices.update(Slice(process[track.uuid], name, time, 0) for track, name, time, _ in trace.instants)
        self.flows.update(in_order(made[id(a)], made[id(b)]) for a, b in trace.arrows())
        self.counters.update((process[track.uuid], time, value) for track, time, value in trace.counters)
        for s in trace.slices:
            if s.gpu:
                self.stages[of_pid[s.gpu[2]], trace.gpus[s.gpu[0]][1], s.gpu[1], s.name, s.start, s.duration] += 1

    def on_streams(self):
        """GPU work of a file without render stages: its process, stream without the lane, name, start, duration."""
        return collections.Counter(
            (trace.process_of(s).name, re.sub(r" \(\d+\)$", "", s.track.name), s.name, s.start, s.duration)
            for trace in self.traces for s in trace.slices if s.category in pftrace.GPU_WORK)


def export(options, source, output, *more):
    """What `export --json` says, or None."""
    result = run([options.tracetool, "export", source, "-o", output, "--json", *more], timeout=300)
    if not check(result.returncode == 0, f"export {' '.join(more)} of {os.path.basename(source)}", result.stderr):
        return None
    return json.loads(result.stdout)


def read(options, name, path):
    try:
        reading = Reading(options.processor, path)
    except Unreadable as error:
        check(False, f"{name}: trace_processor reads it", error)
        return None
    check(not reading.errors, f"{name}: no error and no loss of data", reading.errors)
    return reading


def differences(have, should):
    return lambda: f"only in Perfetto {first((have - should).items(), 3)}, only in the file {first((should - have).items(), 3)}"


def same_values(have, should):
    """JSON rounds the values of counters."""
    pairs = zip(sorted(have.elements()), sorted(should.elements()))
    return have.total() == should.total() and all(a[:2] == b[:2] and math.isclose(a[2], b[2], rel_tol=1e-4) for a, b in pairs)


def check_said(name, reading, said):
    have = reading.slices.total(), reading.flows.total(), reading.counters.total()
    should = (said["slices"] + said["instants"] + said["computed_slices"], said["flows"] + said["collective_flows"],
              said["counter_values"] + said["computed_values"])
    check(have == should, "{}: {} slices, {} flows, {} counter values as export said".format(name, *should), have)


def check_reading(name, reading, said, truth, ranks, offset_ns=0, between_ranks=True):
    """`offset_ns`: of the times of `truth` before those of the file. `between_ranks`: it has flows from one to another."""
    check_said(name, reading, said)
    moved = lambda s: s._replace(start=s.start - offset_ns)
    slices = collections.Counter({moved(s): n for s, n in truth.slices.items()})
    flows = collections.Counter({(moved(a), moved(b)): n for (a, b), n in truth.flows.items()
                                 if between_ranks or a.process == b.process})
    counters = collections.Counter({(process, ns - offset_ns, value): n for (process, ns, value), n in truth.counters.items()})
    check(reading.slices == slices, f"{name}: each slice in its process, at its time", differences(reading.slices, slices))
    check(reading.flows == flows, f"{name}: each flow joins its slices", differences(reading.flows, flows))
    check(same_values(reading.counters, counters), f"{name}: each counter value in its process, at its time",
          differences(reading.counters, counters))
    have = [int(found[1]) for found in (re.match(r"rank (\d+)\b", process) for process in reading.processes) if found]
    check(have == ranks, f"{name}: processes in the order of ranks", have)


def check_stages(name, reading, truth, plain):
    """`plain`: Truth of the same without --gpu-tracks."""
    check(truth.stages and reading.stages == truth.stages, f"{name}: render stages on the queues of their GPUs",
          differences(reading.stages, truth.stages))
    streams = collections.Counter()
    for (process, _, queue, *rest), number in reading.stages.items():
        streams[(process, queue, *rest)] += number
    foreign = {(process, gpu) for process, gpu, *_ in reading.stages if process.split()[:2] != gpu.split()[:2]}
    check(not foreign, f"{name}: they are on GPUs of their ranks", foreign)
    check(streams == plain.on_streams(), f"{name}: they are the GPU work on each stream",
          differences(streams, plain.on_streams()))


def members(path, folder):
    """The native files of a TAR."""
    os.makedirs(folder, exist_ok=True)
    with tarfile.open(path) as tar:
        for name in tar.getnames():
            if name.endswith(".pftrace"):
                with open(f"{folder}/{name}", "wb") as file:
                    file.write(tar.extractfile(name).read())
                yield f"{folder}/{name}"


def some(forms, name):
    return forms[:1] if name == LARGE else forms


def check_manifest(options, name, source, work, ranks, hosts, plain):
    staged = [("manifest, --gpu-tracks", ["--gpu-tracks"])] if plain.on_streams() else []
    for form, more in some(MANIFEST, name) + staged:
        what, path = f"{name}, {form}", f"{work}/m.tar"
        said = export(options, source, path, "--manifest", *more)
        reading = said and read(options, what, path)
        if not reading:
            continue
        truth = Truth(members(path, f"{work}/members"))
        check_reading(what, reading, said, truth, ranks)
        check(list(reading.processes.values()) == hosts, f"{what}: each rank is of its host", reading.processes)
        if "--gpu-tracks" in more:
            check_stages(what, reading, truth, plain)


def check_native(options, name, source, work, ranks):
    """Returns the Truth."""
    plain = None
    for form, more, ending in some(NATIVE, name):
        what, path = f"{name}, {form}", f"{work}/n{ending}"
        said = export(options, source, path, "--pftrace", *more)
        if plain is None:
            plain = Truth([path])
        reading = said and read(options, what, path)
        if reading:
            check_reading(what, reading, said, plain, ranks)
    if plain.on_streams():
        what, path = f"{name}, --gpu-tracks", f"{work}/g.pftrace"
        said = export(options, source, path, "--pftrace", "--gpu-tracks")
        reading = said and read(options, what, path)
        if reading:
            truth = Truth([path])
            check_reading(what, reading, said, truth, ranks)
            check_stages(what, reading, truth, plain)
    return plain


def check_json(options, name, source, work, ranks, hosts, plain):
    """Its times count from the first event, or from what was lost before."""
    base = f"{work}/base.json"
    if export(options, source, base, "--perfetto", "--max-size", "0") is None:
        return
    with open(base, encoding="utf-8") as file:
        offset_ns = json.load(file)["baseTimeNanoseconds"]
    for form, more, ending in some(JSON, name) + some(JSON_MANIFEST, name):
        what, path = f"{name}, {form}", f"{work}/j{ending}"
        said = export(options, source, path, *more)
        reading = said and read(options, what, path)
        if not reading:
            continue
        check_reading(what, reading, said, plain, ranks, offset_ns, "--manifest" not in more)
        if "--manifest" in more:
            check(list(reading.processes.values()) == hosts, f"{what}: each rank is of its host", reading.processes)


def check_input(options, name, inputs, work):
    """Returns the Truth and what `info --json` says of the ranks."""
    source = f"{work}/m.ttrace"
    result = run([options.tracetool, "merge", *inputs, "-o", source], timeout=300)
    check(result.returncode == 0, f"{name}: merged", result.stderr)
    told = sorted(json.loads(run([options.tracetool, "info", "--json", source]).stdout)["ranks"], key=lambda r: r["rank"])
    ranks, hosts = [r["rank"] for r in told if r["rank"] is not None], [r["host"] or None for r in told]
    plain = check_native(options, name, source, work, ranks)
    check_manifest(options, name, source, work, ranks, hosts, plain)
    check_json(options, name, source, work, ranks, hosts, plain)
    return plain, told


def simulated(options, work):
    """Two hosts, whose clocks differ, and CUDA graphs."""
    result = run([options.simulated, "--agent", options.agent, "--dir", f"{work}/traces", "--ranks", "4", "--steps", "4",
                  "--hosts", "2", "--clock-offset-us", "5000", "--graphs"])
    check(result.returncode == 0, "a simulated run is recorded", result.stderr)
    plain, told = check_input(options, "simulated", [f"{work}/traces"], work)
    have = collections.Counter((plain.traces[0].rank_of(s), s.category) for s in plain.traces[0].slices)
    for rank in told:
        for kind, category in (("kernel", "kernel"), ("memcpy", "gpu_memcpy"), ("runtime", "cuda_runtime"), ("nccl", "nccl")):
            check(have[rank["rank"], category] == rank["counts"][kind] > 0,
                  f"simulated: rank {rank['rank']} has its {kind} events", have[rank["rank"], category])


def find(*programs):
    """The first that can be used."""
    reasons = {program: why_not(program) for program in programs if program}
    for program, reason in reasons.items():
        if reason is None:
            return program
    return skip("no trace_processor of Perfetto v58 or newer: " + "; ".join(reasons.values()))


def main():
    parser = argparse.ArgumentParser()
    for name in ("tracetool", "traces", "processor", "agent", "simulated"):
        parser.add_argument("--" + name, required=name in ("tracetool", "traces", "processor"), type=os.path.abspath)
    options = parser.parse_args()
    options.processor = find(options.processor, os.environ.get("TRACE_PROCESSOR"))
    if options.simulated:
        with Folder() as work:
            simulated(options, work)
    for name, pattern in REAL.items():
        inputs = sorted(glob.glob(f"{options.traces}/{pattern}"))
        if not inputs:
            print(f"left out: {pattern}, which is not in {options.traces}")
            continue
        with Folder() as work:
            plain, _ = check_input(options, name, inputs, work)
            check_counts(options, name, inputs, plain.traces[0])
    finish()


if __name__ == "__main__":
    main()
