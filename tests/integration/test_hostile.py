#!/usr/bin/env python3
"""A hostile environment: bad values for every setting there is, odd folders, no standard files, tight limits. The
program ends as it does without the agent, which says one line for each bad value, and records where it can."""
import os
import resource
import shutil
import subprocess
import sys
import tempfile

from harness import Folder, arguments, check, clean_environment, finish, first, run
from recorded import Job, environment_of, program, record, side_by_side

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))
import settings_table  # noqa: E402

VALUES = {"nothing": "", "a word": "soon", "negative": "-1", "zero": "0", "huge": "9" * 30, "largest": str(2**64 - 1),
          "a fraction": "1.5", "a space": " ", "formats": "%s%n%s%n%d", "long": "A" * 6000, "two lines": "1\n2",
          "escapes": "\x1b[31m\x07", "C1 controls": "\x9b31m\x85x", "text directions": "\u202e\u2066x\u2028",
          "not UTF-8": b"\xff\xfe\x01\x80", "a separator": "/", "commas": ",,,",
          "true": "true", "a path": "/dev/null", "below a device": "/dev/null/x"}
# Whatever these are, the recording may be elsewhere, or have no kernels.
MAY_LACK_KERNELS = ("TRACETOOL_DIR", "TRACETOOL_DISABLE", "TRACETOOL_CUPTI", "TRACETOOL_EVENTS")
LAUNCHES = 20
NOBODY = 65534


def settings():
    with open(settings_table.CODE, encoding="utf-8") as code:
        return [name for name, *_ in settings_table.read_rows(code.read())]


def run_hostile(options, folder, *arguments, limit=None, **environment):
    """The program in its folder, not recorded with a truth, so that no file of the stand-in is in the way."""
    chosen = environment_of(options, folder, SIM_TRUTH=None, **environment)
    return run([program(options, "launches"), *map(str, arguments)], cwd=folder, timeout=60, limit=limit, **chosen)


def hostile_run(options, name, value):
    """What is wrong when one variable has one value."""
    with Folder() as folder:
        raw = value if isinstance(value, bytes) else value.encode()
        done = run_hostile(options, folder, "plain", LAUNCHES, **{name: os.fsdecode(raw)})
        job = Job(folder, done)
    wrong = []
    if (done.returncode, done.stdout) != (0, "done\n"):
        wrong.append(f"it ends with {done.returncode}, {done.stdout!r}")
    if len(job.said) > 1 or any(not line.startswith("tracetool: ") for line in job.said):
        wrong.append(f"it says {job.said}")
    if any(not c.isprintable() for line in job.said for c in line):
        wrong.append(f"control characters reach the terminal: {job.said}")
    if job.said and name not in job.said[0] and name != "TRACETOOL_DIR":
        wrong.append(f"the line does not name the variable: {job.said}")
    kept = sum(recording.kept["kernel"] for each in job.found.values() for recording in each)
    if name not in MAY_LACK_KERNELS and kept != LAUNCHES:
        wrong.append(f"{kept} kernels are recorded")
    return wrong


def check_values(options):
    names = settings()
    check(len(names) > 8, f"the table has {len(names)} settings", names)
    cases = [(name, what) for name in names for what in VALUES
             if not (name == "TRACETOOL_DIR" and what == "a separator")]
    results = side_by_side(lambda case: hostile_run(options, case[0], VALUES[case[1]]), cases)
    for name in names:
        wrong = [f"{what}: {result}" for (of, what), result in zip(cases, results) if of == name and result]
        check(not wrong, f"{name}: {len(VALUES)} hostile values", lambda: first(wrong, 20))


def check_all_at_once(options):
    for what, value in VALUES.items():
        if what == "a separator":
            continue
        everything = {name: os.fsdecode(value if isinstance(value, bytes) else value.encode())
                      for name in settings() if name != "TRACETOOL_DISABLE"}
        with Folder() as folder:
            done = run_hostile(options, folder, "plain", LAUNCHES, **everything)
        check((done.returncode, done.stdout) == (0, "done\n"), f"every variable is {what}: the program ends well", done)


