"""cost: what the recorder adds to the launch of an empty kernel: with each kind switched on alone, with the named sets, with
CUDA events and without, with buffers per thread or for all, of other sizes, and with other flush periods. Everything is
measured interleaved, and each figure is a ratio to the same rounds without the recorder or with the default."""
import json
import statistics

import build
import measure
import recording

KINDS = ("kernel", "memcpy", "memcpy_peer", "memset", "graph_node", "graph_launch", "runtime", "driver", "sync", "cuda_event",
         "overhead", "memory", "memory_pool", "device", "context", "stream", "nvtx", "nccl")
SETS = ("light", "default", "all")
NO_EVENTS = "default,-cuda_event"
FLUSH_MS = (20, 200, 2000)
BUFFER_KIB = (16, 32, 64, 512)  # the recorder's own are of 32
THREADS = 4
REST_SHARE = 0.4  # of the part's time: no more rounds then than are needed


class Loop:
    """The program, and how often it runs here."""

    def __init__(self, part):
        self.part, self.program = part, build.program(part, "empty_launches")
        self.rounds, self.batches, self.launches = (2, 4, 200) if part.simulate else (5, 40, 500)
        self.cupti = None  # the library that the recorder found
        self.runs, self.wrong = 0, []  # wrong: runs whose recording is not what it should be

    def ns(self, threads=1, record=True, events=0, **settings):
        """The median ns of a launch over the batches of one run of the program; what was recorded is checked."""
        self.runs += 1
        recorded = recording.run(self.part, f"run{self.runs}", [self.program, self.batches, self.launches, threads, events],
                                 record, **settings)
        if recorded.done.returncode != 0:
            raise RuntimeError(f"empty_launches {settings}: {recorded.done.stderr[-500:]}")
        done = json.loads(recorded.done.stdout)
        said = "cupti_variant: " in recorded.done.stderr
        if said != ("TRACETOOL_CUPTI" in settings):
            raise RuntimeError(f"the library before CUPTI was {'' if said else 'not '}used: {recorded.done.stderr[-500:]}")
        if record:
            self.look_at(recorded, done, settings)
            recorded.discard()
        return statistics.median(done["ns"])

    def look_at(self, recorded, done, settings):
        """The figure of a run that was not recorded as it should be is one of something else."""
        chosen = settings.get("TRACETOOL_EVENTS", "default")
        expected = done["launches"] if chosen in (*SETS, NO_EVENTS, "kernel") else 0
        kernels = sum(rank["counts"]["kernel"] for rank in recorded.ranks()) if recorded.files else 0
        if kernels != expected:
            self.wrong.append(f"{settings}: {done['launches']} launched, {expected} to be recorded, {kernels} are")
        if self.cupti is None:
            self.cupti = recorded.recordings()[0].header["cupti_path"]


def run(part):
    loop = Loop(part)
    part.attempt("kinds", against_nothing, loop)
    part.attempt("events", events_of_cuda, loop)
    part.attempt("flush periods", flush_periods, loop)
    part.attempt("buffers", buffers, loop)
    part.check(not loop.wrong, "each run recorded what it should", f"{len(loop.wrong)} of {loop.runs}: {loop.wrong[:3]}")


def compare(part, loop, what, base, variants, unit_of_base="ns"):
    """Figures of `variants` ({name: arguments of Loop.ns}), each against the one called `base`; {name: ratio}."""
    samples = measure.interleaved(variants, loop.rounds, lambda name: loop.ns(**variants[name]),
                                  lambda: part.left_s() > REST_SHARE * part.limit_s)
    for name in variants:
        part.samples(f"{what}: a launch, {name}", samples[name], unit_of_base)
    return {name: part.ratio(f"{what}: {name} / {base}", samples[name], samples[base]) for name in variants if name != base}


def against_nothing(part, loop):
    variants = {"without": {"record": False}}
    variants.update({f"set {name}": {"TRACETOOL_EVENTS": name} for name in SETS})
    variants.update({f"only {name}": {"TRACETOOL_EVENTS": name} for name in KINDS})
    ratios = compare(part, loop, "kinds", "without", variants)
    part.check(len(ratios) == len(SETS) + len(KINDS), "each set, and each kind alone, was measured",
               f"{len(ratios)} variants, {loop.rounds} rounds")


def events_of_cuda(part, loop):
    """A launch behind which an event is recorded, and for which another stream waits."""
    variants = {"without": {"events": 1, "record": False}, "default": {"events": 1},
                NO_EVENTS: {"events": 1, "TRACETOOL_EVENTS": NO_EVENTS}}
    ratios = compare(part, loop, "launch, record and wait", "without", variants)
    part.check(len(ratios) == 2, "what CUDA events cost was measured", ratios)


def flush_periods(part, loop):
    variants = {f"{ms} ms": {"TRACETOOL_FLUSH_MS": ms} for ms in FLUSH_MS}
    ratios = compare(part, loop, "flush period", "200 ms", variants)
    part.check(len(ratios) == len(FLUSH_MS) - 1, "flush periods were measured", ratios)


def buffers(part, loop):
    """Of CUPTI, by a library that stands before it: the recorder has no settings for them."""
    library = build.cupti_variant(part, loop.cupti)
    variants = {"per thread": {}, "for all": {"GPU_CHECK_GLOBAL_BUFFERS": 1}}
    variants.update({f"of {kib} KiB": {"GPU_CHECK_BUFFER_BYTES": kib << 10} for kib in BUFFER_KIB})
    chosen = {name: {"threads": THREADS, "TRACETOOL_CUPTI": library, **more} for name, more in variants.items()}
    ratios = compare(part, loop, f"buffers, {THREADS} threads", "per thread", chosen)
    part.check(len(ratios) == len(variants) - 1, "buffers per thread and for all, and of other sizes, were measured", ratios)
