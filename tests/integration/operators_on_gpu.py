"""A model of two layers on the stand-in for PyTorch and a simulated GPU: its operators launch kernels, forward here and backward on a
thread of their own. Prints as JSON in which operators and modules each kernel was launched.

  operators_on_gpu.py LIBTORCH LIBRARY STEPS
"""
import ctypes
import json
import sys
import threading
import time

import torch_training
from torch_training import BACKWARD, FLOAT, FUNCTION, NEXT, TENSOR, Module, Torch, contiguous

WARM_UP = 30  # steps without kernels, in which an observer finds out what it has to know
MATRICES = (TENSOR, (FLOAT, *contiguous(16, 32))), (TENSOR, (FLOAT, *contiguous(32, 8)))
launched, forward, here = [], [], threading.local()
launches = False


class Nowhere:
    def write(self, _):
        pass


torch, gpu = Torch(sys.argv[1], Nowhere()), ctypes.CDLL(sys.argv[2])


def modules():
    return [frame[1] for frame in torch_training.frames() if frame[0] == "module"][::-1]


def launch(ns, of_forward=None):
    if not launches:
        return
    launched.append({"operators": list(here.operators), "modules": of_forward if of_forward is not None else modules(), "ns": ns,
                     "is_backward": of_forward is not None})
    gpu.gpu_launch(ctypes.c_ulonglong(ns))


def operator(name, scope=FUNCTION, inside=lambda: None, **more):
    here.operators.append(name)
    line = torch.enter(name, scope, **more)
    inside()
    torch.leave(line)
    here.operators.pop()
    return line


class Linear(Module):
    def __init__(self, ns):
        self.ns = ns

    def forward(self):
        multiply = lambda: operator("aten::mm", inputs=MATRICES, inside=lambda: launch(self.ns))
        forward.append((operator("aten::linear", sequence=NEXT, inputs=MATRICES, inside=multiply), modules()))


class Model(Module):
    def __init__(self):
        self._modules = {"first": Linear(1000), "second": Linear(1500)}

    def forward(self):
        for layer in self._modules.values():
            layer()


def backward():
    here.operators = []
    gpu.gpu_use_here()
    for line, of_forward in reversed(forward):
        multiply = lambda: operator("aten::mm", inputs=MATRICES, inside=lambda: launch(2000, of_forward))
        operator("MmBackward0", BACKWARD, sequence=line["sequence"], forward_thread=line["thread"], inside=multiply)
    forward.clear()


def step(model):
    model()
    thread = threading.Thread(target=backward)
    thread.start()
    thread.join()
    operator("aten::add_", inside=lambda: launch(300))
    launch(40)  # in no operator


def main():
    global launches
    here.operators = []
    gpu.gpu_begin()
    observed = torch.wait()
    time.sleep(1)  # for what is looked up of Python
    model = Model()
    for _ in range(WARM_UP):
        step(model)
    launches = True
    for _ in range(int(sys.argv[3])):
        step(model)
    gpu.gpu_end()
    print(json.dumps({"observed": observed, "launched": launched}))


if __name__ == "__main__":
    main()
