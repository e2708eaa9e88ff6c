"""Reuses addresses of code, modules and operator objects in a real PyTorch on the CPU. Prints its own log as one line of JSON at the end.

  torch_identity.py SECONDS KIND...    KIND: generated, models, greenlets

Each record_function range is named "KIND NUMBER", and `truth[NUMBER]` is what its record must contain. Greenlets run an operator instead,
because its object lies on their shared stack:
  generated   [function, file, line] of code that is compiled, called and freed
  models      [number of the model, class, name in the model] of a module that is built, called and freed
  greenlets   [before, begun, ending, after] in ns of CLOCK_MONOTONIC around its begin and its end
"""
import gc
import itertools
import json
import sys
import time

import torch
from torch import nn
from torch.profiler import record_function

numbers = itertools.count()
truth = {}


def generated(until):
    while time.monotonic() < until:
        for _ in range(50):
            number = next(numbers)
            blank = number % 5
            text = "def forward(x):\n" + "\n" * blank + f"    with record_function('generated {number}'):\n        return x + 1\n"
            names = {"record_function": record_function}
            exec(compile(text, f"<gen {number}>", "exec"), names)
            names["forward"](torch.ones(2))
            truth[number] = ["forward", f"<gen {number}>", 2 + blank]


class Told(nn.Module):
    def __init__(self, model, name):
        super().__init__()
        self.model, self.name = model, name

    def forward(self, x):
        for child in self.children():
            x = child(x)
        number = next(numbers)
        with record_function(f"models {number}"):
            x = x + 1
        truth[number] = [self.model, type(self).__name__, self.name]
        return x


class Teacher(Told):
    pass


class Student(Told):
    pass


class Layer(Told):
    pass


def build(model):
    root = (Teacher, Student)[model % 2](model, "")
    for i in range(3):
        layer = Layer(model, f"{'abc'[(model + i) % 3]}{i}")
        root.add_module(layer.name, layer)
        layer.add_module("inner", Layer(model, f"{layer.name}.inner"))
    return root


def models(until):
    """Builds models of alternating classes; each gets another layer during its life."""
    for model in itertools.count():
        if time.monotonic() >= until:
            return
        root, ends = build(model), min(until, time.monotonic() + 0.15)
        while time.monotonic() < ends:
            root(torch.ones(2))
        root.add_module("later", Layer(model, "later"))
        for _ in range(20):
            root(torch.ones(2))
        del root
        gc.collect()


def greenlets(until):
    from greenlet import getcurrent, greenlet
    main = getcurrent()

    class Waiting(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            getcurrent().begun = time.monotonic_ns()
            main.switch()
            y = x + 1
            main.switch()
            getcurrent().ending = time.monotonic_ns()
            return y

    def work():
        while True:
            before = time.monotonic_ns()
            Waiting.apply(torch.ones(2))
            truth[next(numbers)] = [before, getcurrent().begun, getcurrent().ending, time.monotonic_ns()]
            main.switch()

    all_of_them = [greenlet(work) for _ in range(20)]
    for turn in itertools.count():
        if time.monotonic() >= until:
            return
        all_of_them[turn * 7 % 20].switch()


def main():
    seconds, kinds = float(sys.argv[1]), sys.argv[2:]
    torch.set_num_threads(1)
    begun = time.monotonic()
    for i, kind in enumerate(kinds):
        {"generated": generated, "models": models, "greenlets": greenlets}[kind](begun + seconds * (i + 1) / len(kinds))
    json.dump(truth, sys.stdout)
    print()


if __name__ == "__main__":
    main()
