"""Modules of PyTorch that are trained for a few steps on the CPU, and what they are called: a line of JSON for each outermost one.

  torch_modules.py HOW      HOW: plain, ddp, compile, deep, two, shared, broken
"""
import json
import os
import sys
import time

import torch
from torch import nn
from torch.nn import functional

from torch_profiled import Model, wrapped

SECONDS, SECONDS_OF_TWO = 2.5, 12  # a second between two looks, each of which names the module that is called then


class Deep(nn.Module):
    """Deeper than what is recorded of a stack."""

    def __init__(self, depth):
        super().__init__()
        self.inner = Deep(depth - 1) if depth else nn.Linear(8, 8)

    def forward(self, x):
        return self.inner(x)


class Shared(nn.Module):
    """One module by two names, one that is not there, and one whose name is no ASCII."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.second = self.first
        self.nothing = None
        self.register_module("none", None)
        self.add_module("größe", nn.Sequential(nn.Linear(8, 8), self.first))
        self.me = [self]

    def forward(self, x):
        return self.second(self.first(self.get_submodule("größe")(x)))


class Broken(nn.Module):
    """Its children cannot be asked for."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.ready = True

    def __getattribute__(self, name):
        if name == "_modules" and "ready" in object.__getattribute__(self, "__dict__"):
            raise RuntimeError("not for you")
        return super().__getattribute__(name)

    def forward(self, x):
        return object.__getattribute__(self, "_modules")["linear"](x)


def language_model(how):
    model = wrapped(Model(), {"ddp": "--ddp", "compile": "--compile"}.get(how, ""))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

    def step():
        batch = torch.randint(0, 64, (2, 9))
        functional.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten()).backward()
        optimizer.step()
        optimizer.zero_grad()
    return [model], step


def others(how):
    models = {"deep": lambda: [Deep(40)], "two": lambda: [nn.Sequential(nn.Linear(8, 8), nn.GELU()), nn.Sequential(nn.Linear(8, 8))],
              "shared": lambda: [Shared()], "broken": lambda: [Broken()]}[how]()

    def step():
        for model in models:
            model(torch.ones(512, 8))
    return models, step


def main():
    torch.set_num_threads(1)
    how = sys.argv[1]
    models, step = language_model(how) if how in ("plain", "ddp", "compile") else others(how)
    end = time.monotonic() + (SECONDS_OF_TWO if how == "two" else SECONDS)
    while time.monotonic() < end:
        step()
    for model in models:
        names = {id(model): ""} if how == "broken" else {id(module): name for name, module in model.named_modules()}
        print(json.dumps({"root": id(model), "names": names}), flush=True)
    if how == "compile":
        os._exit(0)  # its workers' threads may take long to end


if __name__ == "__main__":
    main()
