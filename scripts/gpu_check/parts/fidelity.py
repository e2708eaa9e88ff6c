"""fidelity: names, counts and durations of kernels against torch.profiler's for the same program; then both at once."""
import recording
import trainings
from workers import Worker

STEPS, ROUNDS = 5, 5
# How both can be in one process. With KINETO_USE_DAEMON Kineto does not ask for CUPTI's subscription (docs/recording.md).
BOTH = {"yield": {"TRACETOOL_COEXIST": "yield"}, "retake": {"TRACETOOL_COEXIST": "retake"},
        "yield, KINETO_USE_DAEMON": {"TRACETOOL_COEXIST": "yield", "KINETO_USE_DAEMON": "1"}}
DURATIONS_AGREE = 0.05  # two runs of one program: clocks of the GPU differ


def run(part):
    found = part.attempt("both programs, in turns", side_by_side)
    if found is None:
        return
    ours, theirs = found
    compare(part, ours, theirs)
    for title, settings in BOTH.items():
        part.attempt(f"both, {title}", both_at_once, title, settings, theirs[0])


def warm(worker):
    worker.ask("run", "main", 3)


def side_by_side(part):
    """([what we recorded of each round], [what torch.profiler saw of each]), each {name: (count, ns)}; None: one did not."""
    profiled = Worker(part, "profiled", record=False)
    recorded = Worker(part, "recorded", TRACETOOL_EVENTS="default")
    warm(profiled)
    warm(recorded)
    theirs, windows = [], []
    for _ in range(ROUNDS):
        theirs.append(trainings.by_plain_name(profiled.ask("kernels", "main", STEPS, "cpu+cuda")["kernels"]))
        windows.append(recorded.ask("run", "main", STEPS))
    part.check(profiled.end() == 0, "the profiled program ends with 0", profiled.last_words)
    part.check(recorded.end() == 0, "the recorded program ends with 0", recorded.last_words)
    part.check(all(theirs), "torch.profiler has seen kernels", [len(each) for each in theirs])
    found = recorded.recordings()
    if not part.check(len(found) == 1, "one recording", len(found)) or not all(theirs):
        return None
    part.result["cupti"] = str(found[0].header["cupti_version"])
    part.check(recording.lost(found) == 0, "nothing is lost", recording.lost(found))
    return [trainings.totals(trainings.window_events(found[0], answer)) for answer in windows], theirs


def spent_ns(totals):
    return sum(spent for _, spent in totals.values())


def count_of(totals):
    return sum(count for count, _ in totals.values())


def compare(part, ours, theirs):
    different = next(filter(None, map(trainings.differences, ours, theirs)), {})
    part.check(not different, "the same names, as often as torch.profiler saw them", dict(list(different.items())[:8]))
    if not part.check(all(map(spent_ns, ours)), "we recorded work in each round", list(map(count_of, ours))):
        return
    ratio = part.ratio("GPU time recorded by us to torch.profiler's, another process of the same program",
                       list(map(spent_ns, ours)), list(map(spent_ns, theirs)))
    part.check(abs(ratio - 1) <= DURATIONS_AGREE, f"summed durations agree within {DURATIONS_AGREE:.0%}", f"{ratio:.4f}")
    part.samples("GPU work per step", [count_of(each) / STEPS for each in ours], "kernels, memcpys and memsets")
    part.figure("different names", len(ours[0]), "")


def both_at_once(part, title, settings, theirs):
    """Who gets what is written down, not demanded; that the program lives is."""
    worker = Worker(part, "both_" + title.replace(", ", "_"), TRACETOOL_EVENTS="default", **settings)
    warm(worker)
    during = worker.ask("kernels", "main", STEPS, "cpu+cuda")
    after = worker.ask("run", "main", STEPS)
    part.check(worker.end() == 0, f"{title}: with both in one process it ends with 0", worker.last_words)
    found = worker.recordings()
    if not part.check(len(found) == 1, f"{title}: one recording", len(found)):
        return
    expected = count_of(theirs)
    seen = {"torch.profiler": count_of(during["kernels"]),
            "the recorder meanwhile": count_work(found[0], during), "the recorder afterwards": count_work(found[0], after)}
    for who, count in seen.items():
        part.figure(f"{title}: share of the GPU work seen by {who}", count / expected, "")
    notices = [f"{event.code}: {event.text}" for event in found[0].events if event.kind == "notice"]
    missing = seen["the recorder meanwhile"] < expected or seen["the recorder afterwards"] < expected
    part.check(bool(notices) or not missing, f"{title}: where work is missing, the file says so", notices)


def count_work(found, answer):
    return count_of(trainings.totals(trainings.window_events(found, answer)))
