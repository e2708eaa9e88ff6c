"""Python's garbage collector between launches on a simulated GPU, beside the stand-in for PyTorch. Prints as JSON when its own callbacks
were called, one before tracetool's in gc.callbacks and one behind it.

  collections_on_gpu.py LIBTORCH LIBRARY ROUNDS      a round has one collection here, one behind a synchronization, one in another thread,
                                              and a pause without one
"""
import ctypes
import gc
import json
import os
import sys
import threading
import time

from python_collections import callback, told, wait_for_callback
from torch_training import USER, Torch

KERNEL_NS = 100_000
OBJECTS = 300_000  # a collection of all takes milliseconds


def main():
    gc.callbacks.append(callback("before"))
    torch, gpu = Torch(sys.argv[1], open(os.devnull, "w", encoding="utf-8")), ctypes.CDLL(sys.argv[2])
    gpu.gpu_begin()
    torch.wait()
    torch.call("range", USER)
    gc.disable()
    wait_for_callback()
    gc.callbacks.append(callback("behind"))
    cuda = ctypes.CDLL("libcuda.so.1")
    launch = lambda: gpu.gpu_launch(ctypes.c_ulonglong(KERNEL_NS))
    kept = [[] for _ in range(OBJECTS)]
    launch()
    for _ in range(int(sys.argv[3])):
        gc.collect()
        launch()
        cuda.cuCtxSynchronize()
        gc.collect()
        launch()
        thread = threading.Thread(target=gc.collect)
        thread.start()
        thread.join()
        launch()
        time.sleep(0.005)
        launch()
    del kept
    gpu.gpu_end()
    print(json.dumps(told))


if __name__ == "__main__":
    main()
