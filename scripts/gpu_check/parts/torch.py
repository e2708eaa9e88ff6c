"""torch: step times of a GPT-2-sized training without us, with us, and under torch.profiler and nsys."""
import os
import shutil

import trainings
from workers import FIRST_ANSWER_S, Worker, WorkerFailed, end_all

READING_SHARE = 0.25  # of the part's time: for ending the processes and reading the recordings
RING = "32M"  # the last round is looked at; older ones may be overwritten
END_S = 60
COMPILE_THREADS = 4  # of each process: 16 each, as many as there are processors, are too many
NO_STOP = "the residual after recording is stopped: skipped, the recorder cannot be stopped in a running process"


def run(part, compiled=False):
    workers = {}
    try:
        variants = start(part, compiled, workers)
        found, lost = trainings.rounds(variants, workers, part.left_s() - READING_SHARE * part.limit_s)
    finally:
        ends = end_all(workers, END_S)
    part.check(not lost, "every process answers to the end", lost)
    part.check(not any(end != 0 for end in ends.values()), "every process ends with 0", ends)
    report(part, [each for each in variants if in_all_rounds(found, each.name)], workers, found)


def in_all_rounds(found, name):
    """One that is lost is in no later round."""
    return all(name in answers[-1] for answers in found.values())


def start(part, compiled, workers):
    """The variants that can be played; `workers` then has their processes, warm. They load PyTorch side by side; the first
    one compiles alone, into the cache of all."""
    arguments = ["--batch", str(trainings.batch_for(part.machine.gpu_bytes()))] + (["--compile"] if compiled else [])
    part.note(NO_STOP)
    for variant in trainings.VARIANTS:
        if not variant.of and is_there(part, variant):
            workers[variant.name] = start_one(part, variant, arguments)
    first, *others = workers
    warm(part, workers, [first])
    warm(part, workers, others)
    about = workers[first].ask("about")
    part.figure("parameters of the model", about["parameters"], "")
    part.figure("batch", about["batch"], "sequences of 1024 tokens")
    return [variant for variant in trainings.VARIANTS if (variant.of or variant.name) in workers]


def is_there(part, variant):
    if variant.name != "nsys" or shutil.which("nsys") is not None:
        return True
    part.note("nsys: skipped, it is not in PATH")
    return False


def start_one(part, variant, arguments):
    settings = {"TORCHINDUCTOR_CACHE_DIR": os.path.join(part.folder, "inductor"),
                "TORCHINDUCTOR_COMPILE_THREADS": COMPILE_THREADS}
    if variant.events:
        settings.update(TRACETOOL_EVENTS=variant.events, TRACETOOL_BUFFER=RING)
    prefix = (*trainings.NSYS, os.path.join(part.folder, "nsys_report")) if variant.name == "nsys" else ()
    return Worker(part, variant.name.replace(" ", "_"), arguments, prefix, variant.events is not None, **settings)


def warm(part, workers, names):
    """Each has made its models then, side by side. One that fails is left out, and only nsys may: it does not work
    everywhere."""
    for model in trainings.STEPS:
        for name in list(names):
            try_it(part, workers, names, name, lambda worker: worker.send("run", model, 2))
        for name in list(names):
            try_it(part, workers, names, name, lambda worker: worker.receive(FIRST_ANSWER_S))


def try_it(part, workers, names, name, what):
    try:
        what(workers[name])
    except WorkerFailed as failed:
        if name == "without":
            raise
        workers.pop(name).end(1)
        names.remove(name)
        if name == "nsys":
            part.note(f"nsys: skipped, it does not work here: {str(failed)[-300:]}")
        else:
            part.check(False, f"{name}: its process starts", failed)


def report(part, variants, workers, found):
    without = trainings.column(found["main"], "without", trainings.step_ms)
    part.samples("step, without us", without, "ms")
    ratios = {}
    for variant in variants[1:]:
        mine = trainings.column(found["main"], variant.name, trainings.step_ms)
        ratios[variant.name] = part.ratio(f"step time, {variant.name}, to without us", mine, without)
    report_small(part, variants, found)
    report_rings(part, workers, found)
    check_goals(part, ratios)


def report_small(part, variants, found):
    """A model that the host cannot feed: what a step takes there is what its launches take."""
    without = trainings.column(found["small"], "without", lambda answer: answer["launch_ms"])
    for variant in variants[1:]:
        mine = trainings.column(found["small"], variant.name, lambda answer: answer["launch_ms"])
        part.ratio(f"time of the host to launch the small model, {variant.name}, to without us", mine, without)


def report_rings(part, workers, found):
    for name in (name for name in ("light", "default", "all") if in_all_rounds(found, name)):
        recordings = workers[name].recordings()
        for each in recordings:
            part.result["cupti"] = str(each.header["cupti_version"])
        if not part.check(len(recordings) == 1, f"{name}: one recording", len(recordings)):
            continue
        lost = sum(recordings[0].lost.values()) + recordings[0].dropped
        part.check(lost == 0, f"{name}: nothing is lost", lost)
        report_ring(part, name, recordings[0], found)


def report_ring(part, name, recorded, found):
    launches, kernels, size = trainings.per_step(recorded, found["main"][-1][name])
    if not part.check(launches > 0, f"{name}: the kernels of the last window are in the ring", launches):
        return
    part.figure(f"launches per step, {name}", launches, "")
    part.figure(f"kernels per step, {name}", kernels, "")
    part.figure(f"bytes per step in the ring, {name}", size, "bytes")
    seconds = sum(found["main"][-1][name]["steps_ms"]) / 1000 / len(found["main"][-1][name]["steps_ms"])
    part.figure(f"launches per second, {name}", launches / seconds, "1/s")
    small = trainings.per_step(recorded, found["small"][-1][name])[0]
    for what, of in (("wall time", trainings.host_ns_per_launch), ("processor time", trainings.cpu_ns_per_launch)):
        (mean, interval), rounds = of(found, name, small)
        part.figure(f"{what} of the host per launch, {name}, more than without us", mean, "ns", len(rounds),
                    (min(rounds), max(rounds)), interval)


def check_goals(part, ratios):
    if not {"default", "profiler cpu+cuda"} <= set(ratios):
        part.note("the goals: not checked, there is no figure of both the default set and torch.profiler")
        return
    part.check(ratios["default"] <= 1.01, "default: a step takes at most 1 % more than without us", f"{ratios['default']:.4f}")
    share = trainings.overhead_share(ratios["default"], ratios["profiler cpu+cuda"])
    part.check(share is not None and share <= 0.2, "default: at most a fifth of torch.profiler's overhead",
               f"{share} of {ratios['profiler cpu+cuda']:.4f}")
