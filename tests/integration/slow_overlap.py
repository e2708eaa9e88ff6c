"""`overlap` the slow way: unions and what they share, by communicator. From Kineto's JSON, or the truth of a simulated run."""
import slow_tables
from slow_tables import common, length


def groups_of_kineto(events):
    """[(Work, (name, description) of the process group or None, stream)] of communication. Kernels that do not tell it are of
    the group that alone works on their stream, else of none that is known."""
    found = []
    for event in events:
        for work in slow_tables.of_kineto([event]):
            if work.kind == "comm":
                args = event["args"]
                # The same group numbered and not, or with and without sends, is told apart, as nothing says which it is.
                told = ((args["Process Group Name"], args.get("Process Group Description") or None), "Seq" in args,
                        args.get("Collective name") in ("send", "recv")) if args.get("Process Group Name") else None
                found.append((work, told, (event["pid"], event["tid"])))
    alone = {}
    for _, told, stream in found:
        alone.setdefault(stream, set()).update({told} - {None})
    for work, told, stream in found:
        if told is None and len(alone[stream]) == 1:
            told = next(iter(alone[stream]))
        yield work, told[0] if told else (None, None)


def groups_of_truth(rank):
    """Communicators of collectives of a simulated run whose kernels are each of one call, by launch: within the call that is open."""
    calls, stacks, inside = {}, {}, []
    for line in sorted(rank.lines, key=lambda line: line["seq"]):
        stack = stacks.setdefault(line.get("tid"), [])
        if line["kind"] in ("nvtx_push", "nccl_call"):
            stack.append(line)
        elif line["kind"] == "nvtx_pop" and stack:
            push = stack.pop()
            if push["kind"] == "nccl_call":
                inside.append((push["tid"], push["time"], line["time"], push["communicator"]))
    for line in rank.of("runtime", "driver"):
        for tid, begin, end, communicator in inside:
            if line["tid"] == tid and begin <= line["start"] < end:
                calls[line["correlation"]] = communicator
    for line in rank.of("kernel", "memcpy", "memcpy_peer", "memset"):
        if "communicates" in line:
            work = slow_tables.Work(line["device"], line["cupti_start"], line["cupti_end"], "comm", line.get("name", ""), None)
            yield work, calls.get(line["correlation"])


def rows(works, compute, windows):
    """`works`: [(Work, group)]; `windows`: [(begin, end)], or None for all of the time. {(device, group): row}"""
    cut = works if windows is None else [(part, group) for begin, end in windows for work, group in works
                                         for part in slow_tables.clipped([work], begin, end)]
    found = {}
    for work, group in cut:
        found.setdefault((work.device, group), []).append((work.start, work.end))
    result = {}
    for (device, group), own in found.items():
        computed = [(each.start, each.end) for each in compute if each.device == device]
        others = [part for (at, other), parts in found.items() if at == device and other != group for part in parts]
        comm, hidden = length(own), common(own, computed)
        result[device, group] = {"count": len(own), "comm_ns": comm, "hidden_ns": hidden,
                                 "exposed_ns": comm - hidden, "shared_ns": common(own, others),
                                 "overlap_pct": 100.0 * hidden / comm if comm else None}
    return result
