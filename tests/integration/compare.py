"""Compares a recording (examples/read_recording.py) with the truth (truth.py), field by field and per kind.

What CUPTI hands over must be in the recording as it is: such events are compared as tuples. NVTX and NCCL events get
their time from the agent: they must lie within the two readings of the clock that the truth took around the call.
"""
import bisect
from collections import Counter, defaultdict

MERGED = {"kernel_wide": "kernel", "runtime_wide": "runtime", "driver_wide": "driver"}
CUPTI_KINDS = ("kernel", "memcpy", "memcpy_peer", "memset", "runtime", "driver")
HOST_KINDS = ("nvtx_push", "nvtx_pop", "nvtx_start", "nvtx_end", "nvtx_mark", "nccl_call")
OWN_KINDS = ("clock",)  # the agent's own: not in the truth
FOREVER = 2**32  # ns; what lasts so long, or failed, is written as the wide kind


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
    base = (kind, event.correlation, event.start, event.end)
    if kind in ("runtime", "driver"):
        return base + (event.cbid, event.name, event.tid, event.return_value)
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
    base = (kind, line["correlation"], line["cupti_start"], line["cupti_end"])
    if kind in ("runtime", "driver"):
        return base + (line["cbid"], line["name"], line["tid"], line["result"])
    base += (line["device"], line["context"], line["stream"], line.get("graph", 0), line.get("graph_node", 0))
    if kind == "kernel":
        return base + (line["name"], tuple(line["grid"]), tuple(line["block"]), line["registers"],
                       line["static_shared"], line["dynamic_shared"])
    if kind == "memset":
        return base + (line["bytes"], line["value"], line["memory"], line["flags"])
    base += (line["bytes"], line["copy_kind"], line["flags"], line["src_memory"], line["dst_memory"])
    if kind == "memcpy_peer":
        base += (line["src_device"], line["src_context"], line["dst_device"], line["dst_context"])
    return base


def recorded_host(event):
    base = (event.kind, event.tid)
    if event.kind == "nvtx_end":
        return base + (event.range_id,)
    if event.kind == "nvtx_pop":
        return base + (event.domain,)
    base += (event.domain, event.name)
    if event.kind == "nccl_call":
        return base + (event.nccl_class, event.communicator, event.bytes, event.reduction_op, event.peer, event.ordinal,
                       event.epoch)
    base += (event.color_argb, event.category)
    return base + (event.range_id,) if event.kind == "nvtx_start" else base


def match_cupti(lines, events):
    """(pairs of line and event, lines without an event, events without a line)"""
    waiting, pairs, extra = defaultdict(list), [], []
    for line in reversed(lines):
        waiting[true_cupti(line)].append(line)
    for event in events:
        found = waiting.get(recorded_cupti(event))
        if found:
            pairs.append((found.pop(), event))
        else:
            extra.append(event)
    return pairs, [line for left in waiting.values() for line in left], extra


def match_host(lines, events, true_host):
    """As match_cupti; an event belongs to the call of its thread during which it was taken."""
    calls, pairs, extra, used = defaultdict(list), [], [], set()
    for line in sorted(lines, key=lambda line: line["before"]):
        calls[line["tid"]].append(line)
    starts = {tid: [line["before"] for line in of] for tid, of in calls.items()}
    for event in events:
        at = bisect.bisect_right(starts.get(event.tid, []), event.time) - 1
        line = calls[event.tid][at] if at >= 0 else None
        if line is None or event.time > line["after"] or id(line) in used or true_host(line) != recorded_host(event):
            extra.append(event)
        else:
            used.add(id(line))
            pairs.append((line, event))
    return pairs, [line for line in lines if id(line) not in used], extra
