"""A training without a GPU that allocates with the stand-in for libc10_cuda (programs/c10_cuda_standin.cpp), in operators of the stand-in
for libtorch_cpu. The allocator writes the truth; this program writes, for each allocation, the line of Python that requested it.

  torch_memory.py LIBTORCH LIBC10_CUDA FOLDER STEPS
"""
import ctypes
import json
import os
import sys
import threading
import time

from torch_training import FUNCTION, USER, Layer, Torch, frames

KIB, MIB = 1 << 10, 1 << 20
THREADS = 4


class Allocator:
    def __init__(self, path):
        self.library, self.requested, self.lock = ctypes.CDLL(path), [], threading.Lock()
        self.library.standin_allocate.restype = ctypes.c_uint64
        self.library.standin_allocate.argtypes = (ctypes.c_int, ctypes.c_size_t)
        self.library.standin_release.argtypes = (ctypes.c_int, ctypes.c_uint64)

    def allocate(self, device, size):
        tid = threading.get_native_id()
        address = self.library.standin_allocate(device, size); stack = frames()  # noqa: E702 (the line of the call)
        with self.lock:
            self.requested.append({"tid": tid, "device": device, "address": address, "stack": stack})
        return address

    def release(self, device, address):
        self.library.standin_release(device, address)


def make_weights(torch, allocator, kept):
    torch.call("aten::empty", FUNCTION, inside=[lambda: kept.append(allocator.allocate(0, 6 * MIB))])


def step(torch, allocator, number, leaked):
    activations = []

    def forward():
        torch.call("aten::mm", FUNCTION, inside=[lambda: activations.append(allocator.allocate(0, (3 + number % 2) * MIB + 100))])

    torch.call("DistributedDataParallel.forward", USER, inside=[Layer(forward), Layer(forward)])
    torch.call("aten::clone", FUNCTION, inside=[lambda: leaked.append(allocator.allocate(0, 64 * KIB))])
    for address in activations:
        allocator.release(0, address)


def in_threads(allocator, times):
    def work(index):
        allocator.library.standin_set_stream(ctypes.c_int64(index))
        for at in range(times):
            address = allocator.allocate(1, (1 + at % 7) * KIB)
            allocator.release(1, address)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def fork(allocator):
    """A child allocates and ends; its allocations are not of this process."""
    child = os.fork()
    if child == 0:
        for _ in range(10):
            allocator.library.standin_allocate(0, 4 * KIB)
        os._exit(0)
    os.waitpid(child, 0)


def use_driver(path):
    """Makes a context current, so that the driver knows the free memory."""
    driver, context = ctypes.CDLL(path), ctypes.c_void_p()
    assert driver.cuInit(0) == 0 and driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0 and driver.cuCtxSetCurrent(context) == 0
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    assert driver.cuMemGetInfo_v2(ctypes.byref(free), ctypes.byref(total)) == 0
    return free.value


def main():
    path, memory, folder, steps, *driver = sys.argv[1:]
    free = use_driver(driver[0]) if driver else None
    with open(f"{folder}/operators", "w", encoding="utf-8") as out:
        torch, allocator = Torch(path, out), Allocator(memory)
        observed = torch.wait()
        time.sleep(1)  # for what an observer finds out of Python, and of the allocator
        kept, leaked = [], []
        make_weights(torch, allocator, kept)
        for number in range(int(steps)):
            step(torch, allocator, number, leaked)
        in_threads(allocator, 50 * int(steps))
        fork(allocator)
        assert allocator.allocate(0, 1 << 30) == 0  # out of memory
    with open(f"{folder}/requested", "w", encoding="utf-8") as out:
        out.writelines(json.dumps(line) + "\n" for line in allocator.requested)
    reports = allocator.library.standin_write_truth(f"{folder}/truth".encode())
    passed_on = allocator.library.standin_reports() if hasattr(allocator.library, "standin_reports") else None  # not linked if nothing is reported
    print(json.dumps({"observed": observed, "reports": reports, "passed_on": passed_on, "free": free}))


if __name__ == "__main__":
    main()
