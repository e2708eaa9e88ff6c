"""torch: step times of a GPT-2-sized training without us, with us, and under torch.profiler and nsys."""
import os
import shutil
import time

import trainings
from workers import Worker, WorkerFailed

LIMIT_S = 400  # of the part's 480, start-up of the processes included
RING = "64M"  # the last round is looked at; older ones may be overwritten
NO_STOP = "the residual after recording is stopped: skipped, the recorder cannot be stopped in a running process"


def run(part, compiled=False):
    workers, variants = start(part, compiled)
    try:
        left_s = LIMIT_S - trainings.KEEP_S - (time.monotonic() - part.began)
        found = trainings.rounds(variants, workers, left_s)
    finally:
        ends = {name: worker.end() for name, worker in workers.items()}
    part.check(not any(ends.values()), "every process ends with 0", ends)
    report(part, variants, workers, found)


def start(part, compiled):
    """The processes, warm, and the variants that they can play. They load PyTorch side by side; the first one compiles alone,
    into the cache of all."""
    arguments = ["--batch", str(trainings.batch_for(part.machine.gpu_bytes()))] + (["--compile"] if compiled else [])
    part.note(NO_STOP)
    workers = {}
    for variant in trainings.VARIANTS:
        if not variant.of and is_there(part, variant):
            workers[variant.name] = start_one(part, variant, arguments)
            if len(workers) == 1:
                warm(workers[variant.name])
    warm_all(part, workers)
    about = workers["without"].ask("about")
    part.figure("parameters of the model", about["parameters"], "")
    part.figure("batch", about["batch"], "sequences of 1024 tokens")
    return workers, [variant for variant in trainings.VARIANTS if (variant.of or variant.name) in workers]


def is_there(part, variant):
    if variant.name != "nsys" or shutil.which("nsys") is not None:
        return True
    part.note("nsys: skipped, it is not in PATH")
    return False


def start_one(part, variant, arguments):
    settings = {"TORCHINDUCTOR_CACHE_DIR": os.path.join(part.folder, "inductor")}
    if variant.events:
        settings.update(TRACETOOL_EVENTS=variant.events, TRACETOOL_BUFFER=RING)
    prefix = (*trainings.NSYS, os.path.join(part.folder, "nsys_report")) if variant.name == "nsys" else ()
    return Worker(part, variant.name.replace(" ", "_"), arguments, prefix, variant.events is not None, **settings)


def warm(worker):
    worker.ask("run", "main", 2)
    worker.ask("run", "small", 2)


def warm_all(part, workers):
    """Each has made its models then. Only nsys may fail: it does not work everywhere."""
    for name, worker in list(workers.items()):
        try:
            warm(worker)
        except WorkerFailed as failed:
            if name != "nsys":
                raise
            worker.end(1)
            del workers[name]
            part.note(f"nsys: skipped, it does not work here: {str(failed)[-300:]}")


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
    for name in ("light", "default", "all"):
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
    part.check(ratios["default"] <= 1.01, "default: a step takes at most 1 % more than without us", f"{ratios['default']:.4f}")
    share = trainings.overhead_share(ratios["default"], ratios["profiler cpu+cuda"])
    part.check(share is not None and share <= 0.2, "default: at most a fifth of torch.profiler's overhead",
               f"{share} of {ratios['profiler cpu+cuda']:.4f}")