def check_launchers(options):
    """Bad values in the launchers' variables: the identity is unknown, nothing else."""
    names = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "SLURM_PROCID", "SLURM_JOB_ID", "SLURM_STEP_ID", "TORCHELASTIC_RUN_ID",
             "TORCHELASTIC_RESTART_COUNT", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_RESTART_COUNT")
    for what in ("nothing", "a word", "negative", "huge", "formats", "long", "two lines", "not UTF-8", "a path"):
        value = VALUES[what]
        text = os.fsdecode(value if isinstance(value, bytes) else value.encode())
        with Folder() as folder:
            done = run_hostile(options, folder, "plain", LAUNCHES, **dict.fromkeys(names, text))
            job = Job(folder, done)
            outside = [name for name in os.listdir(folder) if name not in ("traces",)]
        good = job.only is not None and job.only.kept["kernel"] == LAUNCHES and not outside
        check(done.returncode == 0 and not job.said and good, f"the launcher's variables are {what}: recorded",
              f"{done} {job.refused} {outside}")


def check_identities(options):
    """Good values: who comes first of several launchers is the one that started the rank itself."""
    slurm = {"SLURM_PROCID": 3, "SLURM_LOCALID": 2, "SLURM_NTASKS": 16}
    pmi = {"PMI_RANK": 5, "MPI_LOCALRANKID": 1, "PMI_SIZE": 6}
    ompi = {"OMPI_COMM_WORLD_RANK": 4, "OMPI_COMM_WORLD_LOCAL_RANK": 0, "OMPI_COMM_WORLD_SIZE": 8}
    torchrun = {"RANK": 9, "LOCAL_RANK": 1, "WORLD_SIZE": 12}
    for what, environment, wanted in (
            ("PMI", pmi, (5, 1, 6)), ("Slurm", pmi | slurm, (3, 2, 16)), ("Open MPI", pmi | slurm | ompi, (4, 0, 8)),
            ("torchrun", pmi | slurm | ompi | torchrun, (9, 1, 12)), ("only a rank", {"RANK": 7}, (7, None, None)),
            ("nobody", {}, (None, None, None))):
        job = record(options, "launches", "plain", LAUNCHES, **environment)
        identity = (job.only.identity or {}) if job.only is not None else {"rank": "no recording"}
        found = tuple(identity.get(name) for name in ("rank", "local_rank", "world_size"))
        check(found == wanted, f"{what} started it: rank, local rank and world size {wanted}", identity)


def check_folders(options):
    job = record(options, "launches", "plain", LAUNCHES, TRACETOOL_DIR="traces")
    check(job.only is not None and job.only.kept["kernel"] == LAUNCHES and not job.said,
          "a relative folder: recorded below the working directory", job.done)
    job = record(options, "launches", "chdir", LAUNCHES, TRACETOOL_DIR="traces")
    check(job.only is not None and job.only.kept["kernel"] == 2 * LAUNCHES and job.only.state == "clean",
          "a relative folder and a program that changes its own: one recording, closed", job.done)
    job = record(options, "launches", "plain", LAUNCHES, HOME=None)
    check(job.only is not None and job.only.state == "clean" and not job.said, "no HOME: recorded", job.done)


def check_closed(options):
    """The program has no standard files, and writes to their numbers: none of ours must be behind them."""
    with Folder() as folder:
        done = run_hostile(options, folder, "close", LAUNCHES)
        job = Job(folder, done)
    good = job.only is not None and job.only.state == "clean" and job.only.kept["kernel"] == 2 * LAUNCHES
    check(done.returncode == 0 and good, "no standard files: the recording is unharmed",
          f"{done} {job.refused} {job.only and job.only.kept}")


