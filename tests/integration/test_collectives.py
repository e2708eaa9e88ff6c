#!/usr/bin/env python3
"""`tracetool analyze --only collectives,comm`: each collective is one over its ranks, against a slow program
(slow_collectives.py), to the nanosecond: on Kineto traces, from files and merged, and on simulated runs against their truth.

  test_collectives.py --tracetool PATH --traces DIR [--agent PATH --simulated PATH]
"""
import glob
import gzip
import json
import os
import statistics
from decimal import Decimal

import slow_collectives
import slow_tables
from harness import Folder, check, first, run
from test_analyze import FLOAT, analyze, run_checks, same, tables
from trace_sets import folders
from truth import load, train

AXIS_NS = 1000
CLOCK_NS = 50_000  # between clocks that are aligned by these collectives
MATCHED = {"modded-nanogpt-8xh100": 76, "dlrm-8xv100": 8}  # of the real sets, on every rank


def compared(said):
    """A row as the slow program has it."""
    return {**said, "length": said["end_ns"] - said["first_start_ns"]}


def check_rows(what, said, true):
    said = [compared(row) for row in said if row["state"] == "complete"]
    wrong = [(one, other) for one, other in zip(said, true) if not same(one, other)]
    check(len(said) == len(true) > 0 and not wrong, f"{what}: {len(true)} collectives as the slow program has them",
          lambda: f"{len(said)} rows, {first(wrong)}")


def notes(options, *words):
    return analyze(options, *words).stdout


