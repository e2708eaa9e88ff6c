#!/usr/bin/env python3
"""Every way in which a process can end, and children made in the middle of it: the program is left as it is, its file
says how it ended ("clean" after exit, "recovered" else), and what CUPTI handed over is there; after exit, all."""
import signal

from harness import arguments, check, finish
from recorded import check_end, record, side_by_side

# How it ends, exit code, state of the file, whether all of the truth must be there.
WAYS = (("return", 0, "clean", True), ("exit", 3, "clean", True), ("exit_in_thread", 4, "clean", True),
        ("exit_busy", 3, "clean", False), ("exit_in_thread_busy", 4, "clean", False),
        ("leave", 5, "recovered", False), ("leave_busy", 5, "recovered", False),
        ("leave_in_thread", 6, "recovered", False), ("quick_exit", 7, "recovered", False),
        ("exec", 0, "recovered", False), ("exec_in_thread_busy", 0, "recovered", False),
        ("term", -signal.SIGTERM, "recovered", False), ("term_busy", -signal.SIGTERM, "recovered", False),
        ("kill", -signal.SIGKILL, "recovered", False), ("abort", -signal.SIGABRT, "recovered", False),
        ("uncaught", -signal.SIGABRT, "recovered", False), ("terminate_in_thread", -signal.SIGABRT, "recovered", False),
        ("segfault", -signal.SIGSEGV, "recovered", False), ("term_handler_exits", 8, "clean", True),
        ("pthread_exit_main", 9, "clean", True), ("launch_at_exit", 0, "clean", False), ("endless", 0, "clean", True))

# What the children of forks.cpp end with: wait statuses.
CHILDREN = {"idle": 0, "exits": 3 << 8, "execs": 0, "clone_idle": 0, "clone_exits": 3 << 8, "clone_execs": 0,
            "vforks": 0, "spawns": 0, "calls": 4 << 8, "clone_calls": 4 << 8}
LEAST_LAUNCHES = 300


def check_ways(options):
    jobs = side_by_side(lambda way: record(options, "life", way[0]), WAYS)
    for (way, code, state, complete), job in zip(WAYS, jobs):
        check_end(way, job, code, state, complete)
        if job.only is not None:
            check(job.only.kept["kernel"] >= LEAST_LAUNCHES, f"{way}: what was launched before is recorded",
                  job.only.kept)
        if way == "endless" and job.only is not None:
            running = [event for event in job.only.events if event.kind == "kernel_wide" and event.end is None]
            check(len(running) == 5, "endless: the 5 kernels that did not end are recorded, without an end", running)


def check_preloaded(options):
    job = record(options, "life", "return", CUDA_INJECTION64_PATH=None, LD_PRELOAD=options.agent)
    check_end("preloaded", job, 0, "clean", True)


def check_exec_self(options):
    """The process keeps its number and start time: the first image's file stays as it is, the second has its own."""
    job = record(options, "life", "exec_self")
    found = [recording for each in job.found.values() for recording in each]
    states = sorted(recording.state for recording in found)
    kernels = [recording.kept["kernel"] for recording in found]
    check(job.done.returncode == 0 and not job.done.stderr and states == ["clean", "recovered"] and
          kernels == 2 * [LEAST_LAUNCHES], "a process that execs itself has a recording of each image",
          f"{states}, {kernels}, {job.done}")


def check_slow_flush(options):
    """exit(3) while the agent's thread is inside cuptiActivityFlushAll."""
    job = record(options, "life", "exit", 20, TRACETOOL_CUPTI=options.odd_cupti, ODD_FLUSH_MS=400)
    check_end("exit during a flush", job, 3, "clean", True)


def check_hanging_flush(options):
    job = record(options, "life", "exit", TRACETOOL_CUPTI=options.odd_cupti, ODD_FLUSH_MS=600_000, ODD_FLUSH_FROM=5,
                 timeout=20)
    check_end("exit while a flush hangs", job, 3, "clean", False, lines=1)


def check_late_flush(options):
    """A flush that hung comes back after the driver has begun to leave: our thread makes no call any more."""
    job = record(options, "life", "lingers", TRACETOOL_CUPTI=options.odd_cupti, ODD_FLUSH_MS=6_500, ODD_FLUSH_FROM=3,
                 timeout=30)
    check_end("a flush comes back too late", job, 0, "clean", False, lines=1)


def check_destroyed_context(options):
    """What was collected when a context is destroyed comes home soon, whatever the period is."""
    job = record(options, "life", "destroys_context", 20, TRACETOOL_FLUSH_MS=60_000)
    check_end("a context is destroyed", job, 5, "recovered", False)
    if job.only is not None:
        check(job.only.kept["kernel"] == 2 * LEAST_LAUNCHES, "a context is destroyed: what had ended is recorded",
              job.only.kept)


def check_exit_out_of_cuda(options):
    """A handler that calls exit(3) interrupts the launching thread anywhere, also inside CUPTI and inside us."""
    way = "term_handler_exits_launching"
    jobs = side_by_side(lambda _: record(options, "life", way, 30, SIM_TRUTH=None, timeout=20), range(16))
    hung = [job for job in jobs if job.done.returncode is None]
    check(not hung, f"{way}: 16 processes end", f"{len(hung)} hang")
    bad = [job.done for job in jobs if job not in hung and (job.done.returncode != 8 or job.only is None or
                                                            job.only.state != "clean")]
    check(not bad, f"{way}: with their exit code and a closed file", bad)


def check_children(options):
    jobs = side_by_side(lambda way: record(options, "forks", way), CHILDREN)
    for (way, status), job in zip(CHILDREN.items(), jobs):
        check_end(f"children: {way}", job, 0, "clean", True)
        statuses = {int(each) for each in job.done.stdout.split()}
        check(statuses == {status} and job.said == [], f"children: {way}: they end as they would", job.done)


def check_outlived(options):
    """The parent is killed while a child lives: its file is not held by the child."""
    job = record(options, "forks", "outlives", TRACETOOL_FLUSH_MS=10)
    check_end("a child outlives its parent", job, -signal.SIGKILL, "recovered", False)


def main():
    options = arguments("agent", "simulated", "programs", "odd_cupti")
    check_ways(options)
    check_preloaded(options)
    check_exec_self(options)
    check_slow_flush(options)
    check_hanging_flush(options)
    check_late_flush(options)
    check_destroyed_context(options)
    check_exit_out_of_cuda(options)
    check_children(options)
    check_outlived(options)
    finish()


main()
