"""Calls CUDA's driver out of Python functions, beside a stand-in of PyTorch whose path is the argument; for test_native_stacks.py."""
import ctypes
import sys
import time

ctypes.CDLL(sys.argv[1])
cuda = ctypes.CDLL("libcuda.so.1")
context = ctypes.c_void_p()
if cuda.cuInit(0) or cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) or cuda.cuCtxSetCurrent(context):
    sys.exit(2)


def inner():
    return cuda.cuCtxSynchronize()


def outer(depth):
    return outer(depth - 1) if depth else inner()


for _ in range(10):
    time.sleep(0.1)
    if outer(3):
        sys.exit(2)
print("done")
