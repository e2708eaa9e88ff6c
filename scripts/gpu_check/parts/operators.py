"""operators: operators and the modules that they were called in against torch.profiler's in the same process, the kernels that they launched
against those of torch.profiler alone; then what each level of TRACETOOL_TORCH costs."""
import json
import os

import operators_compare as compare
import recording
import trainings
from trainings import Variant
from workers import FIRST_ANSWER_S, Worker, end_all

STEPS = 3
COST_SHARE = 0.5  # of the part's time
END_S = 60
LEVELS = (Variant("without"), *(Variant(level, "default") for level in ("off", "steps", "ops", "shapes", "stacks", "memory", "all")))


def run(part):
    part.attempt("what operators launched", compare_with_profiler)
    part.attempt("the cost of each level", measure)


def compare_with_profiler(part):
    """A window under torch.profiler, in which both see the operators, and one behind it, in which the recorder has the GPU's work again. A
    torch.profiler next to the recorder may see no work of the GPU: the same program has it alone in another process."""
    worker = Worker(part, "recorded", TRACETOOL_TORCH="all", TRACETOOL_EVENTS="default", TRACETOOL_BUFFER="256M")
    worker.ask("run", "main", 3, timeout_s=FIRST_ANSWER_S)
    path = os.path.join(part.folder, "profile.json")
    during = worker.ask("trace", "main", STEPS, path)
    after = worker.ask("run", "main", STEPS)
    part.check(worker.end(END_S) == 0, "the program ends with 0", worker.last_words)
    found = worker.recordings()
    if not part.check(len(found) == 1, "one recording", len(found)):
        return
    part.result["cupti"] = str(found[0].header["cupti_version"])
    part.check(recording.lost(found) == 0, "nothing is lost", recording.lost(found))
    check_same(part, compare.Recorded(found[0], during), compare.Recorded(found[0], after), read_profile(path), profiled_alone(part, path))


def read_profile(path):
    with open(path, encoding="utf-8") as file:
        found = compare.profiled(json.load(file)["traceEvents"])
    os.remove(path)
    return found


def profiled_alone(part, path):
    worker = Worker(part, "profiled", record=False)
    worker.ask("run", "main", 3, timeout_s=FIRST_ANSWER_S)
    worker.ask("trace", "main", STEPS, path)
    part.check(worker.end(END_S) == 0, "without the recorder it ends with 0", worker.last_words)
    return read_profile(path)


def check_same(part, during, after, theirs, alone):
    part.check(during.unfinished == after.unfinished == 0, "each operator that began has its end", (during.unfinished, after.unfinished))
    both, ours = during.seen(), after.seen()
    part.figure("operators in a step", sum(ours.operators.values()) / STEPS, "")
    part.figure("kernels in a step", ours.kernels / STEPS, "")
    for what, one, other in (("operators, while torch.profiler sees them", both.operators, theirs.operators),
                             ("operators, of another window", ours.operators, theirs.operators),
                             ("kernels by their operator", ours.claimed, alone.claimed),
                             ("operators by the classes of the modules around them", ours.modules, theirs.modules)):
        different = compare.differences(one, other)
        part.check(one and not different, f"{what}: as torch.profiler has them", lambda: f"of {sum(one.values())} (name: ours, theirs) {dict(list(different.items())[:8])}")
    # Who has CUPTI meanwhile is written down, not demanded (the part fidelity).
    if both.kernels == theirs.kernels:
        part.check(both.claimed == theirs.claimed, "kernels by their operator, while torch.profiler sees them", compare.differences(both.claimed, theirs.claimed))
    else:
        part.note(f"under torch.profiler the recorder has {both.kernels} of {theirs.kernels} kernels")


def measure(part):
    """Step time and time of the host of each level, to without us."""
    workers = {}
    try:
        for variant in LEVELS:
            settings = {"TRACETOOL_EVENTS": variant.events, "TRACETOOL_TORCH": variant.name, "TRACETOOL_BUFFER": "64M"} if variant.events else {}
            workers[variant.name] = Worker(part, f"level_{variant.name}", ["--batch", str(trainings.batch_for(part.machine.gpu_bytes()))],
                                           record=variant.events is not None, **settings)
        for model in trainings.STEPS:
            for worker in workers.values():
                worker.ask("run", model, 2, timeout_s=FIRST_ANSWER_S)
        found, lost = trainings.rounds(LEVELS, workers, min(COST_SHARE * part.limit_s, part.left_s() - END_S))
    finally:
        ends = end_all(workers, END_S)
    part.check(not lost and not any(end != 0 for end in ends.values()), "every process answers to the end, and ends with 0", (lost, ends))
    column = lambda model, variant, of: trainings.column(found[model], variant.name, of)
    for variant in LEVELS[1:]:
        if not all(variant.name in answers[-1] for answers in found.values()):
            continue
        part.ratio(f"step time, {variant.name}, to without us", column("main", variant, trainings.step_ms), column("main", LEVELS[0], trainings.step_ms))
        launched = lambda answer: answer["launch_ms"]
        part.ratio(f"time of the host to launch the small model, {variant.name}, to without us", column("small", variant, launched), column("small", LEVELS[0], launched))
