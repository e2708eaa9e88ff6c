#!/usr/bin/env python3
"""TRACETOOL_MODE=spool: what the ring overwrites is in the spool. Through a ring that is laps too small everything that
happened is recorded, also when the process is killed; where the disk is slow, full or limited the program goes on, and
what is kept, overwritten and lost is together the truth; a spool that is cut or damaged anywhere is read or refused."""
import errno
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
from collections import Counter

from compare import match
from harness import Folder, arguments, check, clean_environment, files_below, finish, first, run, wait_until
from recorded import check_conserved, standins
from truth import CUPTI_KINDS, FOREVER, HOST_KINDS, command, load, recordings, train

ON, FAILED = 1, 2  # SourceState
SPOOL = {"TRACETOOL_MODE": "spool", "TRACETOOL_GUARD_CPU": 0, "TRACETOOL_GUARD_RATE": 0, "TRACETOOL_FLUSH_MS": 20}
LAPS = ("--ranks", 2, "--ring-bytes", "512K", "--steps", 200, "--step-us", 4000)
BURSTS = ("--ranks", 1, "--steps", 20, "--burst", 3000)
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "small_program.py")


def info(options, path):
    done = run([options.tracetool, "info", "--json", path])
    return done, (json.loads(done.stdout)["ranks"] if done.returncode == 0 else [])


def spool_of(folder):
    return files_below(os.path.join(folder, "traces"), ".spool")


def check_laps(options):
    with Folder() as folder:
        done = train(options, folder, *LAPS, **SPOOL)
        check(done.returncode == 0 and not done.stderr, "many laps: the training ends well and says nothing", done)
        found = recordings(folder)
        for rank in load(os.path.join(folder, "truth")):
            name, recording = f"many laps, rank {rank.rank}", found[rank.pid]
            matched, header = match(rank, recording.events), recording.header
            laps = header["claimed_blocks"] // header["block_count"]
            check(laps >= 4, f"{name}: the ring went round {laps} times", "expected 4")
            check(not matched.missing and not matched.extra and not recording.overwritten and not recording.lost,
                  f"{name}: all {len(matched.pairs)} events are there and true, nothing is overwritten",
                  lambda: f"missing {first(matched.missing)}, extra {first(matched.extra)}, {recording.overwritten}")
            check(header["spool_state"] == ON and header["spooled_ticket"] == header["claimed_blocks"],
                  f"{name}: the header says that all of it is spooled", header)
        check_tools(options, folder, found)


def check_tools(options, folder, found):
    """tracetool tells the same of the folder, of a ring, and of a spool that is given alone."""
    _, ranks = info(options, os.path.join(folder, "traces"))
    said = {rank["pid"]: rank for rank in ranks}
    kernels = {pid: recording.kept["kernel"] + recording.kept["kernel_wide"] for pid, recording in found.items()}
    check(len(ranks) == 2 and {pid: rank["counts"]["kernel"] for pid, rank in said.items()} == kernels and
          all(rank["overwritten"] == 0 for rank in ranks), "tracetool info counts what is in the spools", ranks)
    path = spool_of(folder)[0]
    _, alone = info(options, path)
    check([rank["source"] for rank in alone] == [path[:-6] + ".ring"], "a spool leads to its ring", alone)
    lines = run([options.tracetool, "dump", path]).stdout.splitlines()
    shown = sum(": kernel " in line or ": kernel_wide " in line for line in lines)
    check(shown == kernels[alone[0]["pid"]], "tracetool dump shows the spooled records", shown)
    os.rename(path[:-6] + ".ring", path[:-6] + ".gone")
    done, _ = info(options, path)
    check(done.returncode == 2 and "missing" in done.stderr, "a spool without its ring: one line says so", done)


def check_obstacle(options, what, words, *, ring_bytes="256K", error=None, gone=True, **environment):
    """Bursts through a small ring with something in the way of the spool."""
    with Folder() as folder:
        done = train(options, folder, *BURSTS, "--ring-bytes", ring_bytes, **{**SPOOL, **environment})
        said = done.stderr.splitlines()
        check(done.returncode == 0 and len(said) == (1 if words else 0) and all(word in said[0] for word in words),
              f"{what}: the training ends well and says {'one line' if words else 'nothing'}", done)
        rank = load(os.path.join(folder, "truth"))[0]
        recording = recordings(folder)[rank.pid]
        check_conserved(what, rank, recording)
        check(bool(recording.overwritten) or not gone, f"{what}: some were overwritten", recording.overwritten)
        if error is not None:
            header = recording.header
            check((header["spool_state"], header["spool_error"]) == (FAILED, error), f"{what}: the header says why",
                  (header["spool_state"], header["spool_error"]))
            size = os.path.getsize(spool_of(folder)[0])
            check(size == header["spooled_bytes"], f"{what}: the spool ends with a whole block",
                  (size, header["spooled_bytes"]))
            _, ranks = info(options, os.path.join(folder, "traces"))
            check(any("spool ended" in note for note in ranks[0]["notes"]), f"{what}: tracetool says so", ranks)


