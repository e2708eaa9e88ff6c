"""How the time of a GPU passes, computed slowly, as HTA's temporal breakdown has it: what of it any work runs in, and what
of that a kernel that computes: one that does not communicate, and no copy or set."""

WORK = ("kernel", "memcpy", "memset", "gpu_memcpy", "gpu_memset")  # kinds of the truth, categories of Kineto
WAIT = "wait"
NO_STREAM = 2**32 - 1


def is_compute(name):
    """Of the truth, mangled, or of a profile."""
    return "ncclDevKernel" not in name and not name.lower().startswith(("memcpy", "memset", WAIT))


def covered(spans):
    """ns in which at least one of the spans (begin, end) runs."""
    total, until = 0, None
    for begin, end in sorted(spans):
        begin = begin if until is None else max(begin, until)
        if end > begin:
            total, until = total + end - begin, end
        until = max(end, until) if until is not None else end
    return total


def shares(work):
    """Of [(begin ns, end ns, name, stream)], in ns."""
    whole = max(end for _, end, *_ in work) - min(begin for begin, *_ in work)
    busy = covered((begin, end) for begin, end, *_ in work)
    compute = covered((begin, end) for begin, end, name, _ in work if is_compute(name))
    return {"whole": whole, "idle": whole - busy, "compute": compute, "other work": busy - compute}


def gaps(work):
    """{stream: ns between the end of each work and the begin of the next one on it}; below 0 where they overlap."""
    found = {}
    for stream in {stream for *_, stream in work}:
        of_it = sorted((begin, end) for begin, end, _, each in work if each == stream)
        found[stream] = sum(after[0] - before[1] for before, after in zip(of_it, of_it[1:]))
    return found


def true_work(rank):
    """Of a truth (truth.Rank), by CUPTI's clock, whose pace is that of the wall clock but for a few millionths."""
    return [(line["start"], line["end"], line.get("name", line["kind"]), line["stream"]) for line in rank.of(
        "kernel", "memcpy", "memcpy_peer", "memset")]


def true_waits(rank):
    """Those on streams. HTA's temporal breakdown has them among the work: it asks for a stream only."""
    return [(line["start"], line["end"], WAIT, line["stream"]) for line in rank.of("sync") if line["stream"] != NO_STREAM]


def profile_work(events):
    """Of a Kineto profile's events, with exact numbers (kineto_files.load)."""
    return [(int(e["ts"] * 1000), int((e["ts"] + e["dur"]) * 1000), e["name"], e["args"]["stream"]) for e in events
            if e["ph"] == "X" and e["cat"] in WORK]
