"""Runs a program with the agent in it, and reads what was recorded: by examples/read_recording.py for each event, by
tracetool for the counts."""
import json
import os
import shutil
import signal
import subprocess
import sys
import time

from places import EXAMPLES

sys.path[:0] = [EXAMPLES, os.path.join(EXAMPLES, "cuda")]
import read_recording  # noqa: E402
from ring_records import KINDS, MADE  # noqa: E402, F401

CONFIGURES = ("TRACETOOL_", "SIM_", "CUDA_INJECTION", "NVTX_INJECTION", "LD_PRELOAD", "TORCHELASTIC", "SLURM", "RANK",
              "LOCAL_RANK", "WORLD_SIZE")
LAST_WORDS_S = 2
TOOL_S = 120
# Where the recording is has the name of the host, and the page is to be shown; the modules are what Python's faulthandler ends
# with.
NOT_SHOWN = ("tracetool: recording into ", "Extension modules: ")


def environment(part, record=True, **more):
    """The caller's, without what configures the agent or a launcher's rank; a value of None takes a variable out."""
    chosen = {name: value for name, value in os.environ.items()
              if name == "TRACETOOL_PYTHON" or not name.startswith(CONFIGURES)}
    if part.simulate:
        chosen.update(LD_LIBRARY_PATH=part.places.standins, SIM_DEVICES="1")
    if record:
        chosen.update(CUDA_INJECTION64_PATH=part.places.agent, TRACETOOL_GUARD_CPU="0", TRACETOOL_GUARD_RATE="0",
                      TRACETOOL_KEEP="0", TRACETOOL_VERBOSE="1", TRACETOOL_BUFFER="16M" if part.simulate else "64M")
    if record and part.machine.cupti:
        chosen["TRACETOOL_CUPTI"] = part.machine.cupti
    chosen.update({name: str(value) for name, value in more.items()})
    return {name: value for name, value in chosen.items() if more.get(name, "") is not None}


class Recorded:
    """What a program printed (`done`: its CompletedProcess), the folder of its traces, and how long it took."""

    def __init__(self, part, done, traces, seconds):
        self.part, self.done, self.traces, self.seconds = part, done, traces, seconds

    @property
    def files(self):
        return sorted(os.path.join(at, name) for at, _, names in os.walk(self.traces) for name in names
                      if name.endswith(".ring"))

    def recordings(self):
        """One read_recording.Recording for each process; raises BadRecording."""
        found = [read_recording.read(path) for path in self.files]
        for recording in found:
            self.part.result["cupti"] = str(recording.header["cupti_version"])
        return found

    def discard(self):
        """Removes the recordings: of many runs they would fill a disk."""
        shutil.rmtree(self.traces, ignore_errors=True)

    def ranks(self):
        """`ranks` of tracetool info --json."""
        return json.loads(tool(self.part, "info", "--json", self.traces))["ranks"]


def tool(part, *arguments):
    """What tracetool prints; a RuntimeError with what it says where it fails."""
    done = subprocess.run([part.places.tool, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          timeout=TOOL_S)
    if done.returncode != 0:
        raise RuntimeError(f"tracetool {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def run(part, name, command, record=True, timeout=240, **settings):
    """Runs a command in the folder NAME of the part to its end; settings are environment variables (TRACETOOL_EVENTS=...).
    What it prints is in that folder too, from the first word on. A RuntimeError where it does not end in time."""
    folder = os.path.join(part.folder, name)
    traces = os.path.join(folder, "traces")
    os.makedirs(folder, exist_ok=True)
    chosen = environment(part, record, **({"TRACETOOL_DIR": traces} if record else {}), **settings)
    began, words = time.monotonic(), [str(word) for word in command]
    with open(f"{folder}/stdout", "wb") as out, open(f"{folder}/stderr", "wb") as err:
        with subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=chosen) as process:
            status = wait(process, timeout)
    seconds = time.monotonic() - began
    if status is None:
        raise RuntimeError(f"{name}: it did not end within {timeout} s: {last_words(f'{folder}/stderr')}")
    done = subprocess.CompletedProcess(words, status, written(folder, "stdout"), written(folder, "stderr"))
    return Recorded(part, done, traces, seconds)


def wait(process, timeout):
    """Its exit status; None: it was killed, after PYTHONFAULTHANDLER had it say where it was."""
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)
        time.sleep(LAST_WORDS_S)
        process.kill()
        return None


def written(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8", errors="backslashreplace") as file:
        return "".join(line for line in file if not line.startswith(NOT_SHOWN))


def last_words(path, most=1500):
    """The end of what a process wrote."""
    return written(*os.path.split(path)).strip()[-most:]


def lost(recordings):
    """All that the recordings say is missing, of any kind."""
    return sum(sum(each.lost.values()) + sum(each.overwritten.values()) + each.dropped for each in recordings)


def events(recordings, *kinds):
    return [event for each in recordings for event in each.events if event.kind in kinds]
