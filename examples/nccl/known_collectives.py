#!/usr/bin/env python3
"""Known collectives: each operation so many times with a known size, on all ranks, on half of them, and between pairs.

  CUDA_INJECTION64_PATH=$PWD/libagent.so torchrun --nproc-per-node=8 known_collectives.py > done.jsonl
  torchrun --nproc-per-node=2 known_collectives.py --device cpu           gloo: no GPU, nothing to record

Each rank prints one line of JSON: what it called on which group, how often and with how many bytes, in NCCL's own sense of
the count (the part of one rank for all_gather and reduce_scatter). An even number of ranks is needed.
"""
import argparse
import collections
import json
import os

import torch
import torch.distributed as dist

Call = collections.namedtuple("Call", "group op bytes")


class Job:
    """The groups of this rank, and what it did."""

    def __init__(self, options):
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self.device, self.count, self.done = options.device, options.count, collections.Counter()
        halves = [dist.new_group(list(range(half, self.size, 2))) for half in range(2)]
        self.half, self.half_size = halves[self.rank % 2], self.size // 2

    def values(self, parts=1):
        return torch.ones(self.count * parts, device=self.device)

    def note(self, group, op, values):
        self.done[Call(group, op, values.numel() * values.element_size())] += 1

    def all_reduce(self, name, group):
        values = self.values()
        dist.all_reduce(values, group=group)
        self.note(name, "all_reduce", values)
        return values[0].item()

    def all_gather(self, name, group, size):
        values = self.values()
        dist.all_gather([torch.empty_like(values) for _ in range(size)], values, group=group)
        self.note(name, "all_gather", values)

    def broadcast(self):
        values = self.values() * self.rank
        dist.broadcast(values, src=0)
        self.note("all", "broadcast", values)
        return values[0].item()

    def reduce_scatter(self):
        """Not in every version of gloo."""
        if self.device == "cpu":
            return
        values = self.values()
        dist.reduce_scatter_tensor(values, self.values(self.size))
        self.note("all", "reduce_scatter", values)

    def exchange(self):
        """Rank 2k with rank 2k + 1, both ways in one group call."""
        sent, received = self.values() * self.rank, self.values()
        peer = self.rank ^ 1
        for request in dist.batch_isend_irecv([dist.P2POp(dist.isend, sent, peer), dist.P2POp(dist.irecv, received, peer)]):
            request.wait()
        self.note("all", f"send to {peer}", sent)
        self.note("all", f"receive from {peer}", received)
        return received[0].item()

    def round(self):
        right = self.all_reduce("all", None) == self.size
        right &= self.all_reduce("half", self.half) == self.half_size
        self.all_gather("all", None, self.size)
        self.all_gather("half", self.half, self.half_size)
        right &= self.broadcast() == 0
        self.reduce_scatter()
        return right and self.exchange() == self.rank ^ 1

    def report(self, right):
        calls = [dict(call._asdict(), times=times) for call, times in sorted(self.done.items())]
        return json.dumps({"rank": self.rank, "ranks": self.size, "right": right, "calls": calls})


def main():
    parser = argparse.ArgumentParser(description="known collectives")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--count", type=int, default=1 << 20, help="floats of one rank in each operation")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    if options.device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl" if options.device == "cuda" else "gloo")
    job = Job(options)
    right = all([job.round() for _ in range(options.rounds)])
    os.write(1, (job.report(right) + "\n").encode())
    dist.destroy_process_group()
    return 0 if right else 3


if __name__ == "__main__":
    raise SystemExit(main())
