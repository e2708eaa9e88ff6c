"""Operators in operators of their own name and elsewhere, under torch.profiler on the CPU: its trace, and what its key_averages() says.

  torch_averages.py TRACE [--stacks]      TRACE.averages: {"plain", "shape", "stack": [[name, calls, self us, total us, sizes, frames]]},
                                          frames from the innermost outwards; without ranges and annotations
"""
import json
import sys

import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function


def define():
    """Operators that dispatch to themselves: `once` does nothing else, `more` does, `thrice` goes by two such operators."""
    library = torch.library.Library("nest", "DEF")

    def compute(x):
        return x * 2 + 1

    def to_itself(name):
        def call(x):
            with torch._C._AutoDispatchBelowAutograd():
                return getattr(torch.ops.nest, name)(x)
        return call

    for name in ("once", "more"):
        library.define(f"{name}(Tensor x) -> Tensor")
        library.impl(name, compute, "CPU")
    library.impl("once", to_itself("once"), "AutogradCPU")
    library.impl("more", lambda x: to_itself("more")(x) + 1, "AutogradCPU")
    return library


def rows(averages):
    return [[each.key, each.count, each.self_cpu_time_total, each.cpu_time_total, str(each.input_shapes), list(each.stack or [])]
            for each in averages if not getattr(each, "is_user_annotation", False)]


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    trace, with_stacks = sys.argv[1], "--stacks" in sys.argv
    library = define()
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step():
        x = torch.randn(4, 8)
        with record_function("label"):
            y = torch.ops.nest.once(model(x).detach())
            y = torch.ops.nest.more(y)
            torch.ops.nest.more(torch.ops.nest.once(y[:2]))
        model(x).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

    step()
    more = {"experimental_config": torch._C._profiler._ExperimentalConfig(verbose=True)} if with_stacks else {}
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, with_stack=with_stacks, **more) as profiled:
        for _ in range(3):
            step()
    profiled.export_chrome_trace(trace)
    with open(f"{trace}.averages", "w", encoding="utf-8") as file:
        json.dump({"plain": rows(profiled.key_averages()), "shape": rows(profiled.key_averages(group_by_input_shape=True)),
                   "stack": rows(profiled.key_averages(group_by_stack_n=5))}, file)
    del library


if __name__ == "__main__":
    main()
