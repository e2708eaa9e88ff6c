"""`memory` the slow way: every level of every device, looked at again for each time. From Kineto's JSON, or the truth of a
simulated run."""
from statistics import median_low

from slow_tables import OLD, ns

ALLOCATES = ("cudaMalloc", "hipMalloc", "cuMemAlloc", "cuMemCreate")
NOT_OF_DEVICE = ("Host", "Async", "Pool")
ON_DEVICE = (3, 4, 6)  # CUpti_ActivityMemoryKind: Device, Array, Device Static


def levels_of_kineto(events):
    """{device or None for the host: [(ns, allocated or None, reserved or None)]}, by time."""
    found = {}
    for event in events:
        args = event.get("args", {})
        if event.get("name") != "[memory]" or "Device Type" not in args:
            continue
        host = args["Device Type"] == 0
        level = (ns(event["ts"]), args.get("Total Allocated"), None if host else args.get("Total Reserved"))
        if level[1] is not None or level[2] is not None:
            found.setdefault(None if host else args["Device Id"], []).append(level)
    return {device: sorted(some, key=lambda each: each[0]) for device, some in found.items()}


def levels_of_truth(rank):
    """Allocated by the driver, less released."""
    found = {}
    for line in sorted(rank.of("memory"), key=lambda line: line["cupti_start"]):
        if line["memory"] in ON_DEVICE and line["operation"] in (1, 2):
            some = found.setdefault(line["device"], [])
            before = some[-1][1] if some else 0
            some.append((line["cupti_start"], before + (line["bytes"] if line["operation"] == 1 else -line["bytes"]), None))
    return found


def allocations_of_truth(rank, device):
    """Times when the driver was asked for memory of a device, as calls without a length."""
    return [(line["cupti_start"], line["cupti_start"]) for line in rank.of("memory") if line["operation"] == 1 and
            line["memory"] in ON_DEVICE and not line["is_async"] and line["device"] == device]


def calls_of_kineto(events):
    """[(start, end)] of calls that ask the driver for memory of a device; None: calls are not in the trace."""
    calls = [event for event in events if event.get("ph") == "X" and event.get("cat") in ("cuda_runtime", "cuda_driver", "Runtime")]
    if not calls:
        return None
    some = sorted(((ns(each["ts"]), ns(each["ts"]) + ns(each["dur"]), each["pid"], each["tid"]) for each in calls
                   if each["name"].startswith(ALLOCATES) and not any(word in each["name"] for word in NOT_OF_DEVICE)))
    outer = []
    for each in some:
        if not any(other[2:] == each[2:] and other[0] <= each[0] < other[1] for other in outer):
            outer.append(each)
    return [each[:2] for each in outer]


def held(series, window):
    """The values in force in a window, [(from, value)]; a value counts at its own moment too."""
    begin, end = window
    inside = []
    for i, (at, value) in enumerate(series):
        until = series[i + 1][0] if i + 1 < len(series) else None
        if begin is None:
            inside.append((at, value))
        elif (until is None or until > begin or at >= begin) and at < end:
            inside.append((max(at, begin), value))
    return inside


def span(series, windows):
    """start, peak, when, end over all windows; Nones where nothing is known."""
    inside = [each for window in windows for each in held(series, window)]
    if not inside:
        return None, None, None, None
    peak = max(value for _, value in inside)
    return inside[0][1], peak, next(at for at, value in inside if value == peak), inside[-1][1]


def step_of(steps, at):
    return next((number for begin, end, number in steps if begin <= at < end), None)


def row(levels, steps, windows, origin, calls, number=None):
    """`steps`: [(begin, end, number)], apart; `windows`: [(begin, end)], (None, None) for all of the time; `calls`: [(start, end)]
    or None; `number`: of the step that the row is of."""
    allocated = [(at, value) for at, value, _ in levels if value is not None]
    reserved = [(at, value) for at, _, value in levels if value is not None]
    unused = [(at, more - less) for at, less, more in levels if more is not None]
    start, peak, at, end = span(allocated, windows)
    ends = [span(allocated, [(begin, stop)])[3] for begin, stop, _ in steps]
    growth = [(ends[i] - ends[i - 1], steps[i][2]) for i in range(1, len(ends)) if ends[i] is not None and ends[i - 1] is not None]
    growth = [bytes for bytes, of in growth if number in (None, of)]
    later = [step[2] for step in steps[1:]]
    known = calls is not None and steps and number in (None, *later)
    some = [call for call in calls or [] if step_of(steps, call[0]) in (later if number is None else [number])] if known else None
    return {"start_bytes": start, "peak_bytes": peak, "peak_at_ns": None if at is None else at - origin,
            "peak_step": None if at is None else step_of(steps, at), "end_bytes": end,
            "reserved_peak_bytes": span(reserved, windows)[1], "reserved_end_bytes": span(reserved, windows)[3],
            "unused_peak_bytes": span(unused, windows)[1], "unused_end_bytes": span(unused, windows)[3],
            "steps": len(steps) if number is None else None, "growth_bytes_per_step": median_low(growth) if growth else None,
            "grew_in_steps": sum(bytes > 0 for bytes in growth) if growth else None,
            "allocations": len(some) if known else None, "allocation_ns": sum(end - start for start, end in some) if known else None}
