"""first_minutes: what no stand-in can tell, in the order in which it matters; each check says what another answer means."""
import json
import os
from collections import namedtuple

import build
import recording
from recording import events
from workers import Worker

FLUSH_MS = 20
LAUNCHES = 300  # what one of CUPTI's buffers holds: kernels that had ended and are not in the file
LEAST_AHEAD = 100
SECONDS = 180  # of the whole part
END_S, TORCH_S = 10, 45  # kept for the last recording; and for PyTorch
GROWS = 2  # times its share of the CPU, from the first third of the soak to the last
QUIET_MS = 100  # of CPU time in a third: below that nothing is said of a thread
CANARY = "CUPTI reports the call that detects who owns its buffers"

Load = namedtuple("Load", "name kernel_us ms")
LOADS = (Load("500 kernels/s, 2 s ahead", 2000, 5000), Load("20000 kernels/s, 50 ms ahead", 50, 3000))


class Runs:
    def __init__(self, part):
        self.part, self.program, self.share = part, build.program(part, "first_minutes"), 0.4 if part.simulate else 1

    def run(self, how, load, name=None, ms=None, **settings):
        """(Recorded, what the program reports or None)."""
        name = name or how
        report = os.path.join(self.part.folder, f"{name}.json")
        settings = {"TRACETOOL_FLUSH_MS": FLUSH_MS, **settings}
        if self.part.simulate:
            settings["SIM_KERNEL_NS"] = load.kernel_us * 1000
        recorded = recording.run(self.part, name, [self.program, how, report, load.kernel_us, int(ms or load.ms * self.share)],
                                 timeout=60 + (ms or 0) / 1000, **settings)
        if not os.path.exists(report):
            raise RuntimeError(f"{name}: ended with {recorded.done.returncode}: {recorded.done.stderr[-500:]}")
        with open(report, encoding="utf-8") as file:
            return recorded, json.load(file)


def run(part):
    runs = Runs(part)
    part.attempt("canary", check_canary, runs)
    for load in LOADS:
        part.attempt(f"kill, {load.name}", check_kill, runs, load)
    part.attempt("reset", check_reset, runs)
    part.attempt("leave", check_leave, runs)
    part.attempt("queries", check_queries, runs)
    if not part.simulate and part.machine.torch and part.machine.torch["gpu"]:
        part.attempt("torch.profiler", check_profiler)
    else:
        part.note("torch.profiler in the process: left out, " + ("simulated" if part.simulate else "no torch that finds a GPU"))
    part.attempt("soak", check_soak, runs)


def expect(part, holds, what, seen, otherwise):
    part.check(holds, what, seen if holds else f"{seen}. It means: {otherwise}")


def kernels_of(found):
    return [event for event in events(found, "kernel", "kernel_wide") if event.shape.name.find("spin") >= 0]


def one_recording(part, recorded, title):
    found = recorded.recordings()
    part.check(len(found) == 1, f"{title}: one recording", len(found))
    return found


def check_canary(part, runs):
    recorded, _ = runs.run("soak", LOADS[0], "canary", 4000, TRACETOOL_FLUSH_MS=200)
    said = recorded.done.stderr
    expect(part, CANARY in said, "canary: the call that shows whose CUPTI's buffers are comes back", said[-500:],
           "another tool that takes the buffers would go unnoticed; nothing else is wrong")
    gaps = [event.text for event in events(one_recording(part, recorded, "canary"), "notice") if event.code == "gap"]
    expect(part, not gaps, "canary: no other user of the buffers is named", gaps,
           "the canary yields without cause, and GPU work is lost: switch it off for this version of CUPTI")


def check_kill(part, runs, load):
    title = f"kill, {load.name}"
    recorded, said = runs.run("kill", load, f"kill_{load.kernel_us}us")
    part.check(recorded.done.returncode == -9, f"{title}: ends with -9", recorded.done.returncode)
    ahead = said["launched"] - said["finished"]
    expect(part, ahead >= LEAST_AHEAD, f"{title}: the host was ahead", f"{ahead} launches",
           "the load is not what it should be, and the next check says little")
    found = one_recording(part, recorded, title)
    kernels = kernels_of(found)
    ended = [kernel for kernel in kernels if kernel.end is not None]
    missing = said["finished"] - len(ended)
    bound = LAUNCHES + 2 * FLUSH_MS * 1000 // load.kernel_us
    expect(part, missing <= bound, f"{title}: at most {bound} kernels that had ended are missing",
           f"{missing} of {said['finished']}", "CUPTI keeps buffers longer than its header says, or larger ones than asked for")
    doubled = len(kernels) - len({kernel.correlation for kernel in kernels})
    expect(part, doubled == 0, f"{title}: no kernel is there twice", doubled, "a forced flush does not consume what it returns")
    part.figure(f"{title}: kernels that had ended and are missing", max(0, missing), "kernels")
    newest = [found[0].wall(kernel.end) for kernel in ended]
    if newest:
        part.figure(f"{title}: age of the newest kernel", (said["real_ns"] - max(newest)) / 1e6, "ms")


