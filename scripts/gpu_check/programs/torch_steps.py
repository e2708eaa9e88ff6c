#!/usr/bin/env python3
"""A GPT of GPT-2's smallest size (124 million parameters) on random tokens, which trains in windows of steps on request.

One process for each variant (without a recorder, with it, under a profiler) is started once; the part then asks one after
the other for a window, so that they are interleaved within seconds and no start-up is in the times. Commands on stdin, one
answer of one JSON line each on stdout:

  run MODEL STEPS         MODEL: main, or small: the same layers so narrow that the host's launches are what it waits for
  profile MODEL STEPS KIND    the same under torch.profiler; KIND: cpu+cuda or cuda
  kernels MODEL STEPS KIND    the same, and what the profiler saw: {name: [count, summed ns]} of kernels, memcpys and memsets
  trace MODEL STEPS PATH      the same with stacks of Python; PATH: where torch.profiler's file is to be
  remember MODEL STEPS PATH   a window in which PyTorch records the history of its memory, then an allocation that fails; PATH: where the
                              history is to be, as JSON
  quit                    (or the end of stdin)

Nothing in it knows of the recorder. --device cpu --tiny is for the tests.
"""
import argparse
import contextlib
import json
import os
import sys
import tempfile
import time

import torch
from torch.nn import functional

EXAMPLES = os.environ.get("GPU_CHECK_EXAMPLES", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..",
                                                             "examples"))
sys.path.insert(0, os.path.join(EXAMPLES, "pytorch"))
from train_small import SmallGpt  # noqa: E402

MAIN = {"layers": 12, "width": 768, "heads": 12, "length": 1024, "words": 50304}
SMALL = {"layers": 12, "width": 64, "heads": 4, "length": 32, "words": 256}
TINY = {"layers": 2, "width": 16, "heads": 2, "length": 8, "words": 64}
WINDOW = "gpu_check window"
TOO_MANY_BYTES = 1 << 45


class Training:
    """A model, its optimizer and one batch of tokens on the device."""

    def __init__(self, shape, options):
        torch.manual_seed(0)
        self.device, self.words = options.device, shape["words"]
        self.model = SmallGpt(argparse.Namespace(**shape)).to(self.device)
        self.model.head.weight = self.model.words.weight  # as GPT-2 does: 124 million, not 163
        self.parameters = sum(values.numel() for values in self.model.parameters())
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-4, fused=self.device != "cpu")
        self.forward = torch.compile(self.model, dynamic=False) if options.compile else self.model
        self.tokens = torch.randint(self.words, (options.batch, shape["length"] + 1), device=self.device)

    def step(self):
        with torch.autocast(self.device, dtype=torch.bfloat16):
            logits = self.forward(self.tokens[:, :-1])
            loss = functional.cross_entropy(logits.flatten(0, 1), self.tokens[:, 1:].flatten())
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)


class Timer:
    """Ends of steps as the device sees them: CUDA events, or the clock where there is no device."""

    def __init__(self, device):
        self.cuda, self.ends = device != "cpu", []

    def mark(self):
        if not self.cuda:
            self.ends.append(time.perf_counter())
            return
        self.ends.append(torch.cuda.Event(enable_timing=True))
        self.ends[-1].record()

    def steps_ms(self):
        pairs = zip(self.ends, self.ends[1:])
        return [begin.elapsed_time(end) if self.cuda else (end - begin) * 1000 for begin, end in pairs]


def wait(device):
    if device != "cpu":
        torch.cuda.synchronize()


def window(training, steps):
    """One window: nothing is in flight at its begin and end, and an NVTX range is around it."""
    wait(training.device)
    timer, cpu, began, begin_ns = Timer(training.device), time.process_time(), time.perf_counter(), time.time_ns()
    with torch.cuda.nvtx.range(WINDOW) if training.device != "cpu" else contextlib.nullcontext():
        timer.mark()
        for _ in range(steps):
            training.step()
            timer.mark()
        launched = time.perf_counter()
        wait(training.device)
    ended = time.perf_counter()
    return {"steps_ms": timer.steps_ms(), "wall_ms": (ended - began) * 1000, "launch_ms": (launched - began) * 1000,
            "cpu_ms": (time.process_time() - cpu) * 1000, "begin_ns": begin_ns, "end_ns": time.time_ns()}


def profiler(kind, **more):
    kinds = torch.profiler.ProfilerActivity
    chosen = {"cpu+cuda": [kinds.CPU, kinds.CUDA], "cuda": [kinds.CUDA], "cpu": [kinds.CPU]}[kind]
    return torch.profiler.profile(activities=chosen, **more)


def totals(profile):
    """What Kineto wrote of the device: {name: [count, summed ns]}, all copies under "memcpy", all sets under "memset". Its
    file has microseconds with three decimals."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        profile.export_chrome_trace(path)
        with open(path, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
    for event in events:
        if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
            name = event["name"] if event["cat"] == "kernel" else event["cat"][len("gpu_"):]
            count, spent_ns = found.get(name, (0, 0))
            found[name] = (count + 1, spent_ns + round(event["dur"] * 1000))
    return found


class Worker:
    def __init__(self, options):
        self.options, self.trainings = options, {}

    def training(self, name):
        if name not in self.trainings:
            shape = TINY if self.options.tiny else {"main": MAIN, "small": SMALL}[name]
            self.trainings[name] = Training(shape, self.options)
        return self.trainings[name]

    def run(self, model, steps):
        return window(self.training(model), int(steps))

    def profile(self, model, steps, kind):
        training = self.training(model)
        with profiler(kind):
            return window(training, int(steps))

    def kernels(self, model, steps, kind):
        training = self.training(model)
        with profiler(kind) as profile:
            answer = window(training, int(steps))
        return {**answer, "kernels": totals(profile)}

    def trace(self, model, steps, path):
        training = self.training(model)
        with profiler("cpu" if training.device == "cpu" else "cpu+cuda", with_stack=True) as profile:
            answer = window(training, int(steps))
        profile.export_chrome_trace(path)
        return answer

    def remember(self, model, steps, path):
        training, memory = self.training(model), torch.cuda.memory
        memory._record_memory_history(max_entries=1_000_000, stacks="python")
        answer = window(training, int(steps))
        with contextlib.suppress(torch.OutOfMemoryError):
            torch.empty(TOO_MANY_BYTES, dtype=torch.uint8, device=training.device)
        history = memory._snapshot()["device_traces"][0]
        memory._record_memory_history(enabled=None)
        kept = [(each["action"], each.get("addr"), each["size"], each.get("device_free")) for each in history]
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"history": kept, "allocated": memory.memory_allocated(), "reserved": memory.memory_reserved()}, file)
        return answer

    def about(self):
        training = self.training("main")
        return {"parameters": training.parameters, "torch": torch.__version__, "batch": self.options.batch, "pid": os.getpid()}

    def answer(self, words):
        handlers = {"run": self.run, "profile": self.profile, "kernels": self.kernels, "trace": self.trace, "remember": self.remember,
                    "about": self.about}
        return handlers[words[0]](*words[1:])


def parse():
    parser = argparse.ArgumentParser(description="training steps on request")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--tiny", action="store_true")
    return parser.parse_args()


def main():
    worker = Worker(parse())
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever a library prints must not come between the answers
    for line in sys.stdin:
        words = line.split()
        if words == ["quit"]:
            break
        print(json.dumps(worker.answer(words)), file=answers)


if __name__ == "__main__":
    main()
