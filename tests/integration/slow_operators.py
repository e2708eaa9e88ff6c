"""The table `operators`, the slow way: each operator with the list of what lies in it."""
from collections import Counter

from slow_launches import HOST, directly_around, hosts, pieces

WITH_FRAMES = {**HOST, "python_function": "annotation"}
# Which key_averages() of PyTorch does not show.
UTILITIES = {"aten::is_leaf", "aten::output_nr", "aten::_version", "profiler::_record_function_enter", "profiler::_record_function_enter_new",
             "profiler::_record_function_exit"}


def shapes_of(host):
    dims = host.args.get("Input Dims", host.args.get("Input dims"))
    return str(dims) if dims else None


def merged_into(hosted, around):
    """{index: index}: an operator that is the only thing directly in one of its name, and that one."""
    inside = {}
    for at, outer in around.items():
        inside.setdefault(outer, []).append(at)
    return {at: outer for outer, (at, *others) in inside.items() if outer is not None and not others and
            hosted[outer].kind == hosted[at].kind in ("operator", "operation") and hosted[outer].name == hosted[at].name}


def operators(files, by_shape=False):
    """[{...}] of the events of some files, as one group of rows."""
    found, whole, unclaimed = {}, 0, 0
    for events in files:
        hosted = [host for host in hosts(events, WITH_FRAMES) if host.kind != "operator" or host.name not in UTILITIES]
        around = directly_around(hosted)
        merged = merged_into(hosted, around)

        def row_of(at):
            while at in merged:
                at = merged[at]
            key = (hosted[at].name, shapes_of(hosted[at])) if by_shape else (hosted[at].name,)
            return found.setdefault(key, {"calls": 0, "cpu_ns": 0, "cpu_self_ns": 0, "gpu_ns": 0, "gpu_self_ns": 0, "gpu_count": 0, "modules": set()})

        def ways_out(at):
            """The operators around it, the innermost first, itself too."""
            while at is not None:
                if hosted[at].kind == "operator":
                    yield at
                at = around[at]

        in_it = Counter()
        for at, host in enumerate(hosted):
            in_it[around[at]] += host.end - host.start
        for at, host in enumerate(hosted):
            if host.kind == "operator":
                row = row_of(at)
                row["cpu_self_ns"] += host.end - host.start - in_it[at]
                if at not in merged:
                    row["calls"] += 1
                    row["cpu_ns"] += host.end - host.start
                    row["modules"].add(host.args.get("Module Hierarchy") or None)
        index = {host.place: at for at, host in enumerate(hosted)}
        for piece in pieces(events, [host for host in hosted if host.kind == "call"]):
            length = piece.end - piece.start
            whole += length
            out = list(ways_out(index[piece.call.place])) if piece.call else []
            if not out:
                unclaimed += 1
                continue
            row_of(out[0])["gpu_self_ns"] += length
            row_of(out[0])["gpu_count"] += 1
            for each in out:
                if each not in merged:
                    row_of(each)["gpu_ns"] += length
    rows = []
    for names, row in found.items():
        modules = row.pop("modules")
        rows.append({"name": names[0], **({"shapes": names[1]} if by_shape else {}), **row,
                     "gpu_share_pct": 100.0 * row["gpu_self_ns"] / whole if whole else None,
                     "module": modules.pop() if len(modules) == 1 else None})
    rows.sort(key=lambda row: (-row["gpu_ns"], -row["cpu_ns"], row["name"].encode(), (row.get("shapes") or "").encode()))
    return rows, unclaimed
