"""Compares what a recording defines (devices, contexts, streams, names, communicators, graph nodes) with the truth.
Each function gives the differences as (what, recorded, true), none where all is as it was."""
UNKNOWN_ID = 0xffffffff
DEVICE_FIELDS = ("name", "memory_bytes", "multiprocessors", "compute_major", "compute_minor", "pci_bus_id",
                 "memory_bandwidth_kbps", "core_clock_khz", "l2_bytes", "threads_per_warp", "max_threads_per_block",
                 "max_warps_per_multiprocessor", "max_blocks_per_multiprocessor", "max_registers_per_block",
                 "max_registers_per_multiprocessor", "max_shared_bytes_per_block",
                 "max_shared_bytes_per_multiprocessor", "copy_engines")


def differ(recorded, true):
    """Two dicts: what one has and the other has not, or has otherwise."""
    return [(key, recorded.get(key), true.get(key)) for key in {**true, **recorded}
            if recorded.get(key) != true.get(key)]


def devices_differ(rank, recording):
    """Those that have a context must be there, others may."""
    used = {line["device"] for line in rank.lines if line["kind"] == "context"}
    true = {line["device"]: tuple(line[field] for field in DEVICE_FIELDS) + (line["uuid"],)
            for line in rank.lines if line["kind"] == "device"
            if line["device"] in used or line["device"] in recording.devices}
    recorded = {number: tuple(getattr(device, field) for field in DEVICE_FIELDS) + (device.uuid.hex(),)
                for number, device in recording.devices.items()}
    return differ(recorded, true)


def made(rank, kind):
    """All of them, whether or not CUPTI was asked for them: the recording is to have them all."""
    return [line for line in rank.lines if line["kind"] == kind]


def contexts_differ(rank, recording):
    true = {line["context"]: (line["device"], line["null_stream"]) for line in made(rank, "context")}
    return differ({number: (each.device, each.null_stream) for number, each in recording.contexts.items()}, true)


def streams_differ(rank, recording):
    true = {(line["context"], line["stream"]): (line["flag"], line["priority"]) for line in made(rank, "stream")}
    return differ({key: (each.flag, each.priority) for key, each in recording.streams.items()}, true)


def names_differ(rank, recording):
    """What of a thing's numbers is unknown to the recording (id 0xffffffff, context 0) is not compared."""
    true = {(line["resource"], line["name"], line["handle"]): (line["id"], line["context"])
            for line in rank.of("resource_name")}
    recorded = {}
    for each in recording.resource_names:
        key = (each.resource, each.name, each.handle)
        number, context = true.get(key, (None, None))
        recorded[key] = (number if each.id == UNKNOWN_ID else each.id, each.context or context)
    return differ(recorded, true)


def categories_differ(rank, recording):
    true = {(line["domain"], line["category"]): line["name"] for line in rank.of("nvtx_category")}
    return differ({(domain or "", category): each.name for (domain, category), each in recording.categories.items()},
                  true)


def communicators_differ(rank, recording):
    """A split tells its parent's rank and size, not its own: these may be unknown."""
    made = [line for line in rank.of("nvtx_pop") if "init" in line]
    true = {line["communicator"]: (line.get("parent", 0), line["device"], line.get("color"), line.get("key"))
            for line in made}
    recorded = {each.communicator: (each.parent, each.device, each.color if each.parent else None,
                                    each.key if each.parent else None) for each in recording.communicators}
    sizes = {line["communicator"]: (line["rank"], line["ranks"]) for line in made}
    wrong = [(each.communicator, (each.rank, each.ranks), sizes[each.communicator]) for each in recording.communicators
             if (each.rank, each.ranks) not in (sizes.get(each.communicator), (-1, -1))
             and each.communicator in sizes]
    return differ(recorded, true) + wrong


def described(node):
    """A recorded GraphNode that was captured, as true_node() gives it."""
    if node is None:
        return None
    return (node.range, node.domain or "", node.tid, node.nccl_name, node.nccl_class, node.communicator, node.bytes,
            node.reduction_op, node.peer, node.ordinal, node.epoch)


def true_node(opened, calls):
    """`calls`: seq of an NCCL call's line -> its event."""
    _, inside, call, tid = opened
    event = calls.get(call["seq"]) if call else None
    said = (None, 0, None, None, None, None, None, 0)
    if event is not None:
        said = (event.name, event.nccl_class, event.communicator, event.bytes, event.reduction_op, event.peer,
                event.ordinal, event.epoch)
    return (inside["name"] if inside else None, inside["domain"] if inside else "", tid) + said


def graph_nodes_differ(rank, recording, pairs):
    """Every kernel, copy and set of a graph leads to what was open when it was captured."""
    opened = rank.captured()
    calls = {line["seq"]: event for line, event in pairs if line["kind"] == "nccl_call"}
    differences, known = [], {}
    for line, event in pairs:
        node = getattr(event, "graph_node", 0)
        if node and node not in known:
            known[node] = described(recording.captured(node))
            first = node
            while opened[first][0]:
                first = opened[first][0]
            true = true_node(opened[first], calls)
            if known[node] != true:
                differences.append((node, known[node], true))
    return differences


def definitions_differ(rank, recording, pairs):
    """name of what is compared -> its differences."""
    found = {"devices": devices_differ(rank, recording), "contexts": contexts_differ(rank, recording),
             "streams": streams_differ(rank, recording), "names": names_differ(rank, recording),
             "categories": categories_differ(rank, recording), "communicators": communicators_differ(rank, recording)}
    found["graph nodes"] = graph_nodes_differ(rank, recording, pairs)
    return found
