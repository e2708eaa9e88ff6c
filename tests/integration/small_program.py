"""A program that calls CUDA, through ctypes: small_program.py LIBCUDA COUNT [fork] makes COUNT cudaMalloc calls. With
`fork`, children call and end in different ways while it goes on; they must have no part in its recording."""
import ctypes
import os
import signal
import sys


def allocate(cuda, count):
    memory = ctypes.c_void_p()
    for _ in range(count):
        if cuda.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(256)) != 0:
            sys.exit("cudaMalloc failed")


def fork_one(cuda, calls, leave):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        allocate(cuda, calls)
        leave()
    return os.waitpid(child, 0)[1]


def main():
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it; other programs die of it
    cuda = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
    count = int(sys.argv[2])
    if cuda.cudaSetDevice(0) != 0:
        sys.exit("cudaSetDevice failed")
    allocate(cuda, count)
    if "fork" in sys.argv:
        print("idle child", fork_one(cuda, 0, lambda: os._exit(0)))
        print("child that calls", fork_one(cuda, 1000, lambda: os._exit(0)))
        print("child that ends as a program does", fork_one(cuda, 10, lambda: sys.exit(3)))
        print("child that is killed", fork_one(cuda, 10, lambda: os.kill(os.getpid(), signal.SIGKILL)))
        allocate(cuda, count)
    print("done", flush=True)


main()
