"""fidelity: names, counts and durations of kernels against torch.profiler's for the same program; then both at once."""
import recording
import trainings
from workers import Worker

STEPS = 5
DURATIONS_AGREE = 0.05  # two runs of one program: clocks of the GPU differ


def run(part):
    theirs = profiled(part)
    ours = recorded(part)
    if ours is None or not part.check(theirs, "torch.profiler has seen kernels", len(theirs)):
        return
    compare(part, ours, theirs)
    for coexist in ("yield", "retake"):
        both_at_once(part, coexist, theirs)


def warm(worker):
    worker.ask("run", "main", 3)


def profiled(part):
    worker = Worker(part, "profiled", record=False)
    warm(worker)
    answer = worker.ask("kernels", "main", STEPS, "cpu+cuda")
    part.check(worker.end() == 0, "the profiled program ends with 0", worker.last_words)
    return {name: tuple(numbers) for name, numbers in answer["kernels"].items()}


def recorded(part):
    worker = Worker(part, "recorded", TRACETOOL_EVENTS="default")
    warm(worker)
    answer = worker.ask("run", "main", STEPS)
    part.check(worker.end() == 0, "the recorded program ends with 0", worker.last_words)
    found = worker.recordings()
    if not part.check(len(found) == 1, "one recording", len(found)):
        return None
    part.result["cupti"] = str(found[0].header["cupti_version"])
    part.check(recording.lost(found) == 0, "nothing is lost", recording.lost(found))
    return trainings.totals(trainings.window_events(found[0], answer))


def compare(part, ours, theirs):
    different = trainings.differences(ours, theirs)
    part.check(not different, "the same names, as often as torch.profiler saw them", dict(list(different.items())[:8]))
    sums = [sum(spent for _, spent in each.values()) for each in (ours, theirs)]
    part.figure("GPU time recorded by us to torch.profiler's, other run of the same program", sums[0] / sums[1], "times")
    part.check(abs(sums[0] / sums[1] - 1) <= DURATIONS_AGREE, f"summed durations agree within {DURATIONS_AGREE:.0%}", sums)
    part.figure("GPU work per step", sum(count for count, _ in ours.values()) / STEPS, "kernels, copies and sets")
    part.figure("different names", len(ours), "")


def both_at_once(part, coexist, theirs):
    """Who gets what is written down, not demanded; that the program lives is."""
    worker = Worker(part, f"both_{coexist}", TRACETOOL_EVENTS="default", TRACETOOL_COEXIST=coexist)
    warm(worker)
    during = worker.ask("kernels", "main", STEPS, "cpu+cuda")
    after = worker.ask("run", "main", STEPS)
    part.check(worker.end() == 0, f"{coexist}: with both in one process it ends with 0", worker.last_words)
    found = worker.recordings()
    if not part.check(len(found) == 1, f"{coexist}: one recording", len(found)):
        return
    expected = sum(count for count, _ in theirs.values())
    seen = {"torch.profiler": sum(count for count, _ in during["kernels"].values()),
            "the recorder meanwhile": count_work(found[0], during), "the recorder afterwards": count_work(found[0], after)}
    for who, count in seen.items():
        part.figure(f"{coexist}: share of the GPU work seen by {who}", count / expected, "")
    notices = [f"{event.code}: {event.text}" for event in found[0].events if event.kind == "notice"]
    missing = seen["the recorder meanwhile"] < expected or seen["the recorder afterwards"] < expected
    part.check(bool(notices) or not missing, f"{coexist}: where work is missing, the file says so", notices)


def count_work(found, answer):
    return sum(count for count, _ in trainings.totals(trainings.window_events(found, answer)).values())
