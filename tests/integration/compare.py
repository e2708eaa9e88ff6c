"""Compares a recording (examples/read_recording.py) with the truth (truth.py), field by field and per kind.

What CUPTI hands over must be in the recording as it is: such events are compared as tuples. NVTX and NCCL events get
their time from the agent: they must lie within the two readings of the clock that the truth took around the call.
"""
import bisect
from collections import Counter, defaultdict, namedtuple

from truth import ALL_CUPTI_KINDS, HOST_KINDS

CALLS_AND_NOTES = {
    "runtime": ("cbid", "name", "tid", "return_value"), "driver": ("cbid", "name", "tid", "return_value"),
    "sync": ("type", "context", "stream", "event", "return_value"),
    "overhead": ("overhead", "object", "tid"),
    "memory": ("operation", "memory", "address", "bytes", "device", "context", "stream", "is_async", "pool_address"),
    "memory_pool": ("operation", "pool", "address", "bytes", "used_bytes", "release_threshold_bytes", "device")}
TRUE_NAMES = {"return_value": "result"}
MERGED = {"kernel_wide": "kernel", "runtime_wide": "runtime", "driver_wide": "driver"}

# pairs of line and event; lines of truth without an event; events without a line. Agent's own kinds are left out.
Match = namedtuple("Match", "pairs missing extra")


def kind_of(kind):
    return MERGED.get(kind, kind)


def totals(counts):
    """Counts per kind of record -> per kind of event."""
    merged = Counter()
    for kind, count in counts.items():
        merged[kind_of(kind)] += count
    return merged


def recorded_cupti(event):
    """What a recorded event says, in the truth's terms."""
    kind = kind_of(event.kind)
    if kind == "cuda_event":  # has no time
        return kind, event.correlation, event.context, event.stream, event.event
    base = (kind, event.correlation, event.start, event.end)
    if kind in CALLS_AND_NOTES:
        return base + tuple(getattr(event, field) for field in CALLS_AND_NOTES[kind])
    if kind == "graph_launch":
        return base + (event.device, event.context, event.stream, event.graph)
    base += (event.device, event.context, event.stream, event.graph, event.graph_node)
    if kind == "kernel":
        return base + tuple(event.shape or ())
    if kind == "memset":
        return base + (event.bytes, event.value, event.memory, event.flags)
    base += (event.bytes, event.copy_kind, event.flags, event.src_memory, event.dst_memory)
    if kind == "memcpy_peer":
        base += (event.src_device, event.src_context, event.dst_device, event.dst_context)
    return base


def true_cupti(line):
    """A line of truth as recorded_cupti() gives it."""
    kind = line["kind"]
    if kind == "cuda_event":
        return kind, line["correlation"], line["context"], line["stream"], line["event"]
    base = (kind, line["correlation"], line["cupti_start"], line["cupti_end"] or None)
    if kind in CALLS_AND_NOTES:
        return base + tuple(line[TRUE_NAMES.get(field, field)] for field in CALLS_AND_NOTES[kind])
    if kind == "graph_launch":
        return base + (line["device"], line["context"], line["stream"], line["graph"])
    base += (line["device"], line["context"], line["stream"], line.get("graph", 0), line.get("graph_node", 0))
    if kind == "kernel":
        return base + (line["name"], tuple(line["grid"]), tuple(line["block"]), line["registers"],
                       line["static_shared"], line["dynamic_shared"], line["local"], line["launch_type"],
                       tuple(line["cluster"]))
    if kind == "memset":
        return base + (line["bytes"], line["value"], line["memory"], line["flags"])
    base += (line["bytes"], line["copy_kind"], line["flags"], line["src_memory"], line["dst_memory"])
    if kind == "memcpy_peer":
        base += (line["src_device"], line["src_context"], line["dst_device"], line["dst_context"])
    return base


def recorded_host(event):
    if event.kind == "nvtx_end":  # which range it ends: ranges_differ()
        return event.kind, event.tid
    if event.kind == "nvtx_pop":
        return event.kind, event.tid, event.domain or ""
    base = (event.kind, event.tid, event.domain or "", event.name)
    if event.kind == "nccl_call":
        return base + (event.nccl_class, event.communicator, event.bytes, event.reduction_op, event.peer)
    return base + (event.color_argb, event.category, event.payload_type, event.payload)


def true_host(line):
    kind = line["kind"]
    if kind == "nvtx_end":
        return kind, line["tid"]
    if kind == "nvtx_pop":
        return kind, line["tid"], line["domain"]
    base = (kind, line["tid"], line["domain"], line["name"])
    if kind == "nccl_call":
        return base + (line["class"], line["communicator"], line["bytes"], line.get("reduction_op"), line.get("peer"))
    return base + (line.get("color", 0), line.get("category", 0), line.get("payload_type", 0), line.get("payload"))


def uncorrelated(key):
    return key[:1] + key[2:]


def match_cupti(lines, events):
    """Older CUPTIs do not say to which call an overhead belongs: then it is 0 in the recording."""
    waiting, pairs, extra, overheads = defaultdict(list), [], [], {}
    for line in reversed(lines):
        key = true_cupti(line)
        waiting[key].append(line)
        if line["kind"] == "overhead":
            overheads[uncorrelated(key)] = key
    for event in events:
        key = recorded_cupti(event)
        if event.kind == "overhead" and event.correlation == 0:
            key = overheads.get(uncorrelated(key))
        found = waiting.get(key)
        if found:
            pairs.append((found.pop(), event))
        else:
            extra.append(event)
    return Match(pairs, [line for left in waiting.values() for line in left], extra)


def match_host(lines, events):
    """An event belongs to the call of its thread during which its time was taken."""
    calls, pairs, extra, used = defaultdict(list), [], [], set()
    for line in sorted(lines, key=lambda line: line["before"]):
        calls[line["tid"]].append(line)
    starts = {tid: [line["before"] for line in of] for tid, of in calls.items()}
    for event in events:
        at = bisect.bisect_right(starts.get(event.tid, []), event.time) - 1
        line = calls[event.tid][at] if at >= 0 else None
        if line is None or event.time > line["after"] or line["seq"] in used or true_host(line) != recorded_host(event):
            extra.append(event)
        else:
            used.add(line["seq"])
            pairs.append((line, event))
    return Match(pairs, [line for line in lines if line["seq"] not in used], extra)


def match(rank, events):
    """All events against all of the truth of one rank that was emitted."""
    cupti = match_cupti(rank.of(*ALL_CUPTI_KINDS), [e for e in events if kind_of(e.kind) in ALL_CUPTI_KINDS])
    host = match_host(rank.of(*HOST_KINDS), [e for e in events if e.kind in HOST_KINDS])
    return Match(cupti.pairs + host.pairs, cupti.missing + host.missing, cupti.extra + host.extra)


def ranges_differ(pairs):
    """Ends that do not carry the range id of their start: [(number in the truth, id of the start, id of the end)]."""
    started = {line["range"]: event.range_id for line, event in pairs if line["kind"] == "nvtx_start"}
    return [(line["range"], started[line["range"]], event.range_id) for line, event in pairs
            if line["kind"] == "nvtx_end" and started.get(line["range"], event.range_id) != event.range_id]
