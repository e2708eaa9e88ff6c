#!/usr/bin/env python3
"""Where recordings lie. A folder that cannot hold a mapped ring gets copies of one that lies on local storage; a full
disk, a link in the way and a folder that fills up with the runs of a job that crashes and starts again do no harm."""
import fcntl
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import time

from compare import match
from harness import Folder, arguments, check, clean_environment, files_below, finish, first, run, wait_until
from recorded import environment_of, program, standins
from truth import AGENTS_OWN, command, load, read_recording, recordings, train

TRAINING = ("--ranks", 2, "--ring-bytes", "4M", "--steps", 20)
LONG = ("--ranks", 1, "--ring-bytes", "4M", "--steps", 100_000)
CREATED_AT, BOOT_ID_AT = 88, 168
SMALL_PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "small_program.py")


def odd(options, folder, kind, **more):
    """The folder of the recordings is another filesystem; where a ring lies instead is folder/local."""
    os.makedirs(os.path.join(folder, "local"), exist_ok=True)
    return {"LD_PRELOAD": options.odd_disk, "ODD_DISK_FOLDER": os.path.join(folder, "traces"), "ODD_DISK_IS": kind,
            "ODD_DISK_LOG": os.path.join(folder, "log"), "TMPDIR": os.path.join(folder, "local"), **more}


def complaints(folder):
    path = os.path.join(folder, "log")
    return open(path, encoding="utf-8").read().splitlines() if os.path.exists(path) else []


def check_elsewhere(options, kind, words, **more):
    """Recorded on local storage, copied, complete at the end, and nothing left behind."""
    with Folder() as folder:
        done = train(options, folder, *TRAINING, **odd(options, folder, kind, **more))
        said = done.stderr.splitlines()
        local = os.path.join(folder, "local")
        check(done.returncode == 0 and len(said) == 2 and all(words in line and local in line for line in said),
              f"{kind}: each rank says in one line where its ring lies", done)
        ranks, found = load(os.path.join(folder, "truth")), recordings(folder)
        check(sorted(found) == sorted(rank.pid for rank in ranks), f"{kind}: one recording per rank", sorted(found))
        for rank in ranks:
            recording = found[rank.pid]
            matched = match(rank, recording.events)
            check(recording.state == "clean" and not matched.missing and not matched.extra,
                  f"{kind}, rank {rank.rank}: all {len(matched.pairs)} events are in the copy, which is closed",
                  lambda: f"{recording.state}, missing {first(matched.missing)}, extra {first(matched.extra)}")
            check(recording.header["local_path"].startswith(local), f"{kind}, rank {rank.rank}: it says where it lay",
                  recording.header["local_path"])
        check(not os.listdir(local), f"{kind}: nothing is left on local storage", os.listdir(local))
        others = [path for path in files_below(os.path.join(folder, "traces"))
                  if not path.endswith((".ring", ".spool"))]
        check(not others and not complaints(folder), f"{kind}: no application thread wrote there, nothing was mapped",
              f"{others}, {first(complaints(folder))}")


def check_closed_descriptors(options):
    """The program closes all descriptors from 3 on and uses their numbers: the copy is made all the same."""
    with Folder() as folder:
        chosen = environment_of(options, folder, SIM_TRUTH=None, **odd(options, folder, "network"))
        done = run([program(options, "launches"), "reuse", "3000"], cwd=folder, **chosen)
        found = list(recordings(folder).values())
        check(done.returncode == 0 and len(done.stderr.splitlines()) == 1, "network, descriptors closed: it ends well",
              done)
        check(len(found) == 1 and found[0].state == "clean" and not os.listdir(os.path.join(folder, "local")),
              "network, descriptors closed: the copy is complete, nothing is left behind", found)


def is_copied(run):
    """A copy is renamed whole; before it, a file of that name was empty and went away. The first copy may be older than the
    program's first event, and have nothing but times that the agent took."""
    try:
        return any(os.path.getsize(path) > 0 and set(read_recording.read(path).kept) - set(AGENTS_OWN)
                   for path in files_below(run, ".ring"))
    except FileNotFoundError:
        return False


def state_of(options, folder):
    done = run([options.tracetool, "info", "--json", os.path.join(folder, "traces")])
    return json.loads(done.stdout)["ranks"][0] if done.returncode == 0 else {"state": done.stderr, "notes": []}


