"""native: a training program without Python and with static cudart, in the manner of llm.c, and whether the recording has
its launches of each step, its ranges and its steps."""
import gzip
import json
from collections import Counter

import build
import names
import recording

STEPS, LAYERS = 50, 12
CHOSEN = (20, 24)  # the steps that are exported alone


def run(part):
    recorded = recording.run(part, "run", [build.program(part, "train"), STEPS, LAYERS])
    if not part.check(recorded.done.returncode == 0, "the training ends with 0", recorded.done.stderr[-500:]):
        return
    done = json.loads(recorded.done.stdout)
    part.check(done["cudart"] == "static", "no libcudart.so is in the process", done["cudart"])
    recordings = recorded.recordings()
    if not part.check(len(recordings) == 1, "one recording", len(recordings)):
        return
    part.check(recording.lost(recordings) == 0, "nothing is lost or overwritten", recording.lost(recordings))
    for what, expected, seen in differences(done, recordings[0]):
        part.check(seen == expected, what, f"expected {expected}, recorded {seen}")
    check_steps(part, done, recorded.traces)
    span = [event.start for event in recording.events(recordings, "kernel", "kernel_wide")]
    part.figure("time of the steps on the GPU", (max(span) - min(span)) / 1e6 / STEPS, "ms a step")


def differences(done, found):
    """(what, expected, recorded)."""
    kernels = [event for event in found.events if event.kind in ("kernel", "kernel_wide")]
    steps = done["steps"]
    yield "kernels by name", {name: count * steps for name, count in done["kernels_per_step"].items()}, names.counted(kernels)
    yield "copies", done["memcpy_per_step"] * steps, sum(event.kind == "memcpy" for event in found.events)
    sets = sum(event.kind == "memset" for event in found.events)
    yield "sets", done["memset_before"] + done["memset_per_step"] * steps, sets
    pushes = Counter(event.name for event in found.events if event.kind == "nvtx_push")
    yield "ranges in the steps", {name: steps for name in done["ranges_per_step"]}, {
        name: pushes[name] for name in done["ranges_per_step"]}
    yield "ranges that name a step", [f"Train step {number}" for number in range(1, steps + 1)], [
        name for name in pushes if name.startswith("Train step ")]
    yield "launches in each step", {launches(done)}, set(launches_by_step(found, kernels).values())


def launches(done):
    return sum(done["kernels_per_step"].values())


def launches_by_step(found, kernels):
    """{name of the step: kernels whose launching call began inside its range}."""
    correlations = {kernel.correlation for kernel in kernels}
    calls = sorted(found.wall(event.start) for event in found.events
                   if event.kind.startswith("runtime") and event.correlation in correlations)
    return {name: sum(begin <= call < end for call in calls) for name, begin, end in steps_of(found)}


def steps_of(found):
    """(name, begin, end) of the ranges that name a step, on the wall clock. Ranges of a thread are nested."""
    open_ranges = []
    for event in (event for event in found.events if event.kind in ("nvtx_push", "nvtx_pop")):
        if event.kind == "nvtx_push":
            open_ranges.append(event)
            continue
        begun = open_ranges.pop()
        if begun.name.startswith("Train step "):
            yield begun.name, found.wall(begun.time, "mono_ns"), found.wall(event.time, "mono_ns")


def check_steps(part, done, traces):
    """tracetool finds the steps by itself: those that were asked for come out with their GPU work, and no others."""
    path = f"{part.folder}/steps.json.gz"
    recording.tool(part, "export", "--perfetto", traces, "--steps", "{}-{}".format(*CHOSEN), "-o", path)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    found = {event["name"] for event in events if event.get("name", "").startswith("Train step ")}
    expected = {f"Train step {number}" for number in range(CHOSEN[0], CHOSEN[1] + 1)}
    part.check(found == expected, "export --steps finds the steps", f"expected {sorted(expected)}, found {sorted(found)}")
    kernels = sum(event.get("cat") == "kernel" for event in events)
    part.check(kernels == len(expected) * launches(done), "export --steps has the kernels of these steps and no others",
               f"expected {len(expected) * launches(done)}, found {kernels}")
