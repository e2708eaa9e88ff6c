#!/usr/bin/env python3
"""Collectives over ranks in Perfetto's own reader (trace_processor v58 or newer), of JSON and of the native form: waits and
transfers on the tracks of communicators add up to those of `analyze --only collectives`, a flow joins the last rank's kernel
and each of the others' (Perfetto turns it to lead from the one that starts first), and choices (--ranks, --time, --no-computed, --max-size) hold.

  test_collective_exports.py --tracetool PATH --traces FOLDER --processor PATH [--agent PATH --simulated PATH]

Exit 77 where there is no such trace_processor; the environment's TRACE_PROCESSOR may name another one.
"""
import argparse
import collections
import csv
import glob
import io
import json
import os

from harness import Folder, check, finish, first, run
from perfetto_reader import text
from test_perfetto import find

FORMS = {"JSON": ["--perfetto", ".json.gz"], "native": ["--pftrace", ".pftrace"]}
REAL = ("modded-nanogpt-8xh100", "dlrm-8xv100", "sampled-2of128")
PART, ORDINAL, GROUP, LAST = (f"coalesce(extract_arg(slice.arg_set_id, 'args.{key}'), extract_arg(slice.arg_set_id, 'debug.{key}'))"
                              for key in ("part", "ordinal", "communicator", "last rank"))
OWNER = "coalesce(thread.upid, process_track.upid)"
JOINED = """left join thread_track on {0}.track_id = thread_track.id left join thread using (utid)
            left join process_track on {0}.track_id = process_track.id"""
RANK = "(select name from process where upid = coalesce({0}.upid, {1}.upid))"
ASKED = [
    "select 'error', name, value from stats where severity in ('error', 'data_loss') and value > 0",
    f"""select 'part', {RANK.format('thread', 'process_track')}, {PART}, {GROUP}, {ORDINAL}, {LAST}, slice.ts, slice.dur,
        {text('coalesce(thread.name, process_track.name)')}
        from slice {JOINED.format('slice')} where {PART} in ('wait', 'transfer')""",
    f"""select 'flow', {RANK.format('t1', 'p1')}, {RANK.format('t2', 'p2')}, a.ts, b.ts, a.dur, {text('a.name')}, {text('b.name')}
        from flow join slice a on a.id = slice_out join slice b on b.id = slice_in
        left join thread_track tt1 on a.track_id = tt1.id left join thread t1 on t1.utid = tt1.utid left join process_track p1 on a.track_id = p1.id
        left join thread_track tt2 on b.track_id = tt2.id left join thread t2 on t2.utid = tt2.utid left join process_track p2 on b.track_id = p2.id
        where {RANK.format('t1', 'p1')} != {RANK.format('t2', 'p2')}""",
]


def rank_of(process):
    return int(process.split()[1])


class Drawn:
    def __init__(self, options, path):
        result = run([options.processor, "query", path, ";\n".join(ASKED)], timeout=300)
        check(result.returncode == 0, f"trace_processor reads {os.path.basename(path)}", result.stderr[-500:])
        rows = [row for row in csv.reader(io.StringIO(result.stdout)) if row and not row[0].startswith("'")]
        self.errors = [row for row in rows if row[0] == "error"]
        self.waits, self.transfers = collections.Counter(), collections.Counter()  # by rank, communicator, ordinal
        self.last, self.tracks, self.parts = {}, collections.defaultdict(set), 0
        for _, process, part, group, ordinal, last, _, duration, track in (row for row in rows if row[0] == "part"):
            key = rank_of(process), group, int(ordinal)
            (self.waits if part == "wait" else self.transfers)[key] += int(duration)
            self.last[key[1:]] = int(last)
            self.tracks[key[0]].add(track)
            self.parts += 1
        self.flows = [(rank_of(a), rank_of(b), int(at), int(start), int(length), one, other)
                      for _, a, b, at, start, length, one, other in (row for row in rows if row[0] == "flow")]