def kill_elsewhere(options, folder, run_id):
    """A training recorded on local storage, killed after its first copy of events; the job's run id is `run_id`."""
    job = subprocess.Popen(command(options, folder, *LONG), cwd=folder, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                           env=clean_environment(**odd(options, folder, "network", TORCHELASTIC_RUN_ID=run_id)))
    try:
        wait_until(lambda: is_copied(os.path.join(folder, "traces", run_id + "-r0")), job=job)
        yield "copied"
    finally:
        os.killpg(job.pid, signal.SIGKILL)
        job.wait()


def check_kill_elsewhere(options):
    with Folder() as folder:
        for _ in kill_elsewhere(options, folder, "first"):
            check(state_of(options, folder)["state"] == "live", "a copy of a running process is live",
                  state_of(options, folder))
            time.sleep(0.3)
        local = files_below(os.path.join(folder, "local"), ".ring")
        wait_until(lambda: state_of(options, folder)["state"] != "live", 5)  # killed is not yet gone
        said = state_of(options, folder)
        check(said["state"] == "recovered" and len(local) == 1 and any(local[0] in note for note in said["notes"]),
              "after a kill the copy says where the newer ring lies", f"{said['state']}, {said['notes']}, {local}")
        newer, copy = read_recording.read(local[0]), list(recordings(folder).values())[0]
        rank = load(os.path.join(folder, "truth"))[0]
        for what, recording in (("the ring", newer), ("its copy", copy)):
            matched = match(rank, recording.events)
            check(not matched.extra and matched.pairs, f"{what}: all {len(matched.pairs)} events are true",
                  lambda: first(matched.extra))
        check(sum(newer.kept.values()) > sum(copy.kept.values()), "the ring is newer than its copy",
              (newer.kept, copy.kept))
        for run_id in ("second", "third"):
            os.remove(os.path.join(folder, "truth"))
            for _ in kill_elsewhere(options, folder, run_id):
                pass
        left = [read_recording.read(path).header["run_id"] for path in files_below(os.path.join(folder, "local"))]
        check(len(left) == 2 and local[0] not in files_below(os.path.join(folder, "local")),
              "of killed runs the rings of the last two stay on local storage", left)


def run_small(options, folder, count=10, **more):
    return run([program(options, "launches"), "plain", str(count)], cwd=folder,
               **environment_of(options, folder, **{"TRACETOOL_BUFFER": "64K", "SIM_TRUTH": None, **more}))


def elastic(number):
    return {"TORCHELASTIC_RUN_ID": "job", "TORCHELASTIC_RESTART_COUNT": number}


def check_full(options):
    with Folder() as folder:
        done = run_small(options, folder, **odd(options, folder, "full"))
        said = done.stderr.splitlines()
        check(done.returncode == 0 and len(said) == 1 and "No space left" in said[0],
              "a full disk: the program ends as it did, one line says so", done)
        left = files_below(folder, ".ring") + os.listdir(os.path.join(folder, "traces"))
        check(not left, "a full disk: nothing is left behind", left)


def check_recorded_without_room(options, folder, traces):
    """`tracetool record` names the disk as the reason: without a block, without an inode, and where the disk filled up while a spool grew."""
    def record(*more):
        standin = standins(options)
        return run([options.tracetool, "record", "-o", traces, *more, "--", sys.executable, SMALL_PROGRAM, os.path.join(standin, "libcuda.so.1"), "300000"],
                   cwd=folder, LD_LIBRARY_PATH=standin, TRACETOOL_AGENT=options.agent, TRACETOOL_GUARD_RATE=0)

    def empty():
        for name in os.listdir(traces):
            path = os.path.join(traces, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)

    empty()
    done = record("--buffer", "256K", "--mode", "spool")
    said = done.stderr.splitlines()
    check(done.returncode == 0 and "the spool ends" in said[0] and "the spool ended early: No space left" in said[1],
          "a disk that fills up: the spool's end is said, and is the reason for what is overwritten", done)
    empty()
    for what, words, fill in (("a full disk", "0 bytes free", lambda: os.truncate(os.path.join(traces, "file"), 0) or
                               subprocess.run(["fallocate", "-l", "1M", os.path.join(traces, "file")], check=True)),
                              ("a disk without an inode", "no free inode", lambda: subprocess.run(["mount", "-o", "remount,nr_inodes=2", traces], check=True))):
        with open(os.path.join(traces, "file"), "wb"):
            pass
        fill()
        done = record("--buffer", "256K")
        said = done.stderr.splitlines()
        check((done.returncode, done.stdout) == (0, "done\n") and len(said) > 2 and words in said[0] and "No space left" in said[1] and
              "has no new recording" in said[2] and words in said[2] and "no process used" not in done.stderr, f"{what}: record says so", done)
        empty()


