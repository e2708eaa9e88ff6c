#!/usr/bin/env python3
"""What a training step costs with each level of TRACETOOL_TORCH, beside the modes of torch.profiler, in one run: a transformer block on the
CPU, one thread, each mode in a process of its own, in turn, several rounds. The cost is the median step less that without anything.

  torch_cost.py --agent PATH [--rounds N] [--steps N]      with a Python that has torch

A ratio is of the costs: ops beside torch.profiler of the CPU alone, shapes beside record_shapes, stacks beside with_stack.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LEVELS = ("off", "steps", "ops", "shapes", "stacks")
PROFILES = {"profiler": {}, "profiler+shapes": {"record_shapes": True}, "profiler+stack": {"with_stack": True}}
BESIDE = {"ops": ("profiler", 0.7), "shapes": ("profiler+shapes", 0.6), "stacks": ("profiler+stack", 0.4)}
WARM_UP = 20


def measure(mode, steps):
    """In its own process: seconds of each step."""
    sys.path.insert(0, os.path.join(HERE, "..", "integration"))
    import torch
    from torch.nn import functional
    from torch_profiled import Model
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = Model(width=64)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    batch = torch.randint(0, 64, (2, 33))

    def step():
        loss = functional.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    def timed(count):
        found = []
        for _ in range(count):
            begin = time.perf_counter()
            step()
            found.append(time.perf_counter() - begin)
        return found

    time.sleep(1.5)  # for an observer to begin
    timed(WARM_UP)
    if mode in PROFILES:
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], **PROFILES[mode]):
            timed(5)
            found = timed(steps)
    else:
        found = timed(steps)
    print(json.dumps({"steps": found, "torch": torch.__version__}))


def run(mode, options):
    with tempfile.TemporaryDirectory() as folder:
        environment = dict(os.environ, OMP_NUM_THREADS="1")
        if mode not in PROFILES and mode != "nothing":
            environment.update(LD_PRELOAD=os.path.abspath(options.agent), TRACETOOL_TORCH=mode, TRACETOOL_DIR=folder, TRACETOOL_GUARD_RATE="0",
                               TRACETOOL_GUARD_CPU="0")
        done = subprocess.run([sys.executable, os.path.abspath(__file__), "--measure", mode, "--steps", str(options.steps)], env=environment,
                              capture_output=True, text=True, check=True)
        return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--agent")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--measure")
    options = parser.parse_args()
    if options.measure:
        return measure(options.measure, options.steps)
    if not options.agent:
        parser.error("--agent is missing")
    medians, version = {}, ""
    for _ in range(options.rounds):
        for mode in ("nothing", *LEVELS, *PROFILES):
            said = run(mode, options)
            version = said["torch"]
            medians.setdefault(mode, []).append(statistics.median(said["steps"]))
    base = statistics.median(medians["nothing"])
    spread = max(medians["nothing"]) - min(medians["nothing"])
    print(f"torch {version}: step {base * 1e3:.3f} ms without anything; its medians differ by {spread * 1e3:.3f} ms over {options.rounds} rounds")
    costs = {mode: statistics.median(of) - base for mode, of in medians.items()}
    for mode, cost in costs.items():
        if mode == "nothing":
            continue
        beside, most = BESIDE.get(mode, ("", 0))
        ratio = f"   {cost / costs[beside]:.2f} of {beside} (at most {most})" if beside else ""
        print(f"  {mode:16} {cost * 1e3:+.3f} ms  {100 * cost / base:6.1f} %{ratio}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
