"""Reuses addresses of code, modules and operator objects in a real PyTorch on the CPU, and writes its own log.

  torch_identity.py LOG SECONDS TURN_SECONDS PAUSE_SECONDS KIND...    KIND: generated, models, recompiled, forked, greenlets

The kinds take turns until SECONDS are over. Each range is followed by a pause. LOG gets a line of JSON for each range, [KIND, NUMBER, truth]; whole lines are there
after each turn. The record_function range is named "KIND NUMBER", and the truth is what its record must contain. Greenlets run an operator
instead, because its object lies on their shared stack:
  generated   [function, file, line] of code that is compiled, called and freed
  models      [number of the model, class, name in the model] of a module that is built, called and freed
  recompiled  [[function, file, line]...] of the stack, innermost first, in code that Dynamo makes anew
  forked      the same, next to a child that runs ranges "child NUMBER", which must not be recorded
  greenlets   [before, begun, ending, after] in ns of CLOCK_MONOTONIC around its begin and its end
"""
import gc
import itertools
import json
import os
import sys
import time

import torch
from torch import nn
from torch.profiler import record_function

numbers = itertools.count()
models_built = itertools.count()
log = open(sys.argv[1], "w", encoding="utf-8")
pause_s = float(sys.argv[4])


def tell(kind, number, truth):
    log.write(json.dumps([kind, number, truth]) + "\n")
    if pause_s:
        time.sleep(pause_s)


def own_stack():
    """The frames of the caller and its callers, innermost first."""
    frame, found = sys._getframe(1), []
    while frame is not None:
        code = frame.f_code
        found.append([getattr(code, "co_qualname", code.co_name), code.co_filename, frame.f_lineno])
        frame = frame.f_back
    return found


def generated(until):
    while time.monotonic() < until:
        for _ in range(50):
            number = next(numbers)
            blank = number % 5
            text = "def forward(x):\n" + "\n" * blank + f"    with record_function('generated {number}'):\n        return x + 1\n"
            names = {"record_function": record_function}
            exec(compile(text, f"<gen {number}>", "exec"), names)
            names["forward"](torch.ones(2))
            tell("generated", number, ["forward", f"<gen {number}>", 2 + blank])


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
        tell("models", number, [self.model, type(self).__name__, self.name])
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
    """Builds models of alternating classes; each gets another layer and other classes during its life."""
    for model in models_built:
        if time.monotonic() >= until:
            return
        root, ends = build(model), min(until, time.monotonic() + 0.15)
        while time.monotonic() < ends:
            root(torch.ones(2))
        root.add_module("later", Layer(model, "later"))
        for turn in range(20):
            root.__class__ = (Teacher, Student)[turn % 2]  # as parametrizations and FSDP2 do
            root(torch.ones(2))
        del root
        gc.collect()


@torch.compiler.disable
def leaf(x, kind):
    number = next(numbers)
    with record_function(f"{kind} {number}"): stack = own_stack()  # one line: both are called from it
    tell(kind, number, stack)
    return x + 1


def recompiled(until):
    """Each function is compiled for one shape after the other; its calls of leaf() are in code that Dynamo made."""
    for turn in itertools.count():
        if time.monotonic() >= until:
            return
        def body(x):
            y = leaf(x * turn, "recompiled")
            return leaf(y - 1, "recompiled")
        step = torch.compile(body, backend="eager", dynamic=False)
        for size in range(1, 4):
            for _ in range(10):
                step(torch.ones(size))
        torch._dynamo.reset()


def forked(until):
    while time.monotonic() < until:
        child = os.fork()
        if child == 0:
            for _ in range(10):
                with record_function(f"child {next(numbers)}"):
                    torch.ones(2) + 1
            os._exit(0)
        for _ in range(10):
            leaf(torch.ones(2), "forked")
        _, status = os.waitpid(child, 0)
        assert status == 0, status


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
            tell("greenlets", next(numbers), [before, getcurrent().begun, getcurrent().ending, time.monotonic_ns()])
            main.switch()

    all_of_them = [greenlet(work) for _ in range(20)]
    for turn in itertools.count():
        if time.monotonic() >= until:
            return
        all_of_them[turn * 7 % 20].switch()


def main():
    seconds, turn_seconds, kinds = float(sys.argv[2]), float(sys.argv[3]), sys.argv[5:]
    torch.set_num_threads(1)
    ends = time.monotonic() + seconds
    for kind in itertools.cycle(kinds):
        if time.monotonic() >= ends:
            return
        {"generated": generated, "models": models, "recompiled": recompiled, "forked": forked, "greenlets": greenlets}[kind](min(ends, time.monotonic() + turn_seconds))
        log.flush()


if __name__ == "__main__":
    main()