def export(options, source, output, *more):
    result = run([options.tracetool, "export", *source, "-o", output, "--json", *more], timeout=300)
    check(result.returncode == 0, f"export {' '.join(more)}", result.stderr)
    return json.loads(result.stdout)


def truth(options, source, ranks=None):
    """Waits of each rank and the longest transfer of each collective that has one, by communicator and ordinal."""
    result = run([options.tracetool, "analyze", *source, "--only", "collectives", "--format", "json"], timeout=300)
    rows = [row for row in json.loads(result.stdout)["collectives"] if row["transfer_ns"] is not None]
    waits, transfers, last = collections.Counter(), {}, {}
    for row in rows:
        key = (row["communicator"] or "", row["ordinal"])
        transfers[key], last[key] = row["transfer_ns"], row["last_rank"]
        for wait in row["waits"]:
            if wait["wait_ns"] > 0 and (ranks is None or wait["rank"] in ranks):
                waits[wait["rank"], *key] += wait["wait_ns"]
    return waits, transfers, last


def longest(transfers):
    found = {}
    for (_, *key), ns in transfers.items():
        found[tuple(key)] = max(found.get(tuple(key), 0), ns)
    return found


def check_form(options, name, source, form, ending, work):
    waits, transfers, last = truth(options, source)
    what, path = f"{name}, {form}", f"{work}/whole{ending}"
    said = export(options, source, path, FORMS[form][0], "--max-size", "0")
    drawn = Drawn(options, path)
    check(not drawn.errors, f"{what}: no error and no loss of data", drawn.errors)
    check(drawn.waits == waits, f"{what}: {len(waits)} waits, together {sum(waits.values())} ns, as analyze says",
          lambda: f"{sum(drawn.waits.values())} ns, {first((drawn.waits - waits).items(), 3)}")
    check(longest(drawn.transfers) == transfers, f"{what}: transfers of {len(transfers)} collectives, together {sum(transfers.values())} ns",
          lambda: first(set(longest(drawn.transfers).items()) ^ set(transfers.items()), 3))
    check(drawn.last == last, f"{what}: each names its last rank", lambda: first(drawn.last.items() ^ last.items(), 3))
    check(len(drawn.flows) == said["collective_flows"], f"{what}: {said['collective_flows']} flows between ranks", len(drawn.flows))
    apart = [flow for flow in drawn.flows if not flow[2] <= flow[3] < flow[2] + flow[4]]
    check(not apart, f"{what}: of the last to start and what runs then", first(apart, 3))
    strange = [flow for flow in drawn.flows if "nccl" not in flow[5] or "nccl" not in flow[6]]
    check(not strange, f"{what}: from kernels of NCCL to others", first(strange, 3))
    result = run([options.tracetool, "analyze", *source, "--only", "collectives", "--format", "json"], timeout=300)
    others = collections.Counter()
    for row in json.loads(result.stdout)["collectives"]:
        if row["last_rank"] is not None:
            others[row["last_rank"]] += row["ranks"] - 1
    have = collections.Counter(flow[1] for flow in drawn.flows)
    ties = any(flow[2] == flow[3] for flow in drawn.flows)
    check(have.total() + said["unjoined_calls"] == others.total() and (ties or said["unjoined_calls"] or have == others),
          f"{what}: of each last rank with all others", lambda: f"{have}, {others}, {said['unjoined_calls']}")
    return said, drawn


