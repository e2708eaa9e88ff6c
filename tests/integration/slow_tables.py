"""The tables of `tracetool analyze`, the slow way: lists of intervals, one moment after the other. From Kineto's JSON, or from
the truth of a simulated run."""
import functools
import gzip
import json
import re
import statistics
import subprocess
from collections import Counter, namedtuple
from decimal import Decimal

# Of one piece of GPU work; times are integers of ns. `kind`: comm, compute or memory. `launch`: how a kernel was launched, grid
# and block first, () where that is not known; of other work None.
Work = namedtuple("Work", "device start end kind name launch")
LAUNCH = ("grid", "block", "registers", "static_shared", "dynamic_shared", "local", "cluster", "launch_type")
# Of the function with its namespaces: libraries, parts of names, collectives in any case; and what computes all the same.
LIBRARY = re.compile(r"nccl|rccl|msccl|oneccl")
PART = re.compile(r"(^|:)(deep_ep|intranode|internode|hybrid_ep|EpDispatch|EpCombine|moeA2A|a2a_dispatch|a2a_combine|nvshmem|userbuffers_fp16"
                  r"|kuserbuffers_|symmetric_memory|multimem_|put_signal_kernel|wait_signal_kernel|exchangeSplitAndOffset|quickreduce|ar_fusion)|_on_stream_kernel")
COLLECTIVE = re.compile(r"cross_?device_?reduce|all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|all2all", re.I)
COMPUTE = re.compile(r"^triton_|gemm|mat_?mul|mega_?moe|(^|:)get_dispatch_layout", re.I)
KERNELS, COPIES = {"kernel"}, {"gpu_memcpy", "gpu_memset"}
OLD = {"Kernel": "kernel", "Memcpy": "gpu_memcpy", "Memset": "gpu_memset"}


@functools.lru_cache(None)
def communicates(name):
    """Whether a kernel does, by its name."""
    if name.startswith("_Z"):
        name = subprocess.run(["c++filt", name], capture_output=True, text=True, check=False).stdout.strip() or name
    name = re.match(r"[^<(]*", re.sub(r"^void |\(anonymous namespace\)::|<unnamed>::", "", re.sub(r"^void ", "", name))).group()
    return bool(LIBRARY.match(name) or ((PART.search(name) or COLLECTIVE.search(name)) and not COMPUTE.search(name)))


def ns(us):
    return int(Decimal(us) * 1000)


def read_trace(path):
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as file:
        return json.load(file, parse_float=Decimal)


def read_json(path):
    """The events; None where Python cannot read the file."""
    try:
        trace = read_trace(path)
    except (ValueError, OSError, EOFError):
        return None
    return trace if isinstance(trace, list) else trace.get("traceEvents", [])


def of_kineto(events):
    """GPU work by the categories that torch.profiler gives it."""
    for event in events:
        category = OLD.get(event.get("cat"), event.get("cat"))
        args = event.get("args", {})
        if event.get("ph") != "X" or category not in KERNELS | COPIES or "stream" not in args:
            continue
        start, device = ns(event["ts"]), args.get("device")
        kind = "memory" if category in COPIES else "comm" if communicates(event["name"]) else "compute"
        yield Work(int(device) if device is not None else None, start, start + ns(event["dur"]), kind, event["name"],
                   launch_of(args) if category in KERNELS else None)


def launch_of(args):
    grid, block = (tuple(args.get(key, ())) for key in ("grid", "block"))
    known = len(grid) == len(block) == 3 and grid[0] > 0 and block[0] > 0
    return (grid, block, args.get("registers per thread", 0), args.get("shared memory", 0)) if known else ()


def frozen(value):
    return tuple(value) if isinstance(value, list) else value


def of_truth(rank, by_name=False):
    """Of what a simulated run recorded, on CUPTI's clock. `by_name`: communication is what only names tell."""
    for line in rank.of("kernel", "memcpy", "memset", "memcpy_peer"):
        comm = "nccl" in line.get("name", "") if by_name else "communicates" in line
        kind = "comm" if comm else "compute" if line["kind"] == "kernel" else "memory"
        launch = tuple(frozen(line[field]) for field in LAUNCH) if line["kind"] == "kernel" else None
        yield Work(line["device"], line["cupti_start"], line["cupti_end"], kind, line.get("name", ""), launch)


def union(intervals):
    """Sorted, and apart."""
    apart = []
    for start, end in sorted(intervals):
        if apart and start <= apart[-1][1]:
            apart[-1][1] = max(apart[-1][1], end)
        else:
            apart.append([start, end])
    return apart


def length(intervals):
    return sum(end - start for start, end in union(intervals))


def common(some, others):
    """What two unions share: each interval with those of the other that it may touch, which is the next one of what ends first."""
    some, others, total, i, k = union(some), union(others), 0, 0, 0
    while i < len(some) and k < len(others):
        total += max(0, min(some[i][1], others[k][1]) - max(some[i][0], others[k][0]))
        i, k = (i + 1, k) if some[i][1] < others[k][1] else (i, k + 1)
    return total


def clipped(work, begin, end):
    return [each._replace(start=max(each.start, begin), end=min(each.end, end)) for each in work
            if each.start < end and (each.end > begin or each.start >= begin)]


def temporal(work, span=None):
    """The row of one device, but for its keys."""
    of = lambda *kinds: [(each.start, each.end) for each in work if each.kind in kinds]
    if span is None:
        span = max(each.end for each in work) - min(each.start for each in work)
    busy, comm, overlap = length(of("comm", "compute", "memory")), length(of("comm")), common(of("comm"), of("compute"))
    return {"span_ns": span, "busy_ns": busy, "idle_ns": span - busy, "compute_ns": length(of("compute")), "comm_ns": comm,
            "memory_ns": length(of("memory")), "exposed_comm_ns": comm - overlap,
            "overlap_pct": 100.0 * overlap / comm if comm else None}


def launched(launches):
    """Of one kernel: in how many configurations, and the most frequent; of several the smallest. None: unknown."""
    if not launches:
        return {"configurations": None, "grid": None, "block": None}
    count = Counter(launches)
    most = min(count, key=lambda launch: (-count[launch], launch))
    return {"configurations": len(count), "grid": list(most[0]), "block": list(most[1])}


def standard_deviation(values):
    return statistics.stdev(values) if len(values) > 1 else None


def kernels(work):
    """[{...}] by name and class, as `kernels` has them."""
    found = {}
    for each in work:
        if each.launch is not None:
            found.setdefault((each.name, each.kind), []).append(each)
    total = sum(each.end - each.start for some in found.values() for each in some)
    rows = []
    for (name, kind), some in found.items():
        durations = sorted(each.end - each.start for each in some)
        at = lambda percent: durations[-(-len(durations) * percent // 100) - 1]
        rows.append({"name": name, "class": kind, "count": len(durations), "sum_ns": sum(durations),
                     "share_pct": 100.0 * sum(durations) / total if total else None, "min_ns": durations[0],
                     "median_ns": at(50), "p95_ns": at(95), "max_ns": durations[-1], "stddev_ns": standard_deviation(durations),
                     **launched([each.launch for each in some if each.launch])})
    return sorted(rows, key=lambda row: (-row["sum_ns"], row["name"]))
