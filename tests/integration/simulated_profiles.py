"""Kineto profiles of a simulated training, with what really happened."""
import os

import truth
from harness import check, files_below, run

STEPS, RANKS = 6, 2
SAME_NS = 1000  # the clocks of the truth and of a recording: of spans of 0.1 s


def profiles(options, folder):
    """The folder with a profile per rank, and the Ranks of the truth; None where something failed."""
    done = truth.train(options, folder, "--ranks", RANKS, "--steps", STEPS)
    out = os.path.join(folder, "profiles")
    result = run([options.tracetool, "export", "--kineto", os.path.join(folder, "traces"), "-o", out])
    found = files_below(out, ".pt.trace.json.gz")
    if check(done.returncode == result.returncode == 0 and len(found) == RANKS, "a training is recorded and exported",
             f"{done.stderr} {result.stderr} {found}"):
        return out, truth.load(os.path.join(folder, "truth"))
    return None


def same(found, wanted):
    """Two dicts of times in ns, equal but for the clocks."""
    return found.keys() == wanted.keys() and all(abs(found[key] - wanted[key]) <= SAME_NS for key in wanted)
