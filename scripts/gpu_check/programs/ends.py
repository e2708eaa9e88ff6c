#!/usr/bin/env python3
"""ends.py HOW ISSUED MS: what ends.cu does, in Python with torch: one kernel a launch, and the same file of what was issued.

HOW: exit, sigkill, os_exit, exception, thread_exit (sys.exit in a thread, which ends only the thread), fork (a DataLoader
with two workers), spawn (two processes of torch.multiprocessing, which use the GPU themselves: ISSUED.1 and ISSUED.2)."""
import os
import signal
import sys
import threading
import time

import torch

BATCH, AT_ONCE, PAUSE_S = 32, 8, 0.0005


def issue(path, ms):
    values = torch.zeros(64, device="cuda")
    count, batches, until = 0, 0, time.time_ns() + ms * 1_000_000
    with open(path, "w", encoding="ascii", buffering=1) as file:
        file.write(f"{os.getpid()}\n")
        while time.time_ns() < until:
            for _ in range(BATCH):
                values.add_(1)
            count, batches = count + BATCH, batches + 1
            file.write(f"{count} {time.time_ns()}\n")
            time.sleep(PAUSE_S)
            if batches % AT_ONCE == 0:
                torch.cuda.synchronize()


def worker(number, path, ms):
    issue(f"{path}.{number + 1}", ms)
    torch.cuda.synchronize()


def exit_a_thread():
    thread = threading.Thread(target=sys.exit)
    thread.start()
    thread.join()


def read_with_workers():
    for _ in torch.utils.data.DataLoader(range(64), batch_size=8, num_workers=2):
        pass


def main():
    how, path, ms = sys.argv[1], sys.argv[2], int(sys.argv[3])
    issue(path, ms)
    if how == "sigkill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif how == "os_exit":
        os._exit(0)
    elif how == "exception":
        raise RuntimeError("nobody catches it")
    elif how == "thread_exit":
        exit_a_thread()
    elif how == "fork":
        read_with_workers()
    elif how == "spawn":
        torch.multiprocessing.spawn(worker, (path, ms), nprocs=2)
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