def check_small_tmpfs(options):
    """A real one, where we may mount: what TRACETOOL_KEEP lets go is taken before the recording is given up."""
    with Folder() as folder:
        traces = os.path.join(folder, "traces")
        os.mkdir(traces)
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1M", "none", traces], check=False,
                          stderr=subprocess.DEVNULL).returncode != 0:
            print("      (no tmpfs of our own: mounting is not allowed here)")
            return
        try:
            results = [run_small(options, folder, TRACETOOL_BUFFER="400K", TRACETOOL_KEEP=2, **elastic(i))
                       for i in range(4)]
            runs = sorted(os.listdir(traces))
            check(all(done.returncode == 0 and not done.stderr for done in results) and "job-r3" in runs,
                  "a small disk: the newest run takes the space of the oldest", f"{runs}, {results}")
            done = run_small(options, folder, TRACETOOL_BUFFER="4M", **elastic(9))
            check(done.returncode == 0 and len(done.stderr.splitlines()) == 1 and "job-r9" not in os.listdir(traces),
                  "a small disk: a ring that never fits is said in one line", done)
            check_recorded_without_room(options, folder, traces)
        finally:
            subprocess.run(["umount", traces], check=False)


def check_links(options):
    """Neither the run's folder nor anything that is removed may be a link."""
    with Folder() as folder:
        traces, elsewhere = os.path.join(folder, "traces"), os.path.join(folder, "elsewhere")
        os.mkdir(traces)
        os.mkdir(elsewhere)
        os.symlink(elsewhere, os.path.join(traces, "job-r0"))
        done = run_small(options, folder, **elastic(0))
        check(done.returncode == 0 and len(done.stderr.splitlines()) == 1 and not os.listdir(elsewhere),
              "a link in the place of the run's folder: one line, nothing is written through it",
              f"{done}, {os.listdir(elsewhere)}")
        check(is_recorded_in(folder, f"job-r0-u{os.geteuid()}"), "it is recorded in a folder of its own", os.listdir(traces))


NOBODY = 65534
# What is in the place of the run's folder: its owner and mode, and words of the line that says why it is not taken; None: it is taken.
PLANTED = {
    "a folder of another user": (NOBODY, 0o755, "belongs to another user"),
    "a folder of another user, open to all": (NOBODY, 0o1777, "belongs to another user"),
    "a folder that the group may write to": (None, 0o775, "can be written to by other users"),
    "a folder that all may write to": (None, 0o757, "can be written to by other users"),
    "a folder that all may read": (None, 0o755, None),
    "a folder that is sticky": (None, 0o1777, None),
}


def is_recorded_in(folder, name):
    done = os.path.join(folder, "traces", name)
    return os.path.isdir(done) and os.stat(done).st_mode & 0o7777 == 0o700 and \
        [read_recording.read(path).state for path in files_below(done, ".ring")] == ["clean"]


def plant(folder, name, owner, mode):
    path = os.path.join(folder, "traces", name)
    os.makedirs(path)
    os.chmod(path, mode)
    if owner is not None:
        os.chown(path, owner, owner)
    return path


