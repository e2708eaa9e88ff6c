#!/usr/bin/env python3
"""Many threads, many launch shapes: what is kept, overwritten and lost is together the truth, and what is kept is true.

TRACETOOL_SHAPES launch shapes (100000) go through a ring of the usual 64 bytes for each; 1000000 is the whole test."""
import os

from compare import totals
from harness import arguments, check, finish, first
from recorded import check_conserved, record
from truth import is_sanitized

SLEEPERS = 500
MEMORY_KIB = 32 << 10  # 200 whole buffers are 100 MiB
FEW_BUFFERS = 20_000  # kernels: a thread with full buffers may be put to sleep while another hands over newer ones


def recorded(options, what, name, *arguments, **environment):
    job = record(options, name, *arguments, timeout=200, **environment)
    check(job.done.returncode == 0 and not job.done.stderr, f"{what}: the program ends well, silently", job.done)
    check(job.only is not None and job.only.state == "clean", f"{what}: there is one recording, closed",
          f"{job.found}, {job.refused}")
    return job


def check_together(options):
    what = "64 threads launch at once"
    job = recorded(options, what, "threads", "together", 64, 300, TRACETOOL_BUFFER="16M")
    if job.only is None:
        return
    check_conserved(what, job.rank, job.only)
    tids = {event.tid for event in job.only.events if event.kind.startswith("runtime")}
    check(len(tids) == 65, f"{what}: the calls of all of them are there", len(tids))
    check(not job.only.lost and not job.only.overwritten, f"{what}: all is kept", job.only.lost)


def check_memory(options):
    """200 threads, each with a buffer of its own, hold what they wrote and not what they might write."""
    what = "200 threads"
    if is_sanitized(options, what):
        return
    more_kib = MEMORY_KIB
    for _ in range(3):  # on a busy machine more of the threads are there at once in one run than in the other
        with_agent = recorded(options, what, "threads", "together", 200, 50, TRACETOOL_BUFFER="4M", SIM_TRUTH=None)
        plain = record(options, "threads", "together", 200, 50, CUDA_INJECTION64_PATH=None, SIM_TRUTH=None)
        more_kib = min(more_kib, int(with_agent.done.stdout) - int(plain.done.stdout))
        if more_kib < MEMORY_KIB:
            break
    check(more_kib < MEMORY_KIB, f"{what}: {more_kib} KiB more than without the agent", f"expected below {MEMORY_KIB}")


def check_together_small(options):
    what = "64 threads launch at once, a small ring"
    job = recorded(options, what, "threads", "together", 64, 300, TRACETOOL_BUFFER="256K")
    if job.only is not None:
        check_conserved(what, job.rank, job.only)


def check_asleep(options):
    what = f"{SLEEPERS} threads write once and sleep while one writes ten rings"
    job = recorded(options, what, "threads", "asleep", SLEEPERS, 40_000, TRACETOOL_BUFFER="256K")
    if job.only is None:
        return
    check_conserved(what, job.rank, job.only)
    header = job.only.header
    wraps = header["claimed_blocks"] // header["block_count"] - 1
    check(wraps >= 10, f"{what}: the ring wrapped {wraps} times", "expected 10")
    share = sum(job.only.kept.values()) * 24 / header["file_bytes"]
    check(share > 0.5, f"{what}: the ring is full of what is newest ({share:.2f} of it at least)", job.only.kept)
    last = max(line["seq"] for line in job.rank.of("kernel"))
    newest = [line for line in job.rank.of("kernel") if line["seq"] == last][0]
    check(any(event.correlation == newest["correlation"] for event in job.only.events if event.kind == "kernel"),
          f"{what}: the last kernel is kept", newest)


def check_shapes(options):
    """Kernel number n has the grid (n, 1, 1): the recording is judged without millions of lines of truth."""
    count = int(os.environ.get("TRACETOOL_SHAPES", "100000"))
    what = f"{count} launch shapes through a small ring"
    job = recorded(options, what, "launches", "shapes", count, TRACETOOL_BUFFER=max(1 << 20, count * 64),
                   SIM_TRUTH=None)
    if job.only is None:
        return
    sums = totals(job.only.kept + job.only.overwritten + job.only.lost)
    check(sums["kernel"] == count and sums["runtime"] == count + 1, f"{what}: kept + overwritten + lost = truth", sums)
    grids = [event.shape.grid for event in job.only.events if event.kind == "kernel" and event.shape is not None]
    numbers = {x for x, y, z in grids if (y, z) == (1, 1)}
    check(len(numbers) == len(grids) == job.only.kept["kernel"] > 0 and max(numbers) == count and
          min(numbers) > count - len(grids) - FEW_BUFFERS,
          f"{what}: the newest {len(grids)} are kept, each with its shape",
          f"{first(sorted(numbers))}, {job.only.kept}")
    names = {event.shape.name for event in job.only.events if event.kind == "kernel" and event.shape is not None}
    check(len(names) == 1 and not job.only.header["definitions_missed"], f"{what}: and with its name", names)


def main():
    options = arguments("agent", "simulated", "programs")
    check_together(options)
    check_together_small(options)
    check_memory(options)
    check_asleep(options)
    check_shapes(options)
    finish()


main()
