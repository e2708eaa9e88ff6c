"""Kineto profiles of a job two of whose hosts are late in turn, synthesized: 8 ranks that compute, then reduce. What is lost, and to whom, is known."""
import json
import os
import random

RANKS, LATE = 8, (0, 6)
COMPUTE_NS, LATE_NS = 6_000_000, 5_500_000
BASE_NS = 1_700_000_000_000_000_000


class Rank:
    def __init__(self, rank):
        self.rank, self.events, self.correlation = rank, [], 0

    def slice(self, category, name, start, end, process, thread, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": process, "tid": thread, "ts": start / 1000, "dur": (end - start) / 1000, "args": args})

    def work(self, launched, start, end, name, stream, **args):
        self.correlation += 1
        self.slice("cuda_runtime", "cudaLaunchKernel", launched, launched + 4000, 100, 1, correlation=self.correlation)
        self.slice("kernel", name, start, end, 0, stream, device=0, stream=stream, correlation=self.correlation, grid=[64, 1, 1], block=[128, 1, 1], **args)

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"schemaVersion": 1, "distributedInfo": {"rank": self.rank, "world_size": RANKS}, "baseTimeNanoseconds": BASE_NS,
                       "traceEvents": self.events}, file)


def job(folder, transfer_ns=1_200_000, steps=40, seed=1, late=LATE):
    """Writes rank0.json, ... Returns what is true: {"length": ns, "delayed": {rank: ns}, "waited": {rank: ns}, "transfer": ns}."""
    draw, ranks = random.Random(seed), [Rank(each) for each in range(RANKS)]
    true = {"delayed": dict.fromkeys(late, 0), "waited": dict.fromkeys(range(RANKS), 0), "transfer": 0}
    begin = 1_000_000
    for step in range(steps):
        starts = []
        for rank in ranks:
            is_late = late and rank.rank == late[step % len(late)]
            launched = begin + 20_000 + (round(LATE_NS * draw.uniform(0.9, 1.1)) if is_late else 0)
            at = launched + 6000
            rank.slice("cpu_op", "aten::linear", launched - 2000, launched + 30_000, 100, 1)
            for kernel in range(4):
                end = at + round(COMPUTE_NS / 4 * draw.uniform(0.99, 1.01))
                rank.work(launched + kernel * 5000, at, end, f"gemm_{kernel}", 7)
                at = end
            starts.append(at)
        last, done = max(starts), max(starts) + transfer_ns
        for rank, start in zip(ranks, starts):
            rank.work(start - 1000, start, done, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 9,
                      **{"Collective name": "allreduce", "In msg nelems": 1 << 20, "Out msg nelems": 1 << 20, "Group size": RANKS, "dtype": "BFloat16",
                         "Process Group Name": "0", "Process Group Description": "default_pg", "Process Group Ranks": str(list(range(RANKS))), "Seq": step})
            rank.slice("user_annotation", f"ProfilerStep#{step}", begin, done, 100, 1)
            true["waited"][rank.rank] += last - start
        if late:
            who = late[step % len(late)]
            true["delayed"][who] += starts[who] - max(start for rank, start in enumerate(starts) if rank not in late)
        true["transfer"] += transfer_ns
        begin = done
    true["length"] = begin - 1_000_000
    for rank in ranks:
        rank.write(os.path.join(folder, f"rank{rank.rank}.json"))
    return true