def check_planted(options):
    """Whoever knows the name of a run may have made its folder before: it is used only where nobody else can write to it."""
    own = f"job-r0-u{os.geteuid()}"
    for what, (owner, mode, words) in PLANTED.items():
        if owner is not None and os.geteuid() != 0:
            print(f"left out: {what}: only root can make one", flush=True)
            continue
        with Folder() as folder:
            planted = plant(folder, "job-r0", owner, mode)
            results = [run_small(options, folder, RANK=rank, **elastic(0)) for rank in range(2)]
            said = [done.stderr.splitlines() for done in results]
            if words is None:
                check(not any(said) and len(files_below(planted, ".ring")) == 2, f"{what}: it is taken", results)
                continue
            check(all(done.returncode == 0 for done in results) and all(len(lines) == 1 and words in lines[0] and own in lines[0] for lines in said),
                  f"{what}: one line says where each rank is recorded instead", results)
            found = files_below(os.path.join(folder, "traces", own), ".ring")
            check(not os.listdir(planted) and len(found) == 2, f"{what}: nothing is written to it, both ranks are in one other folder", found)
            info = run([options.tracetool, "info", os.path.join(folder, "traces")])
            check(info.returncode == 0, f"{what}: tracetool reads the run", info)
    with Folder() as folder:
        planted = [plant(folder, name, None, 0o777) for name in ("job-r0", own)]
        done = run_small(options, folder, **elastic(0))
        check(done.returncode == 0 and len(done.stderr.splitlines()) == 1 and "not recorded" in done.stderr and not any(map(os.listdir, planted)),
              "both names are taken: one line, nothing is recorded", done)
    with Folder() as folder:
        traces = os.path.join(folder, "traces")
        os.mkdir(traces)
        os.chmod(traces, 0o2775)
        done = run_small(options, folder, **elastic(0))
        check(done.returncode == 0 and not done.stderr and len(files_below(os.path.join(traces, "job-r0"), ".ring")) == 1,
              "TRACETOOL_DIR may be a folder that a group shares", done)


def make_run(options, folder, number, age_s):
    """A finished run of the past."""
    run_small(options, folder, TRACETOOL_KEEP=0, **elastic(number))
    path, = files_below(os.path.join(folder, "traces", f"job-r{number}"), ".ring")
    os.utime(path, (time.time() - age_s,) * 2)
    return path


