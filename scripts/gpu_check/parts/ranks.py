"""ranks: 2 and 4 ranks of a training on the one GPU, over NCCL's sockets on the loopback: every collective is on every rank,
with the bytes and in the order in which PyTorch asked for it."""
import json
import os
import subprocess
import time

import ranks_compare as compare
import recording
from places import EXAMPLES, PROGRAMS

PROGRAM = os.path.join(PROGRAMS, "torch_ranks.py")
JOBS = (("ddp", 2), ("ddp", 4), ("fsdp", 2), ("fsdp", 4))
JOB_S = 110  # four of them fit into the part's time


def run(part):
    for port, (how, ranks) in enumerate(JOBS, 29600):
        run_job(part, how, ranks, port)


def settings_of(rank, ranks, port, traces):
    """NCCL refuses two ranks on one GPU of one host; with a host id each, they talk over sockets, as hosts do."""
    return {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": ranks, "LOCAL_WORLD_SIZE": ranks, "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": port, "TORCHELASTIC_RUN_ID": f"gpu_check_{port}", "NCCL_HOSTID": f"gpu_check_{rank}",
            "NCCL_SOCKET_IFNAME": "lo", "NCCL_IB_DISABLE": 1, "TRACETOOL_DIR": traces, "GPU_CHECK_EXAMPLES": EXAMPLES}


def start(part, how, ranks, port, folder, **settings):
    """The processes of a job; what they write is in the folder."""
    found = []
    for rank in range(ranks):
        with open(os.path.join(folder, f"stderr{rank}"), "wb") as words:
            command = [part.machine.python, PROGRAM, "--how", how, "--calls", folder, "--one-gpu"]
            of_rank = settings_of(rank, ranks, port, os.path.join(folder, "traces"))
            chosen = recording.environment(part, **of_rank, **settings)
            found.append(subprocess.Popen(command, cwd=folder, env=chosen, stdin=subprocess.DEVNULL, stdout=words, stderr=words))
    return found


def wait(processes, seconds):
    """Exit statuses; what does not end in time is killed: None."""
    until, ends = time.monotonic() + seconds, []
    for process in processes:
        try:
            ends.append(process.wait(max(0.1, until - time.monotonic())))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            ends.append(None)
    return ends


def run_job(part, how, ranks, port):
    name = f"{how}, {ranks} ranks"
    folder = os.path.join(part.folder, f"{how}{ranks}")
    os.makedirs(folder)
    ends = wait(start(part, how, ranks, port, folder), JOB_S)
    if not part.check(ends == [0] * ranks, f"{name}: every rank ends with 0", lambda: f"{ends}: {last_words(folder)}"):
        return
    recordings = by_rank(recording.Recorded(part, None, os.path.join(folder, "traces"), 0).recordings())
    if part.check(sorted(recordings) == list(range(ranks)), f"{name}: one recording of each rank", sorted(recordings, key=str)):
        check_calls(part, name, folder, [recordings[rank] for rank in range(ranks)])
        check_merged(part, name, folder, ranks)


def last_words(folder):
    with open(os.path.join(folder, "stderr0"), encoding="utf-8", errors="backslashreplace") as file:
        return file.read()[-1500:]


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
