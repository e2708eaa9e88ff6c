"""What the parts torch and torch_compile do: one training, timed without us, with us and under other profilers.

Each variant is one process that stays (workers.py). Rounds go through all of them, A B C A B C ..., a window of steps each,
as many rounds as the part's time allows. The first window of each process is not counted: compilation, caching allocator,
autotuning. Processes wait for their turn without touching the GPU, so one has it to itself.
"""
import statistics
import struct
import time
from collections import Counter, namedtuple

import measure
from recording import KINDS, MADE
from workers import WorkerFailed

# name; `events`: TRACETOOL_EVENTS, None: without the recorder; `command`: what a window is asked with; `of`: the variant
# whose process it is (its own where None).
Variant = namedtuple("Variant", "name events command of", defaults=(None, "run", None))
VARIANTS = (Variant("without"), Variant("light", "light"), Variant("default", "default"), Variant("all", "all"),
            Variant("profiler cpu+cuda", command="profile"), Variant("profiler cuda", command="profile"),
            Variant("after profiler cpu+cuda", of="profiler cpu+cuda"), Variant("nsys"))
NSYS = ("nsys", "profile", "--trace=cuda,nvtx", "--sample=none", "--cpuctxsw=none", "--force-overwrite=true", "-o")
STEPS = {"main": 10, "small": 30}
MOST_ROUNDS, FEWEST_ROUNDS = 30, 3
SIZES = {KINDS[number - 16]: struct.calcsize("<" + layout) for number, (layout, _, _) in MADE.items()}


def batch_for(gpu_bytes):
    """Sequences in a batch, so that all processes fit on the GPU at once: about 8 GB each with 4."""
    return next((batch for batch, least in ((4, 75 << 30), (2, 44 << 30)) if gpu_bytes >= least), 1)


def words(variant, model):
    """The command for one window."""
    kind = variant.name.split()[-1]
    return (variant.command, model, STEPS[model]) + ((kind,) if variant.command == "profile" else ())


def rounds_for(first_round_s, left_s):
    return max(FEWEST_ROUNDS, min(MOST_ROUNDS, int(left_s / max(first_round_s, 1e-3))))


def ask_round(variants, workers, model, lost):
    """{variant: answer} of one round, in the order of the variants. One whose process fails is left out from then on: `lost`
    says why. Without the first nothing can be compared."""
    found = {}
    for variant in (each for each in variants if each.name not in lost and (each.of or each.name) not in lost):
        try:
            found[variant.name] = workers[variant.of or variant.name].ask(*words(variant, model))
        except WorkerFailed as failed:
            if variant is variants[0]:
                raise
            lost[variant.name] = str(failed)
    return found


def rounds(variants, workers, left_s):
    """({model: [one round's answers]}, {lost variant: why}): the first round warms up and says how long one takes."""
    began, lost = time.monotonic(), {}
    for model in STEPS:
        ask_round(variants, workers, model, lost)
    warm = time.monotonic()
    found = {model: [ask_round(variants, workers, model, lost)] for model in STEPS}
    now = time.monotonic()
    for done in range(1, rounds_for(now - warm, left_s - (now - began))):
        if done >= FEWEST_ROUNDS and time.monotonic() - began >= left_s:
            break  # one did not answer, and that took the time
        for model in STEPS:
            found[model].append(ask_round(variants, workers, model, lost))
    return found, lost


def step_ms(answer):
    """The median step of a window, on the device's clock; the first step waits for the window's begin."""
    return statistics.median(answer["steps_ms"][1:])


def column(found, variant, of):
    return [of(answers[variant]) for answers in found]


def window_events(recording, answer):
    """The events that lie in a window, by the wall clock. Nothing was in flight at its ends."""
    inside = []
    for event in recording.events:
        begin, _ = recording.event_wall(event)
        if begin is not None and answer["begin_ns"] <= begin <= answer["end_ns"]:
            inside.append(event)
    return inside


def kernels_in(events):
    return [event for event in events if event.kind in ("kernel", "kernel_wide")]


def per_step(recording, answer):
    """(launches, kernels, bytes in the ring) of one step of a window. A launch is a correlation id: that of a graph counts
    once."""
    events, steps = window_events(recording, answer), len(answer["steps_ms"])
    kernels = kernels_in(events)
    size = sum(SIZES[event.kind] for event in events)
    return len({kernel.correlation for kernel in kernels}) / steps, len(kernels) / steps, size / steps


def demangled(names):
    """{mangled: plain}, by the C++ library that PyTorch needs as well; unchanged what cannot be."""
    import ctypes
    library = ctypes.CDLL("libstdc++.so.6")
    demangle, free = library.__cxa_demangle, ctypes.CDLL(None).free
    demangle.restype, demangle.argtypes = ctypes.c_void_p, [ctypes.c_char_p] + [ctypes.c_void_p] * 3
    free.argtypes = [ctypes.c_void_p]
    plain = {}
    for name in names:
        text = demangle(name.encode(), None, None, None)
        plain[name] = ctypes.string_at(text).decode() if text else name
        free(text)
    return plain


def totals(events):
    """{name: (count, summed ns)} of GPU work, as programs/torch_steps.py tells Kineto's."""
    found = Counter()
    spent_ns = Counter()
    for event in events:
        kind = event.kind.replace("_wide", "")
        if kind not in ("kernel", "memcpy", "memset") or event.end is None:
            continue
        name = event.shape.name if kind == "kernel" else kind
        found[name] += 1
        spent_ns[name] += event.end - event.start
    return by_plain_name({name: (count, spent_ns[name]) for name, count in found.items()})


def by_plain_name(found):
    """{plain name: (count, ns)}. Kineto demangles too, but leaves names as they are from some length on: from 1024 or 8192
    letters, as its version is."""
    plain, summed = demangled(found), {}
    for name, (count, spent_ns) in found.items():
        before = summed.get(plain[name], (0, 0))
        summed[plain[name]] = (before[0] + count, before[1] + spent_ns)
    return summed


def differences(ours, theirs):
    """Names with another count: {name: (ours, theirs)}. Both are {name: (count, ns)}."""
    names = set(ours) | set(theirs)
    counts = {name: (ours.get(name, (0, 0))[0], theirs.get(name, (0, 0))[0]) for name in names}
    return {name: both for name, both in sorted(counts.items()) if both[0] != both[1]}


def overhead_share(ours, profilers):
    """Our part of another's overhead, from two ratios to the time without either; None where the other has none."""
    return (ours - 1) / (profilers - 1) if profilers > 1 else None


def host_ns_per_launch(found, variant, launches_per_step):
    """(mean, interval) over rounds of the host's wall time that a launch takes more than without us, in the small model."""
    steps = STEPS["small"]
    more = [(answers[variant]["launch_ms"] - answers["without"]["launch_ms"]) * 1e6 / steps / launches_per_step
            for answers in found["small"]]
    return measure.mean_interval(more), more


def cpu_ns_per_launch(found, variant, launches_per_step):
    """The same of the processor time of all threads of the process."""
    steps = STEPS["small"]
    more = [(answers[variant]["cpu_ms"] - answers["without"]["cpu_ms"]) * 1e6 / steps / launches_per_step
            for answers in found["small"]]
    return measure.mean_interval(more), more
