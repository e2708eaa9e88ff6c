"""smoke: examples/cuda/known_work.cu, and whether the recording holds exactly what it says it did."""
import json
from collections import Counter

import build
import names
import recording
import compare  # of examples/cuda, which recording puts into the path

KERNELS, GRAPHS = 500, 100
STREAM_WAIT_EVENT = 2  # CUpti_ActivitySynchronizationType
DIRECTIONS = {1: "host_to_device", 2: "device_to_host", 8: "device_to_device"}  # CUpti_ActivityMemcpyKind


def run(part):
    program = build.program(part, "known_work")
    recorded = recording.run(part, "run", [program, "--kernels", KERNELS, "--graphs", GRAPHS], TRACETOOL_EVENTS="all")
    if not part.check(recorded.done.returncode == 0, "known_work ends with 0", recorded.done.stderr[-500:]):
        return
    done = json.loads(recorded.done.stdout)
    recordings = recorded.recordings()
    if part.check(len(recordings) == 1, "one recording", len(recordings)):
        check_recording(part, done, recorded.ranks(), recordings)
    bare = recording.run(part, "bare", [program, "--kernels", KERNELS, "--graphs", GRAPHS], record=False)
    part.check(bare.done.stdout == recorded.done.stdout, "it prints the same without the recorder", bare.done.stdout[-300:])


def check_recording(part, done, ranks, recordings):
    for kind, expected, seen in compare.counts(done, ranks):
        part.check(seen == expected, f"{kind}: as many as were done", f"{expected} done, {seen} recorded")
    part.check(compare.lost(ranks) == recording.lost(recordings) == 0, "nothing is lost or overwritten",
               f"{compare.lost(ranks)} and {recording.lost(recordings)}")
    part.check(recordings[0].state == "clean", "the recording was closed", recordings[0].state)
    for what, expected, seen in differences(done, recordings[0]):
        part.check(seen == expected, what, f"expected {expected}, recorded {seen}")


def differences(done, found):
    """(what, expected, recorded) of all that known_work says beyond counts."""
    by_kind = {}
    for event in found.events:
        by_kind.setdefault(event.kind.replace("_wide", ""), []).append(event)
    kernels, copies = by_kind.get("kernel", []), by_kind.get("memcpy", [])
    yield "kernels: names, grids and blocks", expected_shapes(done), shapes(kernels)
    yield "bytes copied in each direction", done["memcpy_bytes"], bytes_by_direction(copies)
    yield "bytes set", done["memset_bytes"], sum(event.bytes for event in by_kind.get("memset", []))
    yield "NVTX ranges", done["nvtx_ranges"], [event.name for event in by_kind.get("nvtx_push", [])]
    yield "graph launches, by their correlation", done["graph_launch"], len({k.correlation for k in kernels if k.graph})
    yield "graph nodes that know their capture", len({k.graph_node for k in kernels if k.graph}), len(captured(found, kernels))
    yield "streams", 2, len({kernel.stream for kernel in kernels if not kernel.graph})
    yield "waits for events", done["event_records"], sum(sync.type == STREAM_WAIT_EVENT for sync in by_kind.get("sync", []))
    yield "work that ends before it starts", 0, sum(not 0 < event.start <= (event.end or 0) for event in kernels + copies)


def expected_shapes(done):
    return {(k["name"], tuple(k["grid"]), tuple(k["block"])): k["count"] for k in done["kernels"] if k["count"]}


def shapes(kernels):
    return dict(Counter((names.plain(kernel.shape.name), kernel.shape.grid, kernel.shape.block) for kernel in kernels))


def bytes_by_direction(copies):
    sums = Counter()
    for copy in copies:
        sums[DIRECTIONS.get(copy.copy_kind, f"kind {copy.copy_kind}")] += copy.bytes
    return dict(sums)


def captured(found, kernels):
    """The nodes among those of the kernels whose capture was seen, with the range that was open then."""
    known = {kernel.graph_node: found.captured(kernel.graph_node) for kernel in kernels if kernel.graph}
    return [node for node, origin in known.items() if origin is not None and origin.range == "capture"]
