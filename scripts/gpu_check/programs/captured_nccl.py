#!/usr/bin/env python3
"""Two ranks on one GPU that capture all-reduces in a CUDA graph and launch it some times; needs torch with NCCL. Each rank
says that it is another host, else NCCL refuses to share a GPU; a single rank's all-reduce would run no kernel."""
import os
import subprocess
import sys

RANKS, CALLS, LAUNCHES, FLOATS = 2, 4, 10, 1 << 20


def run_rank():
    import torch
    import torch.distributed as dist
    dist.init_process_group("nccl")
    values = torch.ones(FLOATS, device="cuda")
    dist.all_reduce(values)  # makes the communicator
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(CALLS):
            dist.all_reduce(values)
    for _ in range(LAUNCHES):
        graph.replay()
    torch.cuda.synchronize()
    dist.destroy_process_group()


def start(rank):
    environment = {**os.environ, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29551", "RANK": str(rank),
                   "WORLD_SIZE": str(RANKS), "LOCAL_RANK": "0", "NCCL_HOSTID": f"rank{rank}", "NCCL_SOCKET_IFNAME": "lo"}
    return subprocess.Popen([sys.executable, os.path.abspath(__file__), "rank"], env=environment)


if len(sys.argv) > 1:
    run_rank()
else:
    running = [start(rank) for rank in range(RANKS)]
    sys.exit(max(abs(each.wait()) for each in running))
