#!/usr/bin/env python3
"""What a training step costs with each level of TRACETOOL_TORCH, beside the modes of torch.profiler, in one run: a transformer block on the
CPU, one thread. Each mode is a process of its own; all live at once, and one at a time runs a few steps, in turn, so that what else the
machine does meets all of them. A cost is the lower quartile over the turns of a mode's steps less that of steps without anything.

  torch_cost.py --agent PATH [--turns N] [--steps N] [--processes N] [--only MODE,...]      with a Python that has torch

--processes N: all that N times, each time in new processes; a cost is the mean over them, and behind it stand the least and the greatest.
One process differs from the next by as much as 0.5 ms a step, because its addresses do, and with them what its caches keep.
--only MODE,...: these modes, and no others beside `nothing`.

Beside: ops and torch.profiler of the CPU alone, shapes and record_shapes, stacks and with_stack, all and both of these. `empty` is an observer of PyTorch's that does nothing, `empty+inputs` one that wants inputs: what PyTorch itself takes to call one.
"At the end" is what torch.profiler does when it is stopped, for each of its steps, which comes besides.
"""
import argparse
import contextlib
import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LEVELS = ("off", "steps", "ops", "shapes", "stacks", "all")
PROFILES = {"profiler": {}, "profiler+shapes": {"record_shapes": True}, "profiler+stack": {"with_stack": True},
            "profiler+both": {"record_shapes": True, "with_stack": True}}
EMPTY = {"empty": False, "empty+inputs": True}  # whether it wants inputs
BESIDE = {"ops": [("profiler", 0.7)], "shapes": [("profiler+shapes", 0.6)], "stacks": [("profiler+stack", 0.4)], "all": [("profiler+both", None)]}
WARM_UP, CACHES = 20, 12


class Callback(ctypes.Structure):
    """at::RecordFunctionCallback, as agent/torch/record_function.h has it."""
    _fields_ = [("start", ctypes.c_void_p), ("end", ctypes.c_void_p), ("probability", ctypes.c_double), ("scopes", ctypes.c_bool * 10),
                ("inputs", ctypes.c_bool), ("outputs", ctypes.c_bool), ("ids", ctypes.c_bool)]


def observe_nothing(with_inputs):
    """Operators, backward operators and ranges, as level `ops` has them."""
    add = ctypes.CDLL("libtorch_cpu.so")._ZN2at17addGlobalCallbackENS_22RecordFunctionCallbackE
    add.restype, add.argtypes = ctypes.c_uint64, [Callback]
    scopes = (ctypes.c_bool * 10)(True, True, True, False, False, False, False, True)
    add(Callback(None, None, 1.0, scopes, with_inputs, False, False))


class Training:
    """A model, and its steps."""

    def __init__(self):
        sys.path.insert(0, os.path.join(HERE, "..", "integration"))
        import torch
        from torch.nn import functional
        from torch_profiled import Model
        torch.manual_seed(0)
        torch.set_num_threads(1)
        self.torch, self.functional, self.model = torch, functional, Model(width=64)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.batch = torch.randint(0, 64, (2, 33))

    def step(self):
        loss = self.functional.cross_entropy(self.model(self.batch[:, :-1]).flatten(0, 1), self.batch[:, 1:].flatten())
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()

    def timed(self, count):
        begin = time.thread_time()
        for _ in range(count):
            self.step()
        return (time.thread_time() - begin) / count


def serve(mode):
    """In its own process: for each line on its input as many steps as it says, after a few for the caches; prints seconds a step, of the
    processor on the thread that trains, and those of the end. torch.profiler begins anew each time, as its schedule does."""
    training = Training()
    if mode in EMPTY:
        observe_nothing(EMPTY[mode])
    time.sleep(1.5)  # for an observer to begin
    training.timed(WARM_UP)
    print(training.torch.__version__, flush=True)
    for line in sys.stdin:
        activities = [training.torch.profiler.ProfilerActivity.CPU]
        profile = training.torch.profiler.profile(activities=activities, **PROFILES[mode]) if mode in PROFILES else contextlib.nullcontext()
        with profile:
            training.timed(CACHES)
            taken = training.timed(int(line))
            end = time.thread_time()
        print(taken, (time.thread_time() - end) / (CACHES + int(line)), flush=True)


class Mode:
    """Such a process."""

    def __init__(self, mode, agent, folder):
        environment = dict(os.environ, OMP_NUM_THREADS="1")
        if mode in LEVELS:
            environment.update(LD_PRELOAD=os.path.abspath(agent), TRACETOOL_TORCH=mode, TRACETOOL_DIR=f"{folder}/{mode}", TRACETOOL_GUARD_RATE="0",
                               TRACETOOL_GUARD_CPU="0")
        self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__), "--serve", mode], env=environment, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.torch = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"a process ended: {self.process.communicate()[1]}")
        return line.strip()

    def steps(self, count):
        self.process.stdin.write(f"{count}\n")
        self.process.stdin.flush()
        return [float(number) for number in self.answer().split()]

    def end(self):
        self.process.kill()
        self.process.wait()


def measured(names, options):
    """(PyTorch's version, the lower quartile of each mode's steps, and of their ends), in seconds a step, of one process for each."""
    with tempfile.TemporaryDirectory() as folder:
        modes = {name: Mode(name, options.agent, folder) for name in names}
        taken = {name: [] for name in names}
        for _ in range(options.turns):
            for name, mode in modes.items():
                taken[name].append(mode.steps(options.steps))
        for mode in modes.values():
            mode.end()
    return modes["nothing"].torch, {name: [sorted(each[part] for each in of)[options.turns // 4] for part in (0, 1)] for name, of in taken.items()}


def main():
    every = (*LEVELS, *EMPTY, *PROFILES)
    parser = argparse.ArgumentParser()
    parser.add_argument("--agent")
    parser.add_argument("--turns", type=int, default=16)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--only", type=lambda text: text.split(","), default=every)
    parser.add_argument("--serve")
    options = parser.parse_args()
    if options.serve:
        return serve(options.serve)
    if not options.agent:
        parser.error("--agent is missing")
    if not set(options.only) <= set(every):
        parser.error(f"modes are {', '.join(every)}")
    names = [name for name in every if name in options.only]
    costs, ends, bases = {name: [] for name in names}, {name: [] for name in names}, []
    for _ in range(options.processes):
        version, quartile = measured(("nothing", *names), options)
        bases.append(quartile["nothing"][0])
        for name in names:
            costs[name].append(quartile[name][0] - bases[-1])
            ends[name].append(quartile[name][1])
    base, mean = statistics.mean(bases), {name: statistics.mean(of) for name, of in costs.items()}
    print(f"torch {version}: step {base * 1e3:.3f} ms without anything; {options.turns} turns of {options.steps} steps, {options.processes} processes each")
    for name, cost in mean.items():
        spread = f"  {min(costs[name]) * 1e3:+.3f} to {max(costs[name]) * 1e3:+.3f}" if options.processes > 1 else ""
        ratio = "".join(f"   {cost / mean[beside]:.2f} of {beside}" + (f" (at most {most})" if most else "")
                        for beside, most in BESIDE.get(name, ()) if beside in mean)
        end = f"   at the end {statistics.mean(ends[name]) * 1e3:+.3f} ms" if name in PROFILES else ""
        print(f"  {name:16} {cost * 1e3:+.3f} ms{spread}  {100 * cost / base:6.1f} %{ratio}{end}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
