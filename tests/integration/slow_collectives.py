"""The table `collectives` of `tracetool analyze`, the slow way: kernels of NCCL by rank, the last ones of all ranks together,
and so on back; or, of a simulated run, what its truth says."""
import re

import slow_tables

OPERATIONS = {"AllReduce": "all_reduce", "AllGather": "all_gather", "ReduceScatter": "reduce_scatter", "Broadcast": "broadcast",
              "SendRecv": "send_receive"}
ALL_DEPEND = ("all_reduce", "all_gather", "reduce_scatter", "all_to_all")
BYTES = {"Float": 4, "BFloat16": 2, "Half": 2, "Long": 8}
FACTORS = {"all_reduce": lambda n: 2 * (n - 1) / n, "all_gather": lambda n: (n - 1) / n, "reduce_scatter": lambda n: (n - 1) / n,
           "all_to_all": lambda n: (n - 1) / n}


def exposed(start, end, compute):
    return end - start - slow_tables.common([(start, end)], [each for each in compute if each[0] < end and each[1] > start])


def all_to_alls(events):
    """Correlations of what was launched in annotations of all-to-alls."""
    ranges = [event for event in events if event.get("ph") == "X" and event["name"] in ("nccl:all_to_all", "c10d::alltoall_base_")]
    launches = [event for event in events if event.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in event.get("args", {})]
    return {launch["args"]["correlation"] for launch in launches
            if any(each["tid"] == launch["tid"] and each["ts"] <= launch["ts"] < each["ts"] + each["dur"] for each in ranges)}


def of_kineto(events):
    """[(start, end, operation, bytes or None, exposed)] of one rank, in order."""
    work = list(slow_tables.of_kineto(events))
    sizes = {(event["args"].get("stream"), slow_tables.ns(event["ts"])): event["args"] for event in events
             if event.get("ph") == "X" and "stream" in event.get("args", {}) and "dur" in event}
    streams = {key[1]: args for key, args in sizes.items() if "Collective name" in args}
    correlations = {key[1]: args.get("correlation") for key, args in sizes.items()}
    exchanges = all_to_alls(events)
    calls, compute = [], {}
    for each in work:
        if each.kind == "compute":
            compute.setdefault(each.device, []).append((each.start, each.end))
    for each in sorted((each for each in work if each.kind == "comm"), key=lambda each: each.start):
        args = streams.get(each.start)
        size = max(args["In msg nelems"], args["Out msg nelems"]) * BYTES[args["dtype"]] if args else None
        word = re.search(r"Kernel_([A-Za-z]+)", each.name).group(1)
        operation = "all_to_all" if word == "SendRecv" and correlations.get(each.start) in exchanges else OPERATIONS[word]
        calls.append((each.start, each.end, operation, size, exposed(each.start, each.end, compute.get(each.device, []))))
    return calls


def from_the_end(ranks):
    """{rank: calls} -> rows of the collectives that all ranks have."""
    count = min(len(calls) for calls in ranks.values())
    return [row({rank: calls[len(calls) - count + i] for rank, calls in ranks.items()}) for i in range(count)]


def row(calls):
    """Of one collective: {rank: (start, end, operation, bytes, exposed)}."""
    operations = {call[2] for call in calls.values()}
    assert len(operations) == 1, calls
    operation, n = operations.pop(), len(calls)
    last = max(call[0] for call in calls.values())
    end = max(call[1] for call in calls.values())
    size = max((call[3] for call in calls.values() if call[3] is not None), default=None)
    transfer = end - last if operation in ALL_DEPEND else None
    speed = size / transfer if transfer and size is not None else None
    return {"op": operation, "bytes": size, "ranks": n, "state": "complete", "transfer_ns": transfer, "algbw_gb_per_s": speed,
            "busbw_gb_per_s": speed * FACTORS[operation](n) if speed is not None else None,
            "length": end - min(call[0] for call in calls.values()), "trouble": None,
            "waits": [{"rank": rank, "wait_ns": last - call[0], "exposed_ns": call[4]} for rank, call in sorted(calls.items())]}


def of_truth(rank):
    """{(communicator, class, peer, number of its own): (start, end, operation, bytes, exposed)} of a simulated rank. The
    outermost end of a group launches a kernel for each of its calls; NCCL may launch fewer, so that each kernel is of all calls of
    one communicator, and of a group with several communicators it is unknown of which call: these have no times."""
    launches = sorted((line for line in rank.of("runtime", "driver")), key=lambda line: line["start"])
    kernels = {line["correlation"]: line for line in rank.of("kernel")}
    pops, open_calls, groups, group_of = {}, {}, {}, {}
    lines = sorted(rank.of("nccl_call", "nvtx_push", "nvtx_pop"), key=lambda line: line["seq"])
    for line in lines:
        stack = open_calls.setdefault((line["tid"], line["domain"]), [])
        depth, calls = groups.setdefault(line["tid"], [0, []])
        if line["kind"] == "nvtx_pop":
            if stack:
                pops[stack.pop()["seq"]] = line["time"]
            continue
        stack.append(line)
        if line["kind"] == "nccl_call" and depth > 0:
            calls.append(line)
        elif line["domain"] == "NCCL" and line["name"] == "ncclGroupStart":
            groups[line["tid"]][0] += 1
        elif line["domain"] == "NCCL" and line["name"] == "ncclGroupEnd":
            groups[line["tid"]][0] -= 1
            if depth == 1:
                group_of.update({call["seq"]: (line, calls) for call in calls})
                groups[line["tid"]] = [0, []]
    compute = [(line["cupti_start"], line["cupti_end"]) for line in rank.of("kernel") if "communicates" not in line]
    counts, found = {}, {}
    for call in sorted(rank.of("nccl_call"), key=lambda line: line["seq"]):
        key = (call["communicator"], call["class"], call.get("peer") if call["class"] != 1 else None)
        counts[key] = counts.get(key, -1) + 1
        by, together = group_of.get(call["seq"], (call, [call]))
        end = pops.get(by["seq"], by["time"])
        own = [kernels[line["correlation"]] for line in launches if line["tid"] == call["tid"] and
               by["time"] <= line["start"] < end and line["correlation"] in kernels]
        if len({other["communicator"] for other in together}) > 1:
            own = []
        operation = OPERATIONS[call["name"].replace("nccl", "")] if call["class"] == 1 else "send"
        times = (min(line["cupti_start"] for line in own), max(line["cupti_end"] for line in own)) if own else (None, None)
        hidden = sum(exposed(line["cupti_start"], line["cupti_end"], compute) for line in own) if own else None
        found[key + (counts[key],)] = (*times, operation, call["bytes"], hidden)
    return found