def check_broken_stderr(options):
    """Writing a line raises a signal: stderr is a file that may not grow, or a pipe that nobody reads. No other write of the program does."""
    def limit_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    for what, limit in (("a file that may not grow", limit_files), ("a pipe without a reader", None)):
        with Folder() as folder:
            reader, pipe = os.pipe()
            os.close(reader)
            with open(os.path.join(folder, "stderr") if limit else pipe, "wb") as stderr:
                done = subprocess.run([program(options, "launches"), "plain", str(LAUNCHES)], cwd=folder, stdin=subprocess.DEVNULL, stderr=stderr,
                                      stdout=subprocess.PIPE, check=False, timeout=60, preexec_fn=limit, restore_signals=True,
                                      env=clean_environment(**environment_of(options, folder, SIM_TRUTH=None, TRACETOOL_EVENTS="everything")))
            if limit:
                os.close(pipe)
        check((done.returncode, done.stdout) == (0, b"done\n"), f"stderr is {what}: the program ends well", done)


def check_used_again(options):
    """The program closes all descriptors, as daemons do, and has files of its own at these numbers."""
    for mode in ("ring", "spool"):
        with Folder() as folder:
            done = run_hostile(options, folder, "reuse", 3000, TRACETOOL_MODE=mode)
            job = Job(folder, done)
        what = f"descriptors that are used again, {mode}"
        check((done.returncode, done.stdout) == (0, "done\n"), f"{what}: the program's files are its own", done)
        ended = [line for line in job.said if "the spool ends" in line and "has closed its file" in line]
        check(job.said == ended and len(ended) == (mode == "spool"), f"{what}: a line says that the spool ends", done)
        check(job.only is not None and sum(job.only.kept.values()) > 10_000, f"{what}: the ring is recorded",
              f"{job.refused} {job.only and job.only.kept}")


def run_as_nobody(options, mode):
    """A copy of the program with this mode, of root's, run by another user. A Job."""
    with Folder() as folder:
        copy = os.path.join(folder, "launches")
        shutil.copy(program(options, "launches"), copy)
        os.chmod(copy, mode)
        os.chmod(folder, 0o777)
        chosen = environment_of(options, folder, SIM_TRUTH=None)
        return Job(folder, run([copy, "plain", str(LAUNCHES)], cwd=folder, limit=lambda: os.setuid(NOBODY), **chosen))


def check_secure(options):
    """A set-user-ID program is not for its caller's variables to command (AT_SECURE)."""
    if os.geteuid() != 0 or os.statvfs(tempfile.gettempdir()).f_flag & os.ST_NOSUID:
        print("left out: a set-user-ID program can only be made by root", flush=True)
        return
    without = run_as_nobody(options, 0o755)
    if without.only is None:
        print(f"left out: a set-user-ID program: another user cannot run these programs: {without.done}", flush=True)
        return
    job = run_as_nobody(options, 0o4755)
    check((job.done.returncode, job.done.stdout) == (0, "done\n") and not job.found and not job.said,
          "a set-user-ID program: the agent does nothing", job.done)


def limited(options, kind, value, agent):
    with Folder() as folder:
        return run_hostile(options, folder, "plain", LAUNCHES, limit=lambda: resource.setrlimit(kind, (value, value)),
                           CUDA_INJECTION64_PATH=agent, TRACETOOL_BUFFER="256M")


def check_limits(options, what, kind, values):
    """With each value the program ends as it does without the agent, where it can run at all."""
    ran = 0
    for value in values:
        without = limited(options, kind, value, None)
        if without.returncode != 0:
            continue
        ran += 1
        done = limited(options, kind, value, options.agent)
        check((done.returncode, done.stdout) == (0, "done\n"), f"{what} {value}: the program ends well",
              f"{done}, without the agent: {without}")
    check(ran > 3, f"{what}: the program itself ran under {ran} of {len(values)} limits", values)


def main():
    options = arguments("agent", "simulated", "programs", "odd_cupti")
    check_values(options)
    check_all_at_once(options)
    check_launchers(options)
    check_identities(options)
    check_folders(options)
    check_closed(options)
    check_broken_stderr(options)
    check_used_again(options)
    check_secure(options)
    check_limits(options, "RLIMIT_NOFILE", resource.RLIMIT_NOFILE, range(3, 12))
    check_limits(options, "RLIMIT_AS", resource.RLIMIT_AS, [megabytes << 20 for megabytes in
                                                            (60, 80, 120, 200, 300, 330, 360, 400, 600, 1000, 2000)])
    finish()


main()
