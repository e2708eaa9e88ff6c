"""Compiles the parts' CUDA programs: nvcc here, with --simulate g++ against the stand-ins."""
import glob
import json
import os
import subprocess
import sys

from places import EXAMPLES, PROGRAMS, ROOT

SECONDS = 240
CUDA_EXAMPLES = os.path.join(EXAMPLES, "cuda")


class BuildFailed(Exception):
    """The compiler's last words."""


def headers_of(build):
    """The CUDA headers that the build was made with."""
    sys.path.insert(0, os.path.join(ROOT, "scripts", "cuda"))
    import find_headers
    with open(os.path.join(build, "meson-info", "intro-buildoptions.json"), encoding="utf-8") as file:
        given = {option["name"]: option["value"] for option in json.load(file)}.get("cuda-root", "")
    folders, missing = find_headers.find(given)
    if missing:
        raise BuildFailed(f"no CUDA headers for the simulation: {', '.join(missing)}")
    return folders


def simulated(part, source, target):
    headers = [f"-isystem{folder}" for folder in headers_of(part.places.build)]
    compiler = os.environ.get("CXX", "g++").split()
    # Kernels are named by their symbols, which dladdr(3) must see; from -O2 on g++ makes one of two with the same body.
    return [*compiler, "-O1", "-std=c++17", "-Wall", "-Wextra", "-Werror", f"-I{CUDA_EXAMPLES}", *headers,
            "-x", "c++", source, "-x", "none", f"-L{part.places.standins}",
            "-l:libcuda.so.1", "-rdynamic", "-ldl", "-pthread", "-o", target]


def nvtx_of_torch(part):
    """NVTX's headers among PyTorch's packages, to be looked at last: not every toolkit has them."""
    site = part.machine.torch and part.machine.torch["site"]
    folders = [folder for below in ("cu1?", "nvtx") for folder in glob.glob(f"{site}/nvidia/{below}/include")] if site else []
    return [f"-Xcompiler=-idirafter,{folder}" for folder in folders if os.path.isdir(f"{folder}/nvtx3")]


def real(part, source, target):
    # Without -arch the driver compiles what nvcc left it, which takes time in the first launch and a driver as new as nvcc.
    return [part.machine.nvcc, "-O2", "-std=c++17", "-arch=native", f"-I{CUDA_EXAMPLES}", *nvtx_of_torch(part), source, "-ldl",
            "-o", target]


def run_compiler(command):
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=SECONDS)
    if done.returncode != 0:
        raise BuildFailed(f"{' '.join(command)}: {done.stderr[-1500:]}")


def program(part, name):
    """The path of a program that was made of programs/NAME.cu, or of examples/cuda/NAME.cu."""
    sources = [os.path.join(folder, name + ".cu") for folder in (PROGRAMS, CUDA_EXAMPLES)]
    source, target = next(path for path in sources if os.path.exists(path)), os.path.join(part.folder, name)
    run_compiler((simulated if part.simulate else real)(part, source, target))
    return target


def cupti_variant(part, cupti):
    """The path of a library to put before the libcupti at `cupti` (programs/cupti_variant.cpp)."""
    target, folder = os.path.join(part.folder, "libcupti_variant.so"), os.path.dirname(cupti)
    run_compiler([*os.environ.get("CXX", "g++").split(), "-O2", "-std=c++17", "-shared", "-fPIC",
                  os.path.join(PROGRAMS, "cupti_variant.cpp"), "-o", target, "-Wl,--no-as-needed", cupti,
                  f"-Wl,-rpath,{folder}", "-ldl"])
    return target
