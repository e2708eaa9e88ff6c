"""ranks: 2 and 4 ranks of a training on the one GPU, over NCCL's sockets on the loopback: every collective is on every rank,
with the bytes and in the order in which PyTorch asked for it."""
import json
import os
import signal
import subprocess
import time

import ranks_compare as compare
import recording
from places import EXAMPLES, PROGRAMS

PROGRAM = os.path.join(PROGRAMS, "torch_ranks.py")
JOBS = (("ddp", 2), ("ddp", 4), ("fsdp", 2), ("fsdp", 4))
JOB_S = 110  # at most
AFTER_FAILURE_S = 15  # for the others, when one rank has failed: they wait for it
LAST_WORDS_S = 3


def run(part):
    for number, (how, ranks) in enumerate(JOBS):
        seconds = min(JOB_S, part.left_s() / (len(JOBS) - number) - 8)
        part.attempt(f"{how}, {ranks} ranks", run_job, how, ranks, 29600 + number, seconds)


def settings_of(rank, ranks, port, traces):
    """NCCL refuses two ranks on one GPU of one host; with a host id each, they talk over sockets, as hosts do. What NCCL says
    is kept: it explains a job that hangs."""
    return {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": ranks, "LOCAL_WORLD_SIZE": ranks, "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": port, "TORCHELASTIC_RUN_ID": f"gpu_check_{port}", "NCCL_HOSTID": f"gpu_check_{rank}",
            "NCCL_SOCKET_IFNAME": "lo", "NCCL_IB_DISABLE": 1, "NCCL_NET": "Socket", "NCCL_MNNVL_ENABLE": 0,
            "NCCL_DEBUG": "INFO", "PYTHONFAULTHANDLER": 1, "TRACETOOL_DIR": traces, "GPU_CHECK_EXAMPLES": EXAMPLES}


def start(part, how, ranks, port, folder, arguments=(), **settings):
    """The processes of a job, with more arguments of the program; what they write is in the folder."""
    found = []
    for rank in range(ranks):
        with open(os.path.join(folder, f"stderr{rank}"), "wb") as words:
            command = [part.machine.python, PROGRAM, "--how", how, "--calls", folder, "--one-gpu", *arguments]
            of_rank = settings_of(rank, ranks, port, os.path.join(folder, "traces"))
            chosen = recording.environment(part, **of_rank, **settings)
            found.append(subprocess.Popen(command, cwd=folder, env=chosen, stdin=subprocess.DEVNULL, stdout=words,
                                          stderr=words))
    return found


def wait(processes, seconds):
    """Exit statuses; what does not end in time is ended: None. It says before where it was, in its stderr."""
    until, ends = time.monotonic() + seconds, [None] * len(processes)
    while None in ends and time.monotonic() < until:
        time.sleep(0.1)
        ends = [process.poll() for process in processes]
        if any(ends):  # one has failed
            until = min(until, time.monotonic() + AFTER_FAILURE_S)
    hanging = [process for process, end in zip(processes, ends) if end is None]
    for process in hanging:
        process.send_signal(signal.SIGABRT)
    time.sleep(LAST_WORDS_S if hanging else 0)
    for process in hanging:
        process.kill()
        process.wait()
    return ends


def run_job(part, how, ranks, port, seconds):
    name = f"{how}, {ranks} ranks"
    folder = os.path.join(part.folder, f"{how}{ranks}")
    os.makedirs(folder)
    ends = wait(start(part, how, ranks, port, folder), seconds)
    if not part.check(ends == [0] * ranks, f"{name}: every rank ends with 0", lambda: f"{ends}: {last_words(folder, ends)}"):
        return
    recordings = by_rank(recording.Recorded(part, None, os.path.join(folder, "traces"), 0).recordings())
    if part.check(sorted(recordings) == list(range(ranks)), f"{name}: one recording of each rank", sorted(recordings, key=str)):
        check_calls(part, name, folder, [recordings[rank] for rank in range(ranks)])
        check_merged(part, name, folder, ranks)


def last_words(folder, ends):
    """Of a rank that failed by itself, or else of the first that hung."""
    rank = next((rank for rank, end in enumerate(ends) if end), next((rank for rank, end in enumerate(ends) if end != 0), 0))
    return f"rank {rank}: {recording.last_words(os.path.join(folder, f'stderr{rank}'))}"


def by_rank(recordings):
    return {each.identity["rank"]: each for each in recordings}


def check_calls(part, name, folder, recordings):
    of_ranks = []
    for rank, found in enumerate(recordings):
        with open(os.path.join(folder, f"rank{rank}.json"), encoding="utf-8") as file:
            asked = json.load(file)
        part.check(not asked["unknown"], f"{name}: rank {rank}: the log knows every operator", asked["unknown"])
        calls = compare.recorded_calls(found)
        of_ranks.append(compare.by_communicator(calls))
        issued = compare.issued_by_group(asked["calls"])
        difference = compare.different(issued, of_ranks[-1])
        part.check(issued and difference is None, f"{name}: rank {rank}: each collective with its bytes, in order",
                   difference or f"{len(calls)} calls")
        gaps = compare.ordinal_gaps(calls)
        part.check(not gaps, f"{name}: rank {rank}: ordinals have no gap", gaps)
        part.check(recording.lost([found]) == 0, f"{name}: rank {rank}: nothing is lost", recording.lost([found]))
    difference = compare.ranks_differ(of_ranks)
    part.check(difference is None, f"{name}: all ranks have the same communicators and calls", difference or "")


def check_merged(part, name, folder, ranks):
    merged = os.path.join(folder, "run.ttrace")
    recording.tool(part, "merge", os.path.join(folder, "traces"), "-o", merged)
    found = json.loads(recording.tool(part, "info", "--json", merged))["ranks"]
    apart = json.loads(recording.tool(part, "info", "--json", os.path.join(folder, "traces")))["ranks"]
    counts = [[rank["counts"] for rank in each] for each in (found, apart)]
    part.check(len(found) == ranks and counts[0] == counts[1], f"{name}: merged, with every event", counts)
    part.figure(f"collectives of rank 0, {name}", found[0]["counts"].get("nccl", 0), "")
