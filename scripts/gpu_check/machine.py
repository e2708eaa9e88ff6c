"""What this machine is, and what of the parts' needs it has. What cannot be found is "unknown", never guessed."""
import glob
import json
import os
import platform
import re
import shutil
import subprocess
import sys

NVCC_PATH = f"{os.environ.get('PATH', '')}:/usr/local/cuda/bin"
TORCH = """
import json, os, torch
gpu, nccl = torch.cuda.is_available(), getattr(torch.cuda, "nccl", None)
device = torch.cuda.get_device_properties(0) if gpu else None
print(json.dumps({"site": os.path.dirname(os.path.dirname(torch.__file__)), "pytorch": torch.__version__,
                  "cuda": torch.version.cuda, "gpu": gpu, "nccl": ".".join(map(str, nccl.version())) if gpu and nccl else None,
                  "name": device and f"{device.name}, unknown, {device.total_memory >> 20} MiB"}))
"""
SAID = "GPU_CHECK_TORCH"  # what it said, so that no part has to ask again: seconds each
MODES = "--query-gpu=compute_mode,mig.mode.current,persistence_mode,power.limit,clocks.max.sm"


def output(*command, timeout=60):
    """What a program prints; empty where it is not there or fails."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=timeout)
        return done.stdout if done.returncode == 0 else ""
    except (OSError, subprocess.TimeoutExpired):
        return ""


def first(pattern, text):
    found = re.search(pattern, text, re.M)
    return found.group(1) if found else "unknown"


def find_cupti(toolkit, site, usual="/usr/local/cuda"):
    """The path of a libcupti that the recorder does not find by itself in a program without PyTorch: beside an nvcc elsewhere
    than in its usual place, or among PyTorch's, which PyTorch has loaded anyway. None: there is none, or
    it is where it is looked for."""
    if any(glob.glob(f"{usual}/{below}/libcupti.so*") for below in ("lib64", "extras/CUPTI/lib64")):
        return None
    folders = [f"{site}/nvidia/{below}/lib" for below in ("cu1?", "cuda_cupti") if site]  # two copies in a process would clash
    folders += [f"{toolkit}/{below}" for below in ("lib64", "extras/CUPTI/lib64", "targets/*/lib") if toolkit]
    found = [path for folder in folders for path in sorted(glob.glob(f"{folder}/libcupti.so.1?"), reverse=True)]
    return found[0] if found else None


class Machine:
    """nvcc, python (one that may have torch), torch (what it says of itself, or None), gpus (lines of nvidia-smi) and cupti
    (what TRACETOOL_CUPTI has to name, or None)."""

    def __init__(self, simulate):
        self.simulate, self.held = simulate, []
        self.gpus = [] if simulate else output("nvidia-smi", "--query-gpu=name,driver_version,memory.total",
                                               "--format=csv,noheader").strip().splitlines()
        self.nvcc = shutil.which("nvcc", path=NVCC_PATH)
        self.python = os.environ.get("TRACETOOL_PYTHON", sys.executable)
        self.said = os.environ.get(SAID) if SAID in os.environ else output(self.python, "-c", TORCH, timeout=180)
        self.torch = json.loads(self.said.splitlines()[-1]) if self.said.strip() else None
        if not self.gpus and not simulate and self.torch and self.torch["name"]:
            self.gpus = [self.torch["name"]]  # there is no nvidia-smi everywhere
        toolkit = self.nvcc and os.path.dirname(os.path.dirname(os.path.realpath(self.nvcc)))
        chosen = os.environ.get("TRACETOOL_CUPTI")
        self.cupti = None if simulate else chosen or find_cupti(toolkit, self.torch and self.torch["site"])

    def tell_children(self):
        os.environ[SAID] = self.said

    def keep_awake(self):
        """Holds the devices' files open: without a persistence daemon the driver starts a GPU that nobody uses anew for each
        process, which takes seconds."""
        for path in [] if self.simulate else glob.glob("/dev/nvidia[0-9]*"):
            try:
                self.held.append(os.open(path, os.O_RDWR | os.O_CLOEXEC))
            except OSError as error:
                print(f"gpu_check: {path} cannot be held open ({error.strerror}): programs may start slowly", flush=True)

    def gpu_bytes(self):
        """Memory of the first GPU; 0: unknown."""
        return int(first(r"(\d+) MiB", self.gpus[0]).replace("unknown", "0")) << 20 if self.gpus else 0

    def missing(self, row):
        """Why the part cannot run here; None: it can."""
        if self.simulate:
            return None if row.simulated else f"it needs {' and '.join(row.needs)}: it is not simulated"
        return next((reason for need, reason in self.absent() if need in row.needs), None)

    def absent(self):
        if not self.gpus:
            yield "gpu", "nvidia-smi names no GPU"
        if self.nvcc is None:
            yield "nvcc", "there is no nvcc in PATH or /usr/local/cuda/bin"
        if self.torch is None:
            yield "torch", f"{self.python} has no torch (TRACETOOL_PYTHON names another)"
        elif not self.torch["gpu"]:
            yield "torch", f"the torch of {self.python} finds no GPU"
        if self.torch is None or self.torch["nccl"] is None:
            yield "nccl", f"the torch of {self.python} has no NCCL"

    def modes(self):
        """Compute mode, MIG, persistence, power limit, clock: a GPU for one process only, or a slice of one, explains much."""
        return "simulated" if self.simulate else output("nvidia-smi", MODES, "--format=csv,noheader").strip() or "unknown"

    def describe(self):
        gpu = "simulated" if self.simulate else "; ".join(line.split(",")[0] for line in self.gpus) or "none"
        driver = "simulated" if self.simulate else self.gpus[0].split(", ")[1] if self.gpus else "unknown"
        torch = self.torch or {"pytorch": "none", "nccl": None}
        system = first(r'^PRETTY_NAME="?([^"\n]*)', output("cat", "/etc/os-release"))
        cuda = first(r"release ([\d.]+)", output(self.nvcc or "nvcc", "--version"))
        return {"gpu": gpu, "driver": driver, "modes": self.modes(), "cuda": cuda,
                "cupti": "unknown", "pytorch": torch["pytorch"], "nccl": torch["nccl"] or "unknown",
                "cpu_count": os.cpu_count(), "os": f"{system}, Linux {platform.release()}, {platform.machine()}",
                "glibc": (os.confstr("CS_GNU_LIBC_VERSION") or "unknown").replace("glibc ", "")}
