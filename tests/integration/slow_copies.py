"""`copies` the slow way: a list of copies and memsets, from Kineto's JSON or from the truth of a simulated run."""
import re
from collections import namedtuple
from statistics import median_low

from slow_tables import OLD, ns

# `memory` is (from, to) in CUPTI's words, None where it is not told; `within`: from a device's memory to the same device's.
Copy = namedtuple("Copy", "rank operation direction memory kind bytes time within")
MEMORY = (None, "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static")
DIRECTIONS = (None, "HtoD", "DtoH", "HtoA", "AtoH", "AtoA", "AtoD", "DtoA", "DtoD", "HtoH", "PtoP")
ON_DEVICE = {"Device", "Array", "Device Static"}
COPY = re.compile(r"^Memcpy (\w+) \(([\w ]+) -> ([\w ]+)\)$")
SET = re.compile(r"^Memset \(([\w ]+)\)$")
# GB/s, of data sheets.
BANDWIDTH = {"Tesla V100-SXM2-32GB": 900, "Tesla V100-DGXS-32GB": 900, "NVIDIA A100-SXM4-80GB": 2039, "NVIDIA H100 80GB HBM3": 3350, "AMD Instinct MI300X": 5300}


def of_kineto(events):
    for event in events:
        category = OLD.get(event.get("cat"), event.get("cat"))
        args = event.get("args", {})
        if event.get("ph") != "X" or category not in ("gpu_memcpy", "gpu_memset") or "stream" not in args:
            continue
        word = lambda text, words: text if text in words else None
        copy, memset = COPY.match(event["name"]), SET.match(event["name"])
        memory = (word(copy[2], MEMORY), word(copy[3], MEMORY)) if copy else (None, word(memset[1], MEMORY)) if memset else (None, None)
        peer = "toDevice" in args and args["toDevice"] != args.get("fromDevice", 0)
        yield Copy(None, category[4:], word(copy[1], DIRECTIONS) if copy else None, memory, "memory", args.get("bytes"), ns(event["dur"]),
                   not peer)


def of_truth(rank):
    for line in rank.of("memcpy", "memcpy_peer", "memset"):
        kind = "comm" if "communicates" in line else "memory"
        time = line["cupti_end"] - line["cupti_start"]
        if line["kind"] == "memset":
            yield Copy(rank.rank, "memset", None, (None, MEMORY[line["memory"]]), kind, line["bytes"], time, True)
        else:
            peer = line["kind"] == "memcpy_peer" and line["src_device"] != line["dst_device"]
            yield Copy(rank.rank, "memcpy", DIRECTIONS[line["copy_kind"]], (MEMORY[line["src_memory"]], MEMORY[line["dst_memory"]]), kind,
                       line["bytes"], time, not peer)


def peak(copy, gpu):
    """GB/s of such copies at most; None: not known."""
    if gpu not in BANDWIDTH:
        return None
    if copy.operation == "memset":
        return BANDWIDTH[gpu] if copy.memory[1] in ON_DEVICE else None
    within = copy.direction == "DtoD" and copy.within and set(copy.memory) <= ON_DEVICE
    return BANDWIDTH[gpu] / 2 if within else None


def rows(copies, gpu=None):
    copies = list(copies)
    total = sum(copy.time for copy in copies)
    found = {}
    for copy in copies:
        bucket = None if copy.bytes is None else 1 << copy.bytes.bit_length() - 1 if copy.bytes else 0
        found.setdefault((copy.rank, copy.operation, copy.direction, copy.memory, copy.within, copy.kind, bucket), []).append(copy)
    result = []
    for (rank, operation, direction, memory, _, kind, bucket), some in found.items():
        rates = sorted(copy.bytes / copy.time for copy in some if copy.bytes is not None and copy.time > 0)
        most, time = peak(some[0], gpu), sum(copy.time for copy in some)
        told = memory[1] is not None and (operation == "memset" or memory[0] is not None)
        middle = median_low(rates) if rates else None
        result.append({"operation": operation, "direction": direction, "from_memory": memory[0], "to_memory": memory[1],
                       "pageable": "Pageable" in memory if told else None, "class": kind, "from_bytes": bucket, "count": len(some),
                       "bytes": sum(copy.bytes for copy in some) if bucket is not None else None, "time_ns": time,
                       "share_pct": 100.0 * time / total if total else None, "median_gb_per_s": middle,
                       "best_gb_per_s": rates[-1] if rates else None,
                       "of_peak_pct": 100 * middle / most if middle and most else None})
    return result


def ordered(some):
    """Rows in an order that does not depend on which of two equal ones comes first."""
    return sorted(some, key=lambda row: (-row["time_ns"], str(row["operation"]), str(row["direction"]), str(row["from_memory"]),
                                         str(row["to_memory"]), str(row["from_bytes"]), row["count"]))
