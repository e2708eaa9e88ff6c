"""Kineto profiles of training steps, synthesized: each kernel and each gap is known."""
import json
import math
import os
import random

GEMM, ADD, MUL, SOFTMAX = "ampere_sgemm_128x64_nn", "vectorized_elementwise_kernel_add", "vectorized_elementwise_kernel_mul", "softmax_warp_forward"
# (name, ns): a step of 10 ms, of which matrix products are 20 %.
STEP = [(GEMM, 1_000_000), (ADD, 1_500_000), (MUL, 1_500_000), (GEMM, 1_000_000), (SOFTMAX, 3_000_000)]
IDLE_NS = 2_000_000
MANY = [(name, ns // 20) for _ in range(20) for name, ns in STEP]  # the same step in 100 kernels


def drift(seed, steps, noise=0.02):
    """A factor for each step: an AR(1) series of 0.9."""
    draw, values = random.Random(seed), []
    value = draw.gauss(0, 1)
    for _ in range(steps):
        value = 0.9 * value + math.sqrt(1 - 0.81) * draw.gauss(0, 1)
        values.append(1 + noise * value)
    return values


def profile(path, kernels=None, steps=40, rank=0, noise=0.02, seed=1, slower=None, idle_ns=IDLE_NS, long_steps=(), first_step=0, named=True, ahead_ns=0, factors=None, world=2):
    """Writes one. `slower`: {name: factor}; `long_steps`: steps before which the GPU idles 30 ms more. `ahead_ns`: the host runs ahead of
    its GPU by so much. `factors`: for each step one of all its durations. Times of kernels are integers of ns."""
    draw, slower = random.Random(seed), slower or {}
    events, at, correlation = [], 1_700_000_000_000_000_000, 0

    def add(category, name, start, duration, process, thread, **args):
        events.append({"ph": "X", "cat": category, "name": name, "pid": process, "tid": thread, "ts": start / 1000, "dur": duration / 1000, "args": args})

    base = at
    for step in range(first_step, first_step + steps):
        begin, factor = at, factors[step - first_step] if factors else 1
        at += round(factor * idle_ns * (1 + noise * draw.gauss(0, 1))) + (30_000_000 if step in long_steps else 0)
        for name, ns in kernels or STEP:
            correlation += 1
            length = max(1000, round(factor * ns * slower.get(name, 1) * (1 + noise * draw.gauss(0, 1))))
            add("cuda_runtime", "cudaLaunchKernel", at - base - 9000 - ahead_ns, 4000, 100 + rank, 1, correlation=correlation)
            add("kernel", name, at - base, length, 0, 7, device=rank, stream=7, correlation=correlation, grid=[64, 1, 1], block=[128, 1, 1])
            at += length
        if named:
            add("user_annotation", f"ProfilerStep#{step}", begin - base - ahead_ns, at - begin, 100 + rank, 1)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "distributedInfo": {"rank": rank, "world_size": world}, "baseTimeNanoseconds": base, "traceEvents": events}, file)
    return path
