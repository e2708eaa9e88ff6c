"""What a fault can be mended by at a desk, without the machine: what the machine is, and what tracetool says of each recording
of a part that failed. Texts, of which none is looked at here."""
import os
import re
import subprocess

SECONDS = 60
MOST_TEXT = 40_000  # characters of one program's output
TELLING = re.compile(r"^(CUDA|NCCL|NVIDIA|NVTX|TORCH|PYTORCH|TRACETOOL|TRITON|LD_|PATH=|PYTHON|OMP_|TMPDIR)")
COMMANDS = (("nvidia-smi",), ("nvidia-smi", "-q"), ("sh", "-c", "ldconfig -p | grep -iE 'cuda|cupti|nccl|nvidia|nvtx'"),
            ("sh", "-c", "ls -d /usr/local/cuda*/ /usr/local/cuda*/extras/CUPTI/lib64/* /usr/local/nvidia/lib64/libcu*"),
            ("df", "-h"), ("free", "-m"), ("sh", "-c", "ulimit -a"), ("sh", "-c", "ip -brief address || cat /proc/net/dev"),
            ("uname", "-a"), ("lscpu",), ("nsys", "--version"))
TORCH = "import torch, torch.utils.collect_env as all; print(torch.__config__.show(), all.get_pip_packages(all.run)[1])"


def said(command):
    """A command and what it prints, also where it fails or hangs."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                              errors="backslashreplace", timeout=SECONDS)
        text, end = done.stdout, f"exit {done.returncode}"
    except (OSError, subprocess.TimeoutExpired) as error:
        text, end = "", f"{type(error).__name__}: {error}"
    return f"$ {' '.join(command)}\n{text[:MOST_TEXT]}[{end}]\n\n"


def write_text(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)


def of_machine(folder, machine, tool):
    """machine.txt: more than the page has."""
    commands = [*COMMANDS, (tool, "--version"), (tool, "doctor")] + ([(machine.nvcc, "--version")] if machine.nvcc else [])
    if machine.torch:
        commands.append((machine.python, "-c", TORCH))
    variables = sorted(f"{name}={value}" for name, value in os.environ.items() if TELLING.match(f"{name}="))
    write_text(folder, "machine.txt", "\n".join(variables) + "\n\n" + "".join(map(said, commands)))


def of_part(folder, tool, status):
    """recordings.txt beside the recordings of a part that failed."""
    if status != "failed":
        return
    for at, folders, _ in os.walk(folder):
        if "traces" in folders:
            traces = os.path.join(at, "traces")
            write_text(at, "recordings.txt", said((tool, "info", traces)) + said((tool, "doctor", traces)))
