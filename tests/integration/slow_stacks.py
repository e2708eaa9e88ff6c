"""Where on the host work comes from, the slow way, from Kineto's JSON: what `modules`, `stacks` and `export --folded` add up."""
import re
from collections import namedtuple

import slow_launches
from slow_launches import directly_around, pieces
from slow_operators import UTILITIES, merged_into
from slow_tables import ns

Host = namedtuple("Host", "thread start end kind name args place")
HOST = {category: {"operator": "operation", "annotation": "range"}.get(kind, kind) for category, kind in slow_launches.HOST.items()} | {"python_function": "frame"}
ORDER = ("operation", "range", "frame", "call")


def hosts(events):
    found = []
    for event in events:
        kind = HOST.get(event.get("cat"))
        if event.get("ph") != "X" or kind is None:
            continue
        args = event.get("args", {})
        if kind == "frame":
            kind = "module" if args.get("Python module id") is not None else "python"
        start = ns(event["ts"])
        order = ORDER.index("frame" if kind in ("module", "python") else kind)
        place = (start, kind == "call", -ns(event["dur"]), order, event["cat"] == "cuda_driver", len(found))
        found.append(Host((str(event["pid"]), str(event["tid"])), start, start + ns(event["dur"]), kind, event["name"], args, place))
    return sorted(found, key=lambda host: host.place)


def is_backward(host):
    return host.kind == "operation" and bool(host.args.get("Fwd thread id"))


def text(kind, name):
    return name[len("nn.Module: "):] if kind == "module" and name.startswith("nn.Module: ") else name


def not_counted(found, around):
    """Of operators, those that key_averages() of PyTorch does not count (slow_operators.py)."""
    utilities = {at for at, host in enumerate(found) if host.kind == "operation" and host.name in UTILITIES}
    inside = {at: outer for at, outer in around.items() if at not in utilities}
    return utilities | merged_into(found, inside).keys()


def tree(events):
    """{path: [calls, host ns, GPU ns, GPU count]}; a path is a tuple of (kind, text, backward), the outermost first."""
    found, sums = hosts(events), {}
    around, paths, forwards = directly_around(found), [], {}
    uncounted = not_counted(found, around)
    for at, host in enumerate(found):
        outer = paths[around[at]] if around[at] is not None else ()
        number = host.args.get("Sequence number") if host.kind == "operation" else None
        if is_backward(host) and not (outer and outer[-1][2]):
            forward = forwards.get(number, (None, ()))[1]
            outer = forward or outer
        path = outer + ((host.kind, text(host.kind, host.name), is_backward(host) or bool(outer and outer[-1][2])),)
        paths.append(path)
        if number is not None and not is_backward(host):
            last = max((n for n, part in enumerate(path) if part[0] in ("module", "python")), default=-1)
            threads = forwards.get(number, (set(), ()))[0] | {host.thread}
            forwards[number] = (threads, path[:last + 1] if len(threads) == 1 else ())
        row = sums.setdefault(path, [0, 0, 0, 0])
        row[0] += at not in uncounted
        row[1] += host.end - host.start
        if around[at] is not None:
            sums[paths[around[at]]][1] -= host.end - host.start
    index = {host.place: at for at, host in enumerate(found)}
    names = {}
    for event in events:
        if event.get("ph") == "X":
            names.setdefault((ns(event["ts"]), ns(event["dur"]), event.get("args", {}).get("device")), []).append(event["name"])
    for piece in pieces(events, [host for host in found if host.kind == "call"]):
        outer = paths[index[piece.call.place]] if piece.call else ()
        name = names[(piece.start, piece.end - piece.start, piece.device)].pop(0)
        row = sums.setdefault(outer + (("work", name, bool(outer and outer[-1][2])),), [0, 0, 0, 0])
        row[2] += piece.end - piece.start
        row[3] += 1
    return sums


def modules(trees):
    """Of the tree() of each file."""
    rows, whole, outside = {}, 0, 0
    for sums in trees:
        for path, (calls, host_ns, gpu_ns, count) in sums.items():
            whole += gpu_ns
            chain, around = [], ""
            for kind, name, _ in path:
                if kind == "module":
                    around = f"{around} > {name}" if around else name
                    chain.append((around, name))
            outside += 0 if chain else count
            kind, backward = path[-1][0], path[-1][2]
            for each in dict.fromkeys(chain):
                row = rows.setdefault(each[0], {"module": each[0], "class": each[1], "operators": 0, "cpu_forward_ns": 0, "cpu_backward_ns": 0,
                                                "gpu_forward_ns": 0, "gpu_backward_ns": 0, "gpu_self_ns": 0, "gpu_share_pct": 0, "gpu_count": 0})
                row["operators"] += calls if kind == "operation" else 0
                row["cpu_backward_ns" if backward else "cpu_forward_ns"] += host_ns if kind in ("operation", "call") else 0
                row["gpu_backward_ns" if backward else "gpu_forward_ns"] += gpu_ns
                row["gpu_count"] += count
            if chain:
                rows[chain[-1][0]]["gpu_self_ns"] += gpu_ns
    for row in rows.values():
        row["gpu_share_pct"] = 100.0 * (row["gpu_forward_ns"] + row["gpu_backward_ns"]) / whole if whole else None
    return list(rows.values()), outside


def stacks(trees):
    rows, whole = {}, 0
    for sums in trees:
        for path, (calls, host_ns, gpu_ns, count) in sums.items():
            whole += gpu_ns
            frames = tuple(part[:2] for part in path if part[0] in ("module", "python"))
            kind = path[-1][0]
            if not frames:
                continue
            # The same frames may lie in different ranges, and are rows of their own then.
            last = max(n for n, part in enumerate(path) if part[0] in ("module", "python"))
            row = rows.setdefault(path[:last + 1], {"frame": frames[-1][1], "operators": 0, "cpu_ns": 0, "gpu_ns": 0, "gpu_share_pct": 0, "gpu_count": 0,
                                                    "stack": ";".join(name for _, name in frames)})
            row["operators"] += calls if kind == "operation" else 0
            row["cpu_ns"] += host_ns if kind in ("operation", "call") else 0
            row["gpu_ns"] += gpu_ns
            row["gpu_count"] += count
    for row in rows.values():
        row["gpu_share_pct"] = 100.0 * row["gpu_ns"] / whole if whole else None
    return [row for row in rows.values() if row["operators"] or row["cpu_ns"] or row["gpu_count"]]


def without_numbers(sums):
    """{path: [host ns, GPU ns]}: ranges that name a training step are one."""
    merged = {}
    for path, (_, host_ns, gpu_ns, _) in sums.items():
        path = tuple((kind, re.sub(r"^(ProfilerStep#|step )\d+$", r"\1N", name) if kind in ("range", "operation") else name, backward) for kind, name, backward in path)
        row = merged.setdefault(path, [0, 0])
        row[0] += host_ns
        row[1] += gpu_ns
    return merged


def folded(trees, ranks, weight):
    """{line without its weight: ns}."""
    lines = {}
    for sums, rank in zip(trees, ranks):
        for path, (host_ns, gpu_ns) in without_numbers(sums).items():
            ns_ = gpu_ns if weight == "gpu" else host_ns
            names = [name.replace(";", ":").replace("\n", " ").replace("\r", " ") or "?" for _, name, _ in path]
            line = ";".join(([f"rank {'?' if rank is None else rank}"] if len(trees) > 1 else []) + names)
            if ns_ > 0:
                lines[line] = lines.get(line, 0) + ns_
    return lines
