#!/usr/bin/env python3
"""NVIDIA's own driver library on a machine without a GPU, as on a login node: it calls the agent in cuInit, and CUPTI cannot
start. The program is left alone, and one line says so.

TRACETOOL_LIBCUDA names a folder with a libcuda.so.1 (that of Debian's package libcuda1 will do, unpacked), and
TRACETOOL_CUPTIS libcuptis to try it with, one behind the other with ':'.
"""
import ctypes
import os
import sys

from harness import Folder, arguments, check, files_below, finish, run, skip

NO_DEVICE = "cuInit 100\n"
PROGRAM = """
import ctypes, os
cuda = ctypes.CDLL("libcuda.so.1")
for _ in range(2):
    print("cuInit", cuda.cuInit(0), flush=True)
print(len(open("/proc/self/maps").read().split("libcuda.so")) > 1, len(os.listdir("/proc/self/task")))
"""


def check_program(options, libcuda, cupti):
    for way in ("CUDA_INJECTION64_PATH", "LD_PRELOAD"):
        with Folder() as folder:
            alone = run([sys.executable, "-c", PROGRAM], cwd=folder, LD_LIBRARY_PATH=libcuda)
            done = run([sys.executable, "-c", PROGRAM], cwd=folder, LD_LIBRARY_PATH=libcuda, TRACETOOL_CUPTI=cupti,
                       TRACETOOL_DIR=f"{folder}/traces", **{way: options.agent})
            check(done.returncode == alone.returncode == 0 and done.stdout == alone.stdout and NO_DEVICE in done.stdout,
                  f"{cupti}, {way}: the program does what it does alone", done)
            check(len(done.stderr.splitlines()) == 1 and "on machines without a GPU" in done.stderr, f"{cupti}, {way}: one line",
                  done.stderr)
            check(not files_below(folder), f"{cupti}, {way}: nothing is left", files_below(folder))


def main():
    options = arguments("agent")
    libcuda, cuptis = os.environ.get("TRACETOOL_LIBCUDA"), os.environ.get("TRACETOOL_CUPTIS")
    if not libcuda or not cuptis:
        skip("TRACETOOL_LIBCUDA and TRACETOOL_CUPTIS name no libcuda.so.1 and no libcupti")
    if ctypes.CDLL(f"{libcuda}/libcuda.so.1").cuInit(0) == 0:
        skip("there is a GPU")
    for cupti in cuptis.split(":"):
        check_program(options, libcuda, cupti)
    finish()


main()