def check_what_stays(options):
    with Folder() as folder:
        paths = [make_run(options, folder, number, 1000 * (20 - number)) for number in range(7)]
        traces = os.path.join(folder, "traces")
        victim = os.path.join(folder, "victim")
        shutil.copy(paths[0], victim)
        os.symlink(victim, os.path.join(os.path.dirname(paths[0]), "link.ring"))
        with open(os.path.join(os.path.dirname(paths[1]), "notes.txt"), "w", encoding="utf-8") as notes:
            notes.write("mine")
        foreign = os.path.join(os.path.dirname(paths[2]), "foreign.ring")
        with open(foreign, "w", encoding="utf-8") as file:
            file.write("not a recording, but 4096 bytes of something else\n" * 100)
        os.utime(foreign, (1, 1))
        os.mkfifo(os.path.join(os.path.dirname(paths[2]), "fifo.ring"))
        shutil.copytree(os.path.dirname(paths[0]), os.path.join(traces, "baseline"), symlinks=True)
        copied = os.path.join(traces, "baseline", os.path.basename(paths[0]))
        closed = os.path.join(os.path.dirname(paths[3]), "closed.ring")
        shutil.copy2(paths[3], closed)
        with open(paths[3], "r+b") as live:
            fcntl.fcntl(live, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
            done = run_small(options, folder, 300, TRACETOOL_KEEP=4, **elastic(50))
        check(done.returncode == 0 and not done.stderr, "a run that cleans up says nothing", done)
        left = [os.path.exists(path) for path in paths]
        check(left == [False, False, False, True, True, True, True],
              "of older runs three stay, and one whose writer lives", left)
        newest = read_recording.read(files_below(os.path.join(traces, "job-r50"), ".ring")[0])
        check(newest.header["removed_runs"] == 3, "it counts the runs that it removed", newest.header["removed_runs"])
        for command in ("runs", "info"):
            said = run([options.tracetool, command, traces], cwd=folder).stdout
            check("deleted 3 earlier runs to keep within TRACETOOL_KEEP" in said, f"`{command}` says so", said[-600:])
        check(os.path.exists(closed), "where one rank still records, the file of another stays", os.listdir(traces))
        check(os.path.exists(copied), "a copy of an old run under another name stays", os.listdir(traces))
        stays = (victim, foreign, os.path.join(os.path.dirname(paths[0]), "link.ring"),
                 os.path.join(os.path.dirname(paths[1]), "notes.txt"))
        check(all(os.path.lexists(path) for path in stays), "what is not ours stays: links, notes, other files",
              [path for path in stays if not os.path.lexists(path)])
        check("job-r50" in os.listdir(traces), "the current run is there", os.listdir(traces))


def check_launches(options):
    """Ranks of one launch share a folder, also with a shell in between; each restart and each launch has its own."""
    with Folder() as folder:
        torchrun = {"TORCHELASTIC_RUN_ID": "none", "SLURM_JOB_ID": 7, "SLURM_PROCID": 0, "SIM_TRUTH": None}
        launched = [program(options, "launches"), "plain", "10"]

        def launch(wrapped, count):
            return run([*wrapped, *launched], cwd=folder,
                       **environment_of(options, folder, RANK=0, TORCHELASTIC_RESTART_COUNT=count, **torchrun))
        between = ("sh", "-c", 'sleep 1.2; "$@"; true', "sh")
        results = [launch((), 0), launch(between, 0), launch((), 1)]
        runs = sorted(os.listdir(os.path.join(folder, "traces")))
        check(not any(done.returncode or done.stderr for done in results) and len(runs) == 2
              and [run_id[-3:] for run_id in runs] == ["-r0", "-r1"] and runs[0][:-1] == runs[1][:-1]
              and runs[0].startswith("slurm-7."), "ranks of a launch share a folder, restarts do not", (runs, results))
        results = [run(launched, cwd=folder, **environment_of(options, folder, SLURM_JOB_ID=8, SLURM_PROCID=0,
                                                              SIM_TRUTH=None)) for _ in range(2) if not time.sleep(1.1)]
        runs = [name for name in os.listdir(os.path.join(folder, "traces")) if name.startswith("slurm-8.")]
        check(len(runs) == 2, "two programs of one batch script have a folder each", (runs, results))


def check_sizes(options):
    with Folder() as folder:
        paths = [make_run(options, folder, number, 1000 * (20 - number)) for number in range(5)]
        run_small(options, folder, 300, TRACETOOL_KEEP=0, TRACETOOL_MAX_DISK="200K", **elastic(50))
        left = [os.path.exists(path) for path in paths]
        check(left == [False, False, False, True, True], "TRACETOOL_MAX_DISK: the oldest runs go until it holds", left)


def check_restarts(options, restarts):
    """A job that crashes and starts again, eight ranks at once at the end."""
    with Folder() as folder:
        traces, most = os.path.join(folder, "traces"), 0
        for number in range(restarts):
            done = run_small(options, folder, TRACETOOL_FLUSH_MS=None, TRACETOOL_KEEP=4, **elastic(number))
            if done.returncode != 0 or done.stderr:
                check(False, f"restart {number} ends well", done)
            most = max(most, len(os.listdir(traces)))
        check(most <= 21, f"{restarts} restarts: never more than 21 runs are there", most)
        ranks = [subprocess.Popen([program(options, "launches"), "plain", "300"], cwd=folder, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE,
                                  env=clean_environment(**environment_of(options, folder, SIM_TRUTH=None, TRACETOOL_KEEP=4,
                                                                         RANK=rank, **elastic(restarts))))
                 for rank in range(8)]
        said = [rank.communicate(timeout=60)[1] for rank in ranks]
        check(not any(said) and not any(rank.returncode for rank in ranks), "eight ranks at once end well", said)
        runs = os.listdir(traces)
        current = files_below(os.path.join(traces, f"job-r{restarts}"), ".ring")
        check(len(runs) == 4 and len(current) == 8, "four runs stay, and all eight recordings of the last",
              f"{sorted(runs)}, {len(current)}")


def main():
    options = arguments("agent", "simulated", "tracetool", "odd_disk", "programs")
    check_elsewhere(options, "network", "network")
    check_elsewhere(options, "nofallocate", "fallocate")
    check_elsewhere(options, "network", "network", TRACETOOL_MODE="spool")
    check_closed_descriptors(options)
    check_kill_elsewhere(options)
    check_full(options)
    check_small_tmpfs(options)
    check_links(options)
    check_planted(options)
    check_what_stays(options)
    check_launches(options)
    check_sizes(options)
    check_restarts(options, 100)
    finish()


main()