def profile(rank, calls):
    """A profile of torch.profiler: of each call (start in us, operator's args, kernel's args) the operator and its kernel."""
    events = []
    for number, (start, op, kernel) in enumerate(calls, 1):
        same = {"External id": number, "dtype": "Float", "In msg nelems": 64, "Out msg nelems": 64, "Process Group Description": "mesh_pp"}
        events.append({"ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 100 + rank, "tid": 1, "ts": start - 5, "dur": 3, "args": {**same, **op}})
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernelExC", "pid": 100 + rank, "tid": 1, "ts": start - 4, "dur": 1,
                       "args": {"External id": number, "cbid": 430, "correlation": number}})
        events.append({"ph": "X", "cat": "kernel", "name": kernel["name"], "pid": 0, "tid": 20, "ts": start, "dur": 900 - start % 500,
                       "args": {**same, "device": 0, "context": 1, "stream": 20, "correlation": number, "grid": [1, 1, 1], "block": [512, 1, 1],
                                **{key: value for key, value in kernel.items() if key != "name"}}})
    return {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": 8}, "traceEvents": sorted(events, key=lambda e: e["cat"] != "cpu_op")}


def check_numbers(options, what, ranks, expected):
    """Too few to be matched by what fits. `expected`: operation, ordinal, ranks and state of each row."""
    with Folder() as folder:
        for rank, calls in ranks.items():
            with open(f"{folder}/rank{rank}.json", "w", encoding="utf-8") as file:
                json.dump(profile(rank, calls), file)
        run([options.tracetool, "merge", folder, "-o", f"{folder}/run.ttrace"])
        for form, read in (("files", [f"{folder}/rank{rank}.json" for rank in ranks]), ("merged", [f"{folder}/run.ttrace"])):
            rows = tables(options, *read, "--only", "collectives")["collectives"]
            have = sorted((row["op"], row["ordinal"], row["ranks"], row["state"]) for row in rows)
            check(have == sorted(expected), f"{what}, {form}", have)


def check_forms_of_numbers(options):
    """Numbers of collectives that stand at their operators; rank 1 was recorded from the third one on."""
    group = {"Collective name": "allreduce", "Group size": 2, "Process Group Name": "0", "Process Group Ranks": "[0, 1]"}
    kernel = {**group, "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"}
    types = ["TensorList", "Scalar", "", "Scalar", "", "ScalarList", "ScalarList", "Scalar", "Scalar", "Scalar"]
    inputs = lambda number: {"Input type": types, "Concrete Inputs": ["", str(number), "", "0", "", "[]", "[]", "0", "1", "2"]}
    forms = {"a number among an operator's inputs": inputs, "the Seq of an operator": lambda number: {"Seq": number}}
    for what, form in forms.items():
        ranks = {rank: [(1000 * number + 100 * rank, {**group, **form(40 + number)}, dict(kernel)) for number in range(1 + 2 * rank, 6)] for rank in (0, 1)}
        check_numbers(options, what, ranks, [("all_reduce", 41, 1, "missing_ranks"), ("all_reduce", 42, 1, "missing_ranks")] +
                      [("all_reduce", number, 2, "complete") for number in (43, 44, 45)])


def check_pairs(options):
    """Sends and receives of a group of two, whose ranks are 4 and 6 of the job: 4 sends twice, 6 answers once."""
    group = {"Group size": 2, "Process Group Name": "7", "Process Group Ranks": "[4, 6]"}

    def call(start, rank, sends, number):
        told = {**group, "Collective name": "send" if sends else "recv", ("Dst Rank" if sends else "Src Rank"): 1 if rank == 4 else 0, "Seq": number}
        return start + rank, dict(told), {**told, "name": "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)"}

    order = [(4, 1000), (4, 3000), (6, 5000)]  # who sends, and when
    ranks = {rank: [call(start, rank, rank == sender, number) for number, (sender, start) in enumerate(order, 1)] for rank in (4, 6)}
    check_numbers(options, "sends and receives of a group of two", ranks, [("send", number, 2, "complete") for number in (1, 2, 3)])
    del ranks[6][0]
    check_numbers(options, "of which one is missing", ranks, [("send", 1, 1, "missing_ranks"), ("send", 2, 2, "complete"), ("send", 3, 2, "complete")])


def check_job(options, name, files, is_real):
    events = {rank: slow_tables.read_json(path) for rank, path in enumerate(files)}
    true = slow_collectives.from_the_end({rank: slow_collectives.of_kineto(some) for rank, some in events.items()})
    if is_real:
        check(len(true) == MATCHED[name], f"{name}: {MATCHED[name]} collectives on every rank", len(true))
    with Folder() as folder:
        run([options.tracetool, "merge", *files, "-o", f"{folder}/run.ttrace"])
        for form, read in (("files", files), ("merged", [f"{folder}/run.ttrace"])):
            rows = tables(options, *read, "--only", "collectives")["collectives"]
            check_rows(f"{name}, {form}", rows, true)
            check_comm(f"{name}, {form}", tables(options, *read, "--only", "comm")["comm"], rows)
    some = tables(options, *files, "--only", "collectives", "--ranks", "1")["collectives"]
    check_rows(f"{name}: those of one rank", some, true)


def check_comm(what, said, rows):
    """The sums of `comm` are those of `collectives`."""
    check(sum(row["count"] for row in said) == len(rows) and sum(row["complete"] for row in said) == sum(row["state"] == "complete" for row in rows),
          f"{what}: comm has each collective once", said)
    waits = sum(wait["wait_ns"] for row in rows for wait in row["waits"] if wait["wait_ns"] is not None)
    check(sum(row["wait_ns"] or 0 for row in said) == waits, f"{what}: comm has all that was waited", (said, waits))
    transfers = sum(row["transfer_ns"] or 0 for row in rows)
    check(sum(row["transfer_ns"] or 0 for row in said) == transfers, f"{what}: comm has all transfers", (said, transfers))
    best = max((row["busbw_gb_per_s"] or 0 for row in rows), default=0)
    check(abs(max(row["best_busbw_gb_per_s"] or 0 for row in said) - best) <= FLOAT * best, f"{what}: the best bandwidth", (said, best))


OFFSETS_S = (0, 10, -7.5, 0.003, -0.25, 2, -10, 5.125)  # put into the files of ranks, with drifts
DRIFTS_PPM = (0, 50, -50, 20, -35, 5, 45, -10)


def shift(path, to, offset_s, drift_ppm):
    """A copy of a profile as another clock would have timed it."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        trace = json.load(file, parse_float=Decimal)
    origin = min(event["ts"] for event in trace["traceEvents"] if event.get("ph") == "X" and event["ts"] > 0)
    factor = 1 + Decimal(drift_ppm) / 1000000
    for event in trace["traceEvents"]:
        if "ts" in event and event["ts"] > 0:
            event["ts"] = round(origin + Decimal(offset_s) * 1000000 + (event["ts"] - origin) * factor, 3)
        if "dur" in event:
            event["dur"] = round(event["dur"] * factor, 3)
    with gzip.open(to, "wt", encoding="utf-8", compresslevel=1) as file:
        file.write(json.dumps(trace, default=float))


def ends_of(files):
    """[{rank: end}] of the collectives that all ranks have, as their files say."""
    calls = {rank: slow_collectives.of_kineto(slow_tables.read_json(path)) for rank, path in enumerate(files)}
    count = min(map(len, calls.values()))
    return [{rank: some[len(some) - count + i][1] for rank, some in calls.items()} for i in range(count)]


def base_of(path):
    """What the times of a profile are since."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file).get("baseTimeNanoseconds", 0)


def spread(ends):
    return statistics.median(max(each.values()) - min(each.values()) for each in ends)


def check_shifted(options, name, files):
    """Offsets and drifts that are put into the files are found again, and what is said of each rank alone stays."""
    origins = [min(slow_tables.ns(event["ts"]) for event in slow_tables.read_json(path) if event.get("ph") == "X" and event["ts"] > 0) for path in files]
    with Folder() as folder:
        os.mkdir(f"{folder}/shifted")
        shifted = [f"{folder}/shifted/rank{rank}.json.gz" for rank in range(len(files))]
        for rank, path in enumerate(files):
            shift(path, shifted[rank], OFFSETS_S[rank], DRIFTS_PPM[rank])
        for what, read, word in (("plain", files, []), ("shifted", [f"{folder}/shifted"], []), ("apart", [f"{folder}/shifted"], ["--no-align"])):
            done = run([options.tracetool, "merge", *word, *read, "-o", f"{folder}/{what}.ttrace", "--report", f"{folder}/{what}.json"])
            check(done.returncode == 0, f"{name}, {what}: is merged", done.stderr)
        with open(f"{folder}/shifted.json", encoding="utf-8") as file:
            hosts = {host["ranks"][0]: host for host in json.load(file)["hosts"]}
        for rank, host in hosts.items():
            host["reference_ns"] -= base_of(files[rank])

        def left(rank, at_ns):  # of what was put in, at a time of the shifted clock
            factor, since = 1 + DRIFTS_PPM[rank] / 1e6, at_ns - origins[rank] - round(OFFSETS_S[rank] * 1e9)
            return on_axis(hosts[rank], at_ns) - at_ns - round(since / factor - since - OFFSETS_S[rank] * 1e9)

        ends = ends_of(shifted)
        # At the middle of the samples a drift that is not determined is in no offset; at the ends it is: 50 ppm of 0.1 s.
        middle = [(rank, left(rank, host["reference_ns"])) for rank, host in hosts.items() if host["method"] == "collectives"]
        check(len(middle) == len(files) - 1 and all(abs(wrong) <= 30_000 for _, wrong in middle), f"{name}: offsets to 10 s are found to 30 us", middle)
        over = max(abs(left(rank, each[rank])) for each in ends for rank in hosts)
        check(over <= 30_000 + 50e-6 * 0.15e9, f"{name}: and over the run", over)
        bounds = [(rank, host["bound_ns"]) for rank, host in hosts.items() if host["method"] == "collectives"
                  and not host["bound_ns"][0] <= host["offset_ns"] - left(rank, host["reference_ns"]) <= host["bound_ns"][1]]
        check(not bounds, f"{name}: what was put in lies within the bounds", bounds)
        was, became = spread(ends_of(files)), spread([{rank: on_axis(hosts[rank], end) for rank, end in each.items()} for each in ends])
        check(abs(became - was) <= 0.1 * was, f"{name}: the ends of a collective lie as far apart as before, {was} ns", (was, became))
        rows = {what: [row for row in tables(options, *read, "--only", "collectives")["collectives"] if row["state"] == "complete"]
                for what, read in (("plain", [f"{folder}/plain.ttrace"]), ("shifted", [f"{folder}/shifted.ttrace"]), ("files", [f"{folder}/shifted"]))}
        check(len(rows["plain"]) == len(rows["shifted"]) == MATCHED[name], f"{name}: as many collectives", {what: len(some) for what, some in rows.items()})
        check(rows["files"] == rows["shifted"], f"{name}: files are aligned as they are when they are merged")
        total = [sum(row["transfer_ns"] for row in rows[what]) for what in ("plain", "shifted")]
        check(abs(total[0] - total[1]) < 0.1 * total[0], f"{name}: transfers take what they took", total)
        own = [analyze(options, f"{folder}/{what}.ttrace", "--only", "temporal,kernels", "--by", "rank", "--format", "json").stdout for what in ("shifted", "apart")]
        check(own[0] == own[1] and "busy_ns" in own[0], f"{name}: what is said of a rank alone does not depend on the alignment")
        told = run([options.tracetool, "info", f"{folder}/shifted.ttrace"]).stdout
        check("clocks: 8; 7 aligned by collectives; maximum error" in told, f"{name}: info says how the clocks are aligned", told)


def on_axis(host, at_ns):
    return at_ns + host["offset_ns"] + round(host["drift_ppm"] * 1e-6 * (at_ns - host["reference_ns"]))


NAMES = ("Collective name", "In msg nelems", "Out msg nelems", "Group size", "dtype", "Process Group Name", "Process Group Description",
         "Process Group Ranks", "Seq")


def rewrite(path, to, change):
    with gzip.open(path, "rt", encoding="utf-8") as file:
        trace = json.load(file)
    change(trace["traceEvents"])
    with gzip.open(to, "wt", encoding="utf-8", compresslevel=1) as file:
        json.dump(trace, file)


def without_names(events):
    for event in events:
        for name in NAMES:
            event.get("args", {}).pop(name, None)


def check_without_names(options, name, files):
    """What names say is found from times alone; and a lost kernel costs the collective that it belongs to."""
    def lose(events):
        without_names(events)
        kernels = [event for event in events if event.get("cat") == "kernel" and "nccl" in event["name"]]
        events.remove(sorted(kernels, key=lambda event: event["ts"])[len(kernels) // 2])

    events = {rank: slow_collectives.of_kineto(slow_tables.read_json(path)) for rank, path in enumerate(files)}
    count = min(map(len, events.values()))
    true = [{rank: calls[len(calls) - count + i][:2] for rank, calls in events.items()} for i in range(count)]
    with Folder() as folder:
        for what, losing in (("without names", ()), ("with a lost kernel", (5,))):
            os.makedirs(f"{folder}/{what}")
            made = [f"{folder}/{what}/rank{rank}.json.gz" for rank in range(len(files))]
            for rank, path in enumerate(files):
                rewrite(path, made[rank], lose if rank in losing else without_names)
            rows = [row for row in tables(options, *made, "--only", "collectives")["collectives"] if row["state"] == "complete"]
            waits = [[(wait["rank"], wait["wait_ns"]) for wait in row["waits"]] for row in rows]
            expected = [[(rank, max(start for start, _ in calls.values()) - start) for rank, (start, _) in calls.items()] for calls in true]
            # Nobody says that the ranks have one clock: they are aligned by what is matched, as near as ends agree.
            alike = lambda some, other: all(rank == of and abs(wait - told) <= CLOCK_NS for (rank, wait), (of, told) in zip(some, other))
            wrong = [each for each in waits if not any(alike(each, one) for one in expected)]
            check(len(rows) == MATCHED[name] - len(losing) and not wrong, f"{name}, {what}: {len(rows)} collectives of all ranks", wrong[:1])


def check_all_to_all(options, name, files):
    """Kernels of sends and receives in nccl:all_to_all are what they are called, so that the late rank is named."""
    rows = tables(options, *files, "--only", "collectives")["collectives"]
    check(sorted(row["op"] for row in rows) == ["all_reduce"] * 3 + ["all_to_all"] * 5, f"{name}: all-to-alls are found", [row["op"] for row in rows])
    late = {row["rank"]: row["late_ns"] for row in tables(options, *files, "--only", "stragglers")["stragglers"]}
    check(max(late, key=late.get) == 7 and late[7] > 5_000_000, f"{name}: rank 7 is the latest", late)


def check_refused(options, name, files):
    said = notes(options, *files, "--only", "collectives")
    rows = tables(options, *files, "--only", "collectives")["collectives"]
    check(not rows and said.count("are not matched") >= 2 and "offset of the clocks" in said, f"{name}: nothing is matched, and it is said why", said)


def check_traces(options):
    read = 0
    with folders(options.traces) as some:
        for folder in some:
            is_real = folder == options.traces
            for name in MATCHED if is_real else ("job-ns",):
                files = sorted(glob.glob(f"{folder}/{name}/*.json*"))
                if len(files) > 1:
                    read += 1
                    check_job(options, name, files, is_real)
                    if is_real and name.startswith("modded"):
                        check_shifted(options, name, files)
                        check_without_names(options, name, files)
                    if is_real and name.startswith("dlrm"):
                        check_all_to_all(options, name, files)
            files = sorted(glob.glob(f"{folder}/sampled-2of128/*.json*"))
            if is_real and files:
                check_refused(options, "sampled-2of128", files)
    check(read >= 1, f"{read} jobs were compared", read)


def check_simulated(options):
    for words in ((), ("--hosts", 2), ("--comms", 2), ("--p2p",), ("--graphs",), ("--groups", "--p2p"),
                  ("--groups", "--comms", 2)):
        with Folder() as folder:
            done = train(options, folder, "--ranks", 4, "--steps", 6, *words)
            what = f"simulated {' '.join(map(str, words))}"
            check(done.returncode == 0, f"{what}: it was recorded", done.stderr)
            job = load(os.path.join(folder, "truth"))
            said = tables(options, f"{folder}/traces", "--only", "collectives").get("collectives", [])
            check_against_truth(what, said, job, words)
            check_comm(what, tables(options, f"{folder}/traces", "--only", "comm").get("comm", []), said)


def check_unseen(options):
    """While another tool uses CUPTI, calls are seen and kernels are not: both tables say the same of them."""
    with Folder() as folder:
        done = train(options, folder, "--ranks", 4, "--steps", 6, "--profiler", "3-5")
        check(done.returncode == 0, "with a profiler: it was recorded", done.stderr)
        said = tables(options, f"{folder}/traces", "--only", "collectives")["collectives"]
        check({row["state"] for row in said} == {"complete", "no_gpu_work"}, "with a profiler: some have no work", {row["state"] for row in said})
        wrong = [row for row in said if (row["state"] == "complete") != (row["transfer_ns"] is not None) or
                 (row["state"] == "complete") != (row["trouble"] is None)]
        check(not wrong, "with a profiler: those are complete whose work is known", wrong[:2])
        check_comm("with a profiler", tables(options, f"{folder}/traces", "--only", "comm")["comm"], said)


def check_against_truth(what, said, job, words):
    calls = {}
    for rank in job:
        for key, call in slow_collectives.of_truth(rank).items():
            if key[1] == 1:
                calls.setdefault((key[0], key[3]), {})[rank.rank] = call
    ranks = {rank.rank for rank in job}
    true = [{"communicator": f"0x{communicator:016x}", "ordinal": ordinal, **slow_collectives.row(some)}
            for (communicator, ordinal), some in sorted(calls.items()) if all(call[0] is not None for call in some.values())]
    rows = {(row["communicator"], row["ordinal"]): row for row in said if row["op"] != "send"}
    if "--graphs" not in words:
        check(len(rows) == len(calls), f"{what}: as many collectives as were called", (len(rows), len(calls)))
        # Of a group with several communicators nothing tells which kernel is of which.
        told = {(row["communicator"], row["ordinal"]) for row in true}
        check((len(told) < len(calls)) == ({"--groups", "--comms"} <= set(words)), f"{what}: as many have kernels of their own", (len(told), len(calls)))
        wrong = [row for row in said if row["op"] == "send" or (row["communicator"], row["ordinal"]) in told if row["state"] != "complete" or row["trouble"]]
        check(not wrong, f"{what}: these are complete", wrong[:2])
        untold = [row for key, row in rows.items() if key not in told]
        wrong = [row for row in untold if row["state"] != "no_gpu_work" or row["first_start_ns"] is not None or
                 not row["trouble"].startswith("its GPU work is not in the trace of ranks")]
        check(not wrong, f"{what}: no kernel is of another communicator", wrong[:2])
        check(all(len(row["waits"]) in (2, len(ranks)) for row in said), f"{what}: of all ranks", said[:2])
    else:
        replays = [row for row in said if row["ordinal"] not in {ordinal for _, ordinal in calls}]
        check(len(said) > len(true), f"{what}: replays are there", (len(said), len(true), len(replays)))
        check(all(row["state"] == "complete" for row in said), f"{what}: all are complete", [row for row in said if row["state"] != "complete"][:2])
    if "--graphs" not in words:
        wrong = [(rows.get((row["communicator"], row["ordinal"])), row) for row in true
                 if not alike(rows.get((row["communicator"], row["ordinal"])), row, "--hosts" in words)]
        check(len(true) > 0 and not wrong, f"{what}: {len(true)} collectives as the truth has them", first(wrong))


def alike(said, true, other_clocks):
    """Each process puts CUPTI's times on the axis by clock pairs of its own, which differ by some tens of nanoseconds."""
    if said is None or any(said[key] != true[key] for key in ("op", "bytes", "ranks", "state", "trouble")):
        return False
    waits = list(zip(said["waits"], true["waits"]))
    if any(one["rank"] != other["rank"] or one["exposed_ns"] != other["exposed_ns"] for one, other in waits):
        return False
    return other_clocks or (abs(said["transfer_ns"] - true["transfer_ns"]) <= AXIS_NS and
                            all(abs(one["wait_ns"] - other["wait_ns"]) <= AXIS_NS for one, other in waits))


if __name__ == "__main__":
    run_checks(check_forms_of_numbers, check_pairs, check_traces, simulated=(check_simulated, check_unseen))
