#!/usr/bin/env python3
"""A long recording costs no more than a short one: --records N records (300,000; the soak gives 30,000,000) through a
small ring, and through the spool. The process's own memory stays flat, no descriptor and no thread is left over, and
every record is counted: kept + overwritten + lost = what was launched."""
import json
import os
import resource
import subprocess
import sys
import time

from harness import Folder, arguments, check, clean_environment, finish, first, run
from recorded import environment_of, program

FLAT_KB = 8 << 10


def look(pid):
    """Anonymous memory in kB, descriptors, threads; None where the process is gone."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as status:
            fields = dict(line.split(":", 1) for line in status)
        memory = int(fields["RssAnon"].split()[0])
        return memory, len(os.listdir(f"/proc/{pid}/fd")), len(os.listdir(f"/proc/{pid}/task"))
    except (OSError, KeyError):
        return None


def watch(job):
    looks = []
    while job.poll() is None:
        now = look(job.pid)
        if now and now[2] > 1:
            looks.append(now)
        time.sleep(0.02 if len(looks) < 200 else 0.5)
    return looks


def check_flat(what, looks):
    """Against the state a third of the way through: pools and buffers are made by then."""
    if not check(len(looks) >= 6, f"{what}: long enough to be looked at", looks):
        return
    settled, rest = looks[len(looks) // 3], looks[len(looks) // 3:-1]
    memory = [each[0] for each in rest]
    check(max(memory) - settled[0] < FLAT_KB, f"{what}: memory is flat, {settled[0]} to {max(memory)} kB", first(rest))
    check(max(each[1] for each in rest) <= settled[1], f"{what}: no descriptor is left open, {settled[1]}",
          first({each[1] for each in rest}))
    check(max(each[2] for each in rest) <= settled[2], f"{what}: no thread is left, {settled[2]}",
          first({each[2] for each in rest}))


def counted(options, folder):
    done = run([options.tracetool, "info", "--json", os.path.join(folder, "traces")], timeout=1800)
    if done.returncode != 0:
        return None, done
    rank, = json.loads(done.stdout)["ranks"]
    return rank, rank["counts"]["kernel"] + sum(rank[part].get("kernel", 0)
                                                for part in ("overwritten_by_kind", "lost_by_kind"))


def check_volume(options, what, launches, **environment):
    with Folder() as folder:
        job = subprocess.Popen([program(options, "launches"), "rounds", str(launches)], cwd=folder,
                               env=clean_environment(**environment_of(options, folder, SIM_TRUTH=None, **environment)),
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        looks = watch(job)
        said = job.stderr.read()
        check(job.returncode == 0 and not said, f"{what}: the program ends well", f"{job.returncode}, {said}")
        check_flat(what, looks)
        rank, kernels = counted(options, folder)
        check(kernels == launches, f"{what}: {launches} kernels are kept, overwritten or lost",
              lambda: f"{kernels}, {rank}")
        if rank:
            size = sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(folder) for name in names)
            print(f"      {rank['counts']['kernel']} kernels kept, {rank['lost']} records lost, {size >> 20} MB on "
                  f"disk, {max(looks)[0] >> 10} MB of memory")


def take_number(name, otherwise):
    """Takes --NAME N out of the arguments."""
    if f"--{name}" not in sys.argv:
        return otherwise
    at = sys.argv.index(f"--{name}")
    number = int(sys.argv[at + 1])
    del sys.argv[at:at + 2]
    return number


def main():
    records = take_number("records", 300_000)
    options = arguments("agent", "simulated", "tracetool", "programs")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    check_volume(options, "a small ring", records // 3, TRACETOOL_BUFFER="1M")
    check_volume(options, "the spool", records // 3, TRACETOOL_BUFFER="16M", TRACETOOL_MODE="spool")
    finish()


main()
