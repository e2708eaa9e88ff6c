"""Host ranges and the GPU work that was launched in them, the slow way, from Kineto's JSON: what `operators` and `regions` join."""
from collections import namedtuple

from slow_tables import COPIES, KERNELS, OLD, ns

# Of a host thread. `kind`: operator, annotation or call; `place`: of those that start together, which comes first.
Host = namedtuple("Host", "thread start end kind name args place")
# `call` is None where none is there.
Piece = namedtuple("Piece", "device start end is_kernel call")
HOST = {"cpu_op": "operator", "Operator": "operator", "user_annotation": "annotation", "cuda_runtime": "call", "Runtime": "call",
        "cuda_driver": "call"}
ORDER = ("operator", "annotation", "call")


def hosts(events, kinds=HOST):
    """By start; of those that start together the longer first, and calls behind all ranges."""
    found = []
    for event in events:
        kind = kinds.get(event.get("cat"))
        if event.get("ph") != "X" or kind is None:
            continue
        start = ns(event["ts"])
        place = (start, kind == "call", -ns(event["dur"]), ORDER.index(kind), event["cat"] == "cuda_driver", len(found))
        found.append(Host((str(event["pid"]), str(event["tid"])), start, start + ns(event["dur"]), kind, event["name"], event.get("args", {}), place))
    return sorted(found, key=lambda host: host.place)


def pieces(events, calls):
    """GPU work, and the call that launched it: the first of its correlation, if it began no later."""
    by_correlation = {}
    for call in calls:
        by_correlation.setdefault(call.args.get("correlation"), call)
    for event in events:
        category, args = OLD.get(event.get("cat"), event.get("cat")), event.get("args", {})
        if event.get("ph") != "X" or category not in KERNELS | COPIES or "stream" not in args:
            continue
        start = ns(event["ts"])
        call = by_correlation.get(args.get("correlation")) if args.get("correlation") else None
        yield Piece(args.get("device"), start, start + ns(event["dur"]), category in KERNELS,
                    call if call is not None and call.start <= start else None)


def directly_around(found):
    """{index: index or None} of each of hosts(): the one that began last, of those that hold it whole."""
    around, open_by_thread = {}, {}
    for at, host in enumerate(found):
        still = [each for each in open_by_thread.get(host.thread, []) if found[each].end > host.start]
        around[at] = next((each for each in reversed(still) if found[each].end >= host.end), None)
        open_by_thread[host.thread] = still + [at]
    return around
