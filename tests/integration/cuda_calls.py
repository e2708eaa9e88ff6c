"""Calls CUDA's driver out of Python functions, or NCCL, beside a stand-in of PyTorch; for test_native_stacks.py.

  cuda_calls.py LIBTORCH [LIBNCCL itself|loader [CALLS]]    the library is asked itself, or the loader, which may find the agent first
"""
import ctypes
import sys
import time

ctypes.CDLL(sys.argv[1])
cuda = ctypes.CDLL("libcuda.so.1")
context = ctypes.c_void_p()
if cuda.cuInit(0) or cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) or cuda.cuCtxSetCurrent(context):
    sys.exit(2)
how = sys.argv[2:]
nccl = ctypes.CDLL(how[0], mode=ctypes.RTLD_GLOBAL) if how else None
if how[1:2] == ["loader"]:
    nccl = ctypes.CDLL(None)
answer = nccl.ncclAllReduce(None, None, ctypes.c_size_t(0), 7, 0, None, None) if nccl else 0


def inner():
    if nccl is not None:
        return nccl.ncclAllReduce(None, None, ctypes.c_size_t(1000), 7, 0, None, None) - answer
    return cuda.cuCtxSynchronize()


def outer(depth):
    return outer(depth - 1) if depth else inner()


for _ in range(10):
    time.sleep(0.1)
    for _ in range(int(how[2]) if how[2:] else 1):
        if outer(3):
            sys.exit(2)
print("done")