def check_file_limit(options):
    """small_program.py, because the truth is a file, too."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (100 << 10, 100 << 10))

    with Folder() as folder:
        standin, calls, what = standins(options), 200_000, "a file size limit"
        done = run([sys.executable, PROGRAM, os.path.join(standin, "libcuda.so.1"), str(calls)], cwd=folder,
                   limit=limit, CUDA_INJECTION64_PATH=options.agent, LD_LIBRARY_PATH=standin, TRACETOOL_BUFFER="64K",
                   TRACETOOL_DIR=os.path.join(folder, "traces"), **SPOOL)
        said = done.stderr.splitlines()
        check((done.returncode, done.stdout, len(said)) == (0, "done\n", 1) and "spool" in said[0],
              f"{what}: the program ends as it did, one line says so", done)
        recording, = recordings(folder).values()
        counted = recording.kept["runtime"] + recording.overwritten["runtime"] + recording.lost["runtime"]
        check(counted >= calls and recording.kept["runtime"] > 0, f"{what}: all calls are counted", counted)
        check(recording.header["spool_error"] == errno.EFBIG, f"{what}: the header says why", recording.header)


def have_spools(folder, bytes_each):
    sizes = [os.path.getsize(path) for path in spool_of(folder)]
    return len(sizes) == 2 and min(sizes) > bytes_each


def promised(rank):
    handed = {seq for each in rank.handed for begin, end in each["seqs"] for seq in range(begin, end + 1)}
    return [line for line in rank.of(*CUPTI_KINDS, *HOST_KINDS)
            if (line["seq"] in handed if line["kind"] in CUPTI_KINDS else line["after"] != FOREVER)]


def check_kill(options, after_bytes):
    with Folder() as folder:
        job = subprocess.Popen(command(options, folder, *LAPS[:-4], "--steps", 100_000, "--step-us", 4000), cwd=folder,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env=clean_environment(**SPOOL))
        wait_until(lambda: have_spools(folder, after_bytes), job=job)
        for rank in load(os.path.join(folder, "truth")):
            os.kill(rank.pid, signal.SIGKILL)
        job.wait(timeout=60)
        found = recordings(folder)
        for rank in load(os.path.join(folder, "truth")):
            name, recording = f"killed with {after_bytes} bytes spooled, rank {rank.rank}", found[rank.pid]
            matched, due = match(rank, recording.events), promised(rank)
            kept = {line["seq"] for line, _ in matched.pairs}
            missing = [line for line in due if line["seq"] not in kept]
            header = recording.header
            check(header["claimed_blocks"] > header["block_count"], f"{name}: the ring had wrapped",
                  (header["claimed_blocks"], header["block_count"]))
            check(recording.state == "recovered" and not missing and not matched.extra and not recording.overwritten,
                  f"{name}: all {len(due)} events that were handed over are there",
                  lambda: f"{recording.state}, missing {first(missing)}, extra {first(matched.extra)}, "
                          f"{recording.overwritten}")


def totals_of(rank):
    sums = Counter(rank["counts"])
    for part in ("overwritten_by_kind", "lost_by_kind"):
        sums.update(rank[part])
    return sums


def check_damage(options):
    """Cut and changed at random: read with everything counted, or refused in one line."""
    with Folder() as folder:
        train(options, folder, "--ranks", 1, "--ring-bytes", "64K", "--steps", 40, "--step-us", 3000, **SPOOL)
        path, = spool_of(folder)
        _, ranks = info(options, path)
        whole, dice, wrong, kept = totals_of(ranks[0]), random.Random(1), [], set()
        data = open(path, "rb").read()
        damaged = [data[:dice.randrange(len(data))] for _ in range(15)] + [data[:length] for length in (0, 10, 64, 65)]
        for _ in range(25):
            changed = bytearray(data)
            for _ in range(dice.randrange(1, 5)):
                changed[dice.randrange(len(data))] = dice.randrange(256)
            damaged.append(bytes(changed))
        for number, content in enumerate(damaged):
            with open(path, "wb") as file:
                file.write(content)
            done, ranks = info(options, path)
            if done.returncode != 0 or totals_of(ranks[0]) != whole:
                wrong.append((number, len(content), done.returncode, done.stderr))
            else:
                kept.add(sum(ranks[0]["counts"].values()))
        check(not wrong, f"{len(damaged)} damaged spools are read, and what is missing is counted",
              lambda: first(wrong))
        check(len(kept) > 10, "the damage cost some of the records", kept)
        shutil.copy(options.tracetool, path)
        done, _ = info(options, path)
        check(done.returncode == 0 and "not a spool" in done.stdout, "what is no spool is said to be none", done)


def main():
    options = arguments("agent", "simulated", "tracetool", "odd_disk")
    odd = {"LD_PRELOAD": options.odd_disk}
    check_laps(options)
    check_obstacle(options, "a ring of ten blocks", (), ring_bytes="64K", gone=False)
    check_obstacle(options, "a slow disk", (), ODD_DISK_SPOOL_US=20_000, **odd)
    check_obstacle(options, "a full disk", ("the spool ends", "No space left"), error=errno.ENOSPC,
                   ODD_DISK_SPOOL_BYTES=100_001, **odd)
    check_obstacle(options, "TRACETOOL_MAX_DISK", ("the spool ends", "TRACETOOL_MAX_DISK"), error=errno.EFBIG,
                   TRACETOOL_MAX_DISK="100K")
    check_file_limit(options)
    for after_bytes in (300_000, 600_000):
        check_kill(options, after_bytes)
    check_damage(options)
    finish()


main()
