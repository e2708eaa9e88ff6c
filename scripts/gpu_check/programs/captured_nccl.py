#!/usr/bin/env python3
"""Two ranks on one GPU that capture all-reduces in a CUDA graph and launch it some times; needs torch with NCCL. Each rank
says that it is another host, else NCCL refuses to share a GPU; a single rank's all-reduce would run no kernel."""
import os
import signal
import subprocess
import sys
import time

RANKS, CALLS, LAUNCHES, FLOATS = 2, 4, 10, 1 << 20
SECONDS, LAST_WORDS_S = 90, 3


def run_rank():
    import torch
    import torch.distributed as dist
    dist.init_process_group("nccl")
    values = torch.ones(FLOATS, device="cuda")
    dist.all_reduce(values)  # makes the communicator
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):  # the watchdog of the group asks for events meanwhile
        for _ in range(CALLS):
            dist.all_reduce(values)
    for _ in range(LAUNCHES):
        graph.replay()
    torch.cuda.synchronize()
    graph.reset()  # NCCL's communicator waits for graphs that use it
    dist.destroy_process_group()


def start(rank):
    environment = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29551", "RANK": str(rank),
                   "WORLD_SIZE": str(RANKS), "LOCAL_RANK": "0", "NCCL_HOSTID": f"rank{rank}", "NCCL_SOCKET_IFNAME": "lo",
                   "NCCL_IB_DISABLE": "1", "NCCL_NET": "Socket", "NCCL_MNNVL_ENABLE": "0"}
    return subprocess.Popen([sys.executable, os.path.abspath(__file__), "rank"], env=environment)


def wait(running):
    """The worst exit status. What hangs says where (PYTHONFAULTHANDLER) and is ended."""
    until = time.monotonic() + SECONDS
    while any(each.poll() is None for each in running) and time.monotonic() < until:
        time.sleep(0.1)
    hanging = [each for each in running if each.poll() is None]
    for each in hanging:
        each.send_signal(signal.SIGABRT)
    time.sleep(LAST_WORDS_S if hanging else 0)
    for each in hanging:
        each.kill()
    return max(abs(each.wait()) for each in running)


if len(sys.argv) > 1:
    run_rank()
else:
    sys.exit(wait([start(rank) for rank in range(RANKS)]))
