"""What the integration tests share: their arguments, one line per check, running programs."""
import argparse
import gc
import os
import pty
import shutil
import subprocess
import sys
import tempfile
import time

SKIPPED = 77  # meson's exit code for a test that could not run
_failures = []

# A million events lie in lists and dicts that have no cycles: the collector goes over them again and again and finds nothing.
gc.disable()


def arguments(*names):
    """The paths given as --NAME PATH, all of them required, made absolute."""
    parser = argparse.ArgumentParser()
    for name in names:
        parser.add_argument("--" + name, required=True, type=os.path.abspath)
    found = parser.parse_args()
    for name in names:
        if not os.path.exists(getattr(found, name)):
            sys.exit(f"--{name} {getattr(found, name)}: there is no such file")
    return found


def check(holds, what, detail=""):
    """Prints one line; `detail` (a text, or a function that makes one) only where the check fails. Returns `holds`."""
    if holds:
        print(f"ok    {what}", flush=True)
        return True
    _failures.append(what)
    print(f"FAIL  {what}: {detail() if callable(detail) else detail}", flush=True)
    return False


def finish():
    """Ends the test: exit 0 when every check held."""
    print(f"{len(_failures)} failed" if _failures else "all held", flush=True)
    sys.exit(1 if _failures else 0)


def skip(reason):
    print(f"skipped: {reason}", flush=True)
    sys.exit(SKIPPED)


class Folder:
    """A new empty folder, removed at the end unless TRACETOOL_KEEP_TESTS is set: with Folder() as path."""

    def __enter__(self):
        self.path = os.path.realpath(tempfile.mkdtemp(prefix="tracetool-test-"))
        return self.path

    def __exit__(self, *_):
        if os.environ.get("TRACETOOL_KEEP_TESTS"):
            print(f"kept {self.path}")
        else:
            shutil.rmtree(self.path, ignore_errors=True)


def clean_environment(**more):
    """The caller's environment without anything that configures the agent, the simulation or a launcher's rank."""
    gone = ("TRACETOOL_", "SIM_", "CUDA_INJECTION", "NVTX_INJECTION", "LD_PRELOAD", "TORCHELASTIC", "SLURM", "RANK",
            "LOCAL_RANK", "WORLD_SIZE")
    environment = {name: value for name, value in os.environ.items()
                   if name == "TRACETOOL_KEEP_TESTS" or not name.startswith(gone)}
    environment.update({name: str(value) for name, value in more.items() if value is not None})
    return environment


def run(command, cwd=None, timeout=240, limit=None, commands="", **environment):
    """Runs a program to its end; environment variables are the clean ones and the given ones. `limit` is called in the
    child before the program starts; `commands` is its stdin."""
    stdin = {"input": commands} if commands else {"stdin": subprocess.DEVNULL}
    return subprocess.run(command, cwd=cwd, env=clean_environment(**environment), **stdin, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="backslashreplace", timeout=timeout,
                          preexec_fn=limit)


def on_terminal(command, cwd, stdout=None):
    """Runs `command` with stderr, and stdout unless it is given, on a terminal. Returns its exit status and what the terminal shows."""
    above, below = pty.openpty()
    with subprocess.Popen(command, cwd=cwd, env=clean_environment(), stdin=subprocess.DEVNULL, stdout=below if stdout is None else stdout, stderr=below) as job:
        os.close(below)
        shown = b""
        try:
            while part := os.read(above, 65536):
                shown += part
        except OSError:  # the other side is closed
            pass
    os.close(above)
    return job.returncode, shown


def wait_until(happens, seconds=30, job=None):
    """Asks until it is so, for at most so many seconds and while the job (a Popen) runs; returns the last answer."""
    give_up = time.monotonic() + seconds
    while not (found := happens()) and time.monotonic() < give_up and (job is None or job.poll() is None):
        time.sleep(0.02)
    return found


def files_below(folder, ending=""):
    return sorted(os.path.join(at, name) for at, _, names in os.walk(folder) for name in names if name.endswith(ending))


def first(items, count=5):
    """Some of many, as text for a failed check."""
    items = list(items)
    return f"{len(items)}: " + "; ".join(str(item) for item in items[:count]) + ("; ..." if len(items) > count else "")
