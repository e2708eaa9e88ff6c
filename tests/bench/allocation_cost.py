#!/usr/bin/env python3
"""The time that TRACETOOL_TORCH=memory adds to an allocation or release of PyTorch's allocator, on the stand-in for libc10_cuda, whose own
part is the same with and without it. Each mode is a process of its own. They run in turn, so that other programs disturb all of them. A cost is the
lower quartile over the turns, less that of `off`.

  allocation_cost.py --agent PATH --torch PATH --c10_cuda PATH [--turns N] [--times N]

Half of the records are allocations, with a Python stack of DEPTH frames; half are releases, without one.
"""
import argparse
import ctypes
import io
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
MODES = ("off", "memory")
DEPTHS = (5, 20, 50)


def work(torch_path, c10_cuda, times):
    """Answers each depth on stdin with ns per allocation or release."""
    sys.path.insert(0, os.path.join(HERE, "..", "integration"))
    from torch_training import FUNCTION, Torch
    torch = Torch(torch_path, io.StringIO())
    torch.wait()
    allocator = ctypes.CDLL(c10_cuda)
    allocator.standin_repeat.restype, allocator.standin_repeat.argtypes = ctypes.c_int64, (ctypes.c_int, ctypes.c_size_t)

    def called(depth):
        return allocator.standin_repeat(0, times) if depth == 0 else called(depth - 1)

    time.sleep(1)  # the agent looks for the allocator, and compares Python's frames
    open_operator = torch.enter("aten::empty", FUNCTION)
    for line in sys.stdin:
        print(called(int(line) - 2), flush=True)  # this function and `<module>` are frames, too
    torch.leave(open_operator)


class Worker:
    def __init__(self, options, mode, folder):
        environment = {**os.environ, "LD_PRELOAD": options.agent, "TRACETOOL_TORCH": mode, "TRACETOOL_DIR": folder, "TRACETOOL_BUFFER": "64M",
                       "TRACETOOL_GUARD_RATE": "0", "TRACETOOL_GUARD_CPU": "0", "TORCH_LAYOUT": "2.9"}
        self.process = subprocess.Popen([sys.executable, __file__, "--work", options.torch, options.c10_cuda, str(options.times)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)

    def ask(self, depth):
        self.process.stdin.write(f"{depth}\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        return self.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("agent", "torch", "c10_cuda"):
        parser.add_argument("--" + name, required=True, type=os.path.abspath)
    parser.add_argument("--turns", type=int, default=40)
    parser.add_argument("--times", type=int, default=20_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        workers = {mode: Worker(options, mode, os.path.join(folder, mode)) for mode in MODES}
        found = {(mode, depth): [] for mode in MODES for depth in DEPTHS}
        for _ in range(options.turns):
            for depth in DEPTHS:
                for mode, worker in workers.items():
                    found[mode, depth].append(worker.ask(depth))
        ends = [worker.end() for worker in workers.values()]
        recorded = sum(name.endswith(".ring") for _, _, names in os.walk(os.path.join(folder, "memory")) for name in names)
    if any(ends) or recorded != 1:
        sys.exit(f"the programs ended with {ends}, and there are {recorded} recordings")
    quartile = {key: statistics.quantiles(values, n=4)[0] for key, values in found.items()}
    print("frames  off, ns  added, ns")
    for depth in DEPTHS:
        off = quartile["off", depth]
        print(f"{depth:6}  {off:7.0f}  {quartile['memory', depth] - off:9.0f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        main()
