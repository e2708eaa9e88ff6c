"""A model of two layers on the stand-in for PyTorch and a simulated GPU: its operators launch kernels, forward here and backward on a
thread of their own. Prints as JSON in which operators and modules each kernel was launched, all operators in the order of their begins with
their stacks, and which of them are a forward operator and its backward one.

  operators_on_gpu.py LIBTORCH LIBRARY STEPS
"""
import ctypes
import json
import sys
import threading
import time
from functools import partial

import torch_training
from torch_training import BACKWARD, FLOAT, FUNCTION, NEXT, TENSOR, Module, Torch, contiguous

WARM_UP = 30  # steps without kernels, in which an observer finds out what it has to know
MATRICES = (TENSOR, (FLOAT, *contiguous(16, 32))), (TENSOR, (FLOAT, *contiguous(32, 8)))
launched, begun, pairs, forward, numbers, here = [], [], [], [], {}, threading.local()
launches = False


class Nowhere:
    def write(self, _):
        pass


torch, gpu = Torch(sys.argv[1], Nowhere()), ctypes.CDLL(sys.argv[2])


def modules():
    """Their classes, with numbers in the order of first calls."""
    called = [frame for frame in torch_training.frames() if frame[0] == "module"][::-1]
    for _, of_class, *_, module in called:
        numbers.setdefault(of_class, {}).setdefault(module, len(numbers[of_class]))
    return [f"{of_class}_{numbers[of_class][module]}" for _, of_class, *_, module in called]


def launch(ns, of_forward):
    if not launches:
        return
    launched.append({"operators": [line["name"] for line in here.open], "modules": of_forward if of_forward is not None else modules(), "ns": ns,
                     "is_backward": of_forward is not None})
    gpu.gpu_launch(ctypes.c_ulonglong(ns))


def enter(name, scope=FUNCTION, **more):
    here.open.append(torch.enter(name, scope, **more))
    here.open[-1]["place"] = len(begun)
    begun.append(here.open[-1])


def leave():
    here.last = here.open.pop()
    torch.leave(here.last)


def operators(*nested, ns, of_forward=None):
    """Operators within each other, and a kernel in the innermost: all from one line of Python, as those that PyTorch calls itself. Returns
    the outermost."""
    calls = [*(partial(enter, **each) for each in nested), partial(launch, ns, of_forward), *(leave for _ in nested)]
    for call in calls: call()
    return here.last


class Linear(Module):
    def __init__(self, ns):
        self.ns = ns

    def forward(self):
        around = dict(name="aten::linear", sequence=NEXT, inputs=MATRICES)
        forward.append((operators(around, dict(name="aten::mm", inputs=MATRICES), ns=self.ns), modules()))
        if not launches:
            time.sleep(0.005)  # a module that is called now can be looked at


class Model(Module):
    def __init__(self):
        self._modules = {"first": Linear(1000), "second": Linear(1500)}

    def forward(self):
        for layer in self._modules.values():
            layer()


def backward():
    here.open, here.last = [], None
    gpu.gpu_use_here()
    for line, of_forward in reversed(forward):
        node = dict(name="MmBackward0", scope=BACKWARD, sequence=line["sequence"], forward_thread=line["thread"])
        engine = operators(dict(name="autograd::engine::evaluate_function: MmBackward0"), node, dict(name="aten::mm", inputs=MATRICES), ns=2000, of_forward=of_forward)
        pairs.append([line["place"], engine["place"] + 1])
    forward.clear()


def step(model):
    model()
    thread = threading.Thread(target=backward)
    thread.start()
    thread.join()
    operators(dict(name="aten::add_"), ns=300)
    operators(ns=40)  # in no operator


def main():
    global launches
    here.open, here.last = [], None
    gpu.gpu_begin()
    observed = torch.wait()
    time.sleep(1)  # for what is looked up of Python
    model = Model()
    for _ in range(WARM_UP):
        step(model)
    launches, measured = True, len(begun)
    for _ in range(int(sys.argv[3])):
        step(model)
    gpu.gpu_end()
    operators_begun = [{"name": line["name"], "tid": line["tid"], "stack": line["stack"]} for line in begun]
    print(json.dumps({"observed": observed, "launched": launched, "begun": operators_begun, "measured": measured, "pairs": pairs}))


if __name__ == "__main__":
    main()
