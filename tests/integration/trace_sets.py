"""The Kineto traces that tests read: those of synthesized_traces.py in any case, and real ones where their folder is."""
import contextlib
import glob
import os

import synthesized_traces
from harness import Folder

# Folders whose files are the ranks of one job.
REAL_JOBS = ("modded-nanogpt-8xh100", "dlrm-8xv100", "sampled-2of128")
JOBS = REAL_JOBS + synthesized_traces.JOBS


@contextlib.contextmanager
def folders(real):
    """with folders(PATH) as some: a new one with the synthesized traces, and the one with real traces, if it is there."""
    with Folder() as work:
        if not os.path.isdir(real):
            print(f"left out: real traces, which are not in {real}", flush=True)
        yield [synthesized_traces.write_all(work), *([real] if os.path.isdir(real) else [])]


def inputs(folder):
    """(name, paths) of what is to be read together: the ranks of a job, every other file alone. With TRACETOOL_SMALL_TRACES, only what
    is less than a megabyte: a sanitizer finds the same in it."""
    small = os.environ.get("TRACETOOL_SMALL_TRACES")
    for name, paths in all_inputs(folder):
        if not small or sum(map(os.path.getsize, paths)) < 1 << 20:
            yield name, paths


def all_inputs(folder):
    for job in JOBS:
        if os.path.isdir(f"{folder}/{job}"):
            yield job, sorted(glob.glob(f"{folder}/{job}/*.json*"))
    for path in sorted(glob.glob(f"{folder}/*/*.json*")):
        if os.path.basename(os.path.dirname(path)) not in JOBS:
            yield os.path.basename(path), [path]