def check_reset(part, runs):
    recorded, said = runs.run("reset", LOADS[1], ms=1000 * runs.share)
    expect(part, recorded.done.returncode == 0, "reset: cudaDeviceReset under load returns", recorded.done.stderr[-500:],
           "CUPTI and the driver wait for each other: the agent may not flush while a context ends")
    check_whole(part, recorded, said, "reset")


def check_leave(part, runs):
    recorded, said = runs.run("leave", LOADS[1], ms=1000 * runs.share)
    expect(part, recorded.done.returncode == 0, "leave: a program that does not wait for the GPU ends with 0",
           f"{recorded.done.returncode}: {recorded.done.stderr[-500:]}",
           "CUPTI is called while the driver is torn down: the end has to come earlier")
    check_whole(part, recorded, said, "leave")
    part.figure("leave: the whole program", recorded.seconds, "s")


def check_whole(part, recorded, said, title):
    found = one_recording(part, recorded, title)
    part.check([each.state for each in found] == ["clean"], f"{title}: its recording is clean", [each.state for each in found])
    kernels = len(kernels_of(found))
    expect(part, kernels >= said["finished"], f"{title}: all kernels that had ended are there",
           f"{kernels} of {said['finished']}", "the last flush comes too late")


def check_queries(part, runs):
    recorded, said = runs.run("queries", LOADS[1], ms=500 * runs.share)
    found = one_recording(part, recorded, "queries")
    syncs, calls = len(events(found, "sync")), sum(1 for each in found for event in each.events
                                                   if event.kind.startswith(("runtime", "driver")))
    expect(part, syncs <= said["done"] + 10, "queries that find their event not done are no waits",
           f"{said['queries']} queries, {said['done']} done, {syncs} records of waits",
           "cuptiActivityEnableAllSyncRecords(0) does not do what its header says")
    most = said["launched"] * 2 + 2000
    expect(part, calls <= most, "queries: they are not recorded as calls either", f"{calls} calls, {most} at most",
           "the list of calls that are left out does not hold here")


def check_profiler(part):
    worker = Worker(part, "profiler", TRACETOOL_EVENTS="default")
    worker.ask("run", "small", 3, timeout_s=TORCH_S)
    during = worker.ask("kernels", "small", 3, "cpu+cuda")
    worker.ask("run", "small", 3)
    part.check(worker.end() == 0, "torch.profiler: with both in one process it ends with 0", worker.last_words)
    seen = sum(count for count, _ in during["kernels"].values())
    expect(part, seen > 0, "torch.profiler: it sees the GPU's work", seen,
           "this PyTorch's profiler records no GPU work beside another subscriber: README, beside other profilers")
    notices = [f"{event.code}: {event.text}" for event in events(worker.recordings(), "notice")]
    part.note(f"torch.profiler: it saw {seen} kernels; the recording's notices: {notices}")


def check_soak(part, runs):
    left_s = min(part.left_s(), SECONDS - (part.limit_s - part.left_s())) - END_S
    ms = 3000 if part.simulate else max(5000, int(left_s * 1000))
    recorded, said = runs.run("soak", Load("", 100, ms), ms=ms, TRACETOOL_FLUSH_MS=200)
    part.check(recorded.done.returncode == 0, f"soak: {ms / 1000:.0f} s end with 0", recorded.done.stderr[-500:])
    found = one_recording(part, recorded, "soak")
    part.check(len(kernels_of(found)) + recording.lost(found) >= said["launched"], "soak: every kernel is there or counted",
               f"{len(kernels_of(found))} of {said['launched']}")
    threads = {}
    for line in filter(None, recorded.done.stdout.splitlines()):
        sample = json.loads(line)
        threads.setdefault((sample["tid"], sample["name"]), []).append((sample["ms"], sample["cpu_ms"]))
    part.check(len(threads) >= 2, "soak: the process has threads of the recorder and of CUPTI", sorted(threads))
    for (_, name), samples in sorted(threads.items()):
        if len(samples) >= 6:
            check_thread(part, name, samples)


def check_thread(part, name, samples):
    first, last = (spent(samples[begin:end]) for begin, end in ((0, len(samples) // 3 + 1), (-len(samples) // 3 - 1, None)))
    whole_ms, whole_cpu_ms = spent(samples)
    part.figure(f"soak: CPU of the thread {name}", 100 * whole_cpu_ms / whole_ms, "% of a core")
    grows = last[1] > QUIET_MS and last[1] / last[0] > GROWS * first[1] / first[0]
    expect(part, not grows, f"soak: what the thread {name} takes does not grow", f"{first[1]} ms of CPU, then {last[1]}",
           "a thread of CUPTI's that takes more and more, as release notes of 13.4 update 1 tell: flush less often")


def spent(samples):
    """(ms, ms of CPU time) from the first sample to the last."""
    return samples[-1][0] - samples[0][0], samples[-1][1] - samples[0][1]