def check_choices(options, name, source, form, ending, work):
    flag = FORMS[form][0]
    path = f"{work}/some{ending}"
    said = export(options, source, path, flag, "--no-computed", "--max-size", "0")
    drawn = Drawn(options, path)
    check(drawn.parts == len(drawn.flows) == said["collective_flows"] == said["computed_slices"] == 0, f"{name}, {form}: --no-computed leaves them out")
    said = export(options, source, path, flag, "--ranks", "0,1", "--max-size", "0")
    drawn = Drawn(options, path)
    waits, _, _ = truth(options, source, (0, 1))
    check(drawn.waits == waits and set(drawn.tracks) <= {0, 1}, f"{name}, {form}: --ranks 0,1 has waits of these, for any")
    check(len(drawn.flows) == said["collective_flows"] and all(flow[0] in (0, 1) and flow[1] in (0, 1) for flow in drawn.flows),
          f"{name}, {form}: --ranks 0,1: {said['collective_flows']} flows between these, {said['unjoined_calls']} kernels without one")


def check_parts(options, name, source, work):
    """In segments the parts of slices add up, and so do flows with those that are cut."""
    os.makedirs(f"{work}/segments")
    whole = export(options, source, f"{work}/segments/whole.json", "--perfetto", "--max-size", "0")
    size = os.path.getsize(f"{work}/segments/whole.json")
    os.remove(f"{work}/segments/whole.json")
    said = export(options, source, f"{work}/segments/run.json", "--perfetto", "--max-size", str(size // 3))
    paths = sorted(glob.glob(f"{work}/segments/run.segment*.json"))
    waits, transfers = collections.Counter(), collections.Counter()
    flows = 0
    for path in paths:
        drawn = Drawn(options, path)
        check(not drawn.errors, f"{name}: {os.path.basename(path)} has no error", drawn.errors)
        waits.update(drawn.waits), transfers.update(drawn.transfers)
        flows += len(drawn.flows)
    true_waits, true_transfers, _ = truth(options, source)
    check(len(paths) > 2 and waits == true_waits and longest(transfers) == true_transfers, f"{name}: {len(paths)} segments have all waits and transfers")
    check(flows == said["collective_flows"] and flows + said["unjoined_calls"] == whole["collective_flows"] + whole["unjoined_calls"],
          f"{name}: {flows} flows in segments, of {whole['collective_flows']}")


def check_source(options, name, source, work):
    for form, (_, ending) in FORMS.items():
        said, drawn = check_form(options, name, source, form, ending, work)
        if said["collective_flows"] > 0:
            check_choices(options, name, source, form, ending, work)
    return said, drawn


def main():
    parser = argparse.ArgumentParser()
    for name in ("tracetool", "traces", "processor", "agent", "simulated"):
        parser.add_argument("--" + name, required=name in ("tracetool", "traces", "processor"), type=os.path.abspath)
    options = parser.parse_args()
    options.processor = find(options.processor, os.environ.get("TRACE_PROCESSOR"))
    if options.simulated:
        with Folder() as work:
            result = run([options.simulated, "--agent", options.agent, "--dir", f"{work}/traces", "--ranks", "4", "--steps", "4", "--hosts", "2",
                          "--clock-offset-us", "5000", "--straggler", "2"])
            check(result.returncode == 0, "a simulated run is recorded", result.stderr)
            said, drawn = check_source(options, "simulated", [f"{work}/traces"], work)
            check(said["collective_flows"] > 0 and drawn.parts > 0, "simulated: there are some")
            check_parts(options, "simulated", [f"{work}/traces"], work)
    for name in REAL:
        source = sorted(glob.glob(f"{options.traces}/{name}/*.json*"))
        if not source:
            print(f"left out: {name}, which is not in {options.traces}")
            continue
        with Folder() as work:
            said, drawn = check_source(options, name, source, work)
            if name == REAL[0]:
                check(said["collective_flows"] == 76 * 7, "one flow for each of the 7 others in 76 collectives", said["collective_flows"])
                check(all(len(tracks) == 1 for tracks in drawn.tracks.values()) and len(drawn.tracks) == 8, "a track on each of 8 ranks", drawn.tracks)
            if name == "sampled-2of128":
                check(said["collective_flows"] == drawn.parts == 0, "what cannot be matched is not joined", said)
    finish()


if __name__ == "__main__":
    main()
