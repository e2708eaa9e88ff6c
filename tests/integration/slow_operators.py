"""The table `operators`, the slow way: each operator with the list of what lies in it."""
from slow_launches import directly_around, hosts, pieces


def shapes_of(host):
    dims = host.args.get("Input Dims", host.args.get("Input dims"))
    return str(dims) if dims else None


def operators(files, by_shape=False):
    """[{...}] of the events of some files, as one group of rows."""
    found, whole, unclaimed = {}, 0, 0
    for events in files:
        hosted = hosts(events)
        around = directly_around(hosted)

        def key(at):
            return (hosted[at].name, shapes_of(hosted[at])) if by_shape else (hosted[at].name,)

        def ways_out(at):
            """The operators around it, the innermost first, itself too."""
            while at is not None:
                if hosted[at].kind == "operator":
                    yield at
                at = around[at]

        for at, host in enumerate(hosted):
            if host.kind == "operator":
                row = found.setdefault(key(at), {"calls": 0, "cpu_ns": 0, "cpu_self_ns": 0, "gpu_ns": 0, "gpu_self_ns": 0, "gpu_count": 0, "modules": set()})
                row["calls"] += 1
                row["cpu_ns"] += host.end - host.start
                row["modules"].add(host.args.get("Module Hierarchy") or None)
                inside = [hosted[each] for each in children(around).get(at, [])]
                row["cpu_self_ns"] += host.end - host.start - sum(each.end - each.start for each in inside)
        index = {host.place: at for at, host in enumerate(hosted)}
        for piece in pieces(events, [host for host in hosted if host.kind == "call"]):
            length = piece.end - piece.start
            whole += length
            out = list(ways_out(index[piece.call.place])) if piece.call else []
            if not out:
                unclaimed += 1
                continue
            found[key(out[0])]["gpu_self_ns"] += length
            found[key(out[0])]["gpu_count"] += 1
            for each in out:
                found[key(each)]["gpu_ns"] += length
    rows = []
    for names, row in found.items():
        modules = row.pop("modules")
        rows.append({"name": names[0], **({"shapes": names[1]} if by_shape else {}), **row,
                     "gpu_share_pct": 100.0 * row["gpu_self_ns"] / whole if whole else None,
                     "module": modules.pop() if len(modules) == 1 else None})
    rows.sort(key=lambda row: (-row["gpu_ns"], -row["cpu_ns"], row["name"].encode(), (row.get("shapes") or "").encode()))
    return rows, unclaimed


def children(around, _known={}):
    if id(around) not in _known:
        _known.clear()
        inside = {}
        for at, outer in around.items():
            inside.setdefault(outer, []).append(at)
        _known[id(around)] = inside
    return _known[id(around)]
