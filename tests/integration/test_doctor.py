#!/usr/bin/env python3
"""`tracetool doctor`: whoever sees nothing recorded learns why in one command.

  test_doctor.py --agent PATH --simulated PATH --tracetool PATH
"""
import ctypes
import json
import os
import signal
import subprocess
import sys
import time

from harness import Folder, arguments, check, clean_environment, files_below, finish, run, wait_until
from truth import train

SMALL = ("--ranks", 2, "--steps", 5, "--ring-bytes", "4M")
CAP_DAC_OVERRIDE, PR_CAPBSET_DROP = 1, 24
# Calls CUDA (or not), says so, and waits for its end.
WAITER = """
import ctypes, sys, time
if len(sys.argv) > 1:
    cuda = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
    memory = ctypes.c_void_p()
    cuda.cudaSetDevice(0)
    cuda.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(256))
print("ready", flush=True)
time.sleep(60)
"""


class Doctor:
    def __init__(self, paths):
        self.paths = paths

    def ask(self, *words, limit=None, **environment):
        """(exit status, {(level, check): [texts]})"""
        done = run([self.paths.tracetool, "doctor", "--json", *map(str, words)], limit=limit,
                   TRACETOOL_AGENT=self.paths.agent, **environment)
        found = {}
        for each in json.loads(done.stdout)["findings"]:
            text = f"{each['who']}: {each['what']} -> {each['next']}"
            found.setdefault((each["level"], each["check"]), []).append(text)
        return done.returncode, found


def said(found, level, check_name, *words):
    return any(all(word in text for word in words) for text in found.get((level, check_name), []))


def failed(found):
    return [key for key in found if key[0] == "fail"]


class Waiter:
    """A process that waits, with or without CUDA in it: with Waiter(...) as pid."""

    def __init__(self, paths, folder, cuda, **environment):
        standin = os.path.join(os.path.dirname(paths.simulated), "standin")
        self.command = [sys.executable, "-c", WAITER] + ([os.path.join(standin, "libcuda.so.1")] if cuda else [])
        self.environment = clean_environment(LD_LIBRARY_PATH=standin, TRACETOOL_BUFFER="4M",
                                             TRACETOOL_DIR=os.path.join(folder, "traces"), **environment)

    def __enter__(self):
        self.process = subprocess.Popen(self.command, env=self.environment, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.process.stdout.readline()
        return self.process.pid

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def check_folders(paths, doctor):
    with Folder() as folder:
        train(paths, folder, *SMALL)
        traces = os.path.join(folder, "traces")
        status, found = doctor.ask(traces)
        check(status == 0 and not failed(found) and said(found, "ok", "ranks", "all 2 ranks", "2 clean"),
              "a whole run: all is well", found)
        check(said(found, "ok", "cupti", "ranks 0-1", "CUPTI"), "ranks that say the same are one line", found)
        os.chmod(traces, 0o500)
        status, found = doctor.ask(traces, limit=obey_permissions)
        check(status == 0 and not failed(found) and said(found, "ok", "directory", "not writable"),
              "an archive that is read-only is no failure", found)
        os.chmod(traces, 0o700)
        os.truncate(files_below(traces, ".ring")[0], 1 << 42)  # sparse: as large as no disk has room
        status, found = doctor.ask(traces)
        check(status == 0 and not failed(found) and said(found, "ok", "directory", " free"),
              "nor is one on a disk without room for another ring", found)
        os.remove(files_below(traces, ".ring")[1])
        status, found = doctor.ask(traces)
        check(status == 0 and said(found, "warn", "ranks", "1 of 2 ranks are missing"), "a missing rank is named", found)
        with open(os.path.join(traces, "bad.ring"), "wb") as file:
            file.write(b"nothing" * 1000)
        status, found = doctor.ask(traces)
        check(status == 3 and said(found, "fail", "file", "bad.ring"), "a file that is none: exit 3", (status, found))
        status, found = doctor.ask(os.path.join(folder, "none"))
        check(status == 4 and said(found, "fail", "directory", "does not exist"), "no such folder", found)
        os.mkdir(os.path.join(folder, "empty"))
        status, found = doctor.ask(os.path.join(folder, "empty"))
        check(status == 4 and said(found, "fail", "ranks", "no recording"), "an empty folder", found)


def check_without_gpu_work(paths, doctor):
    for what, words, environment in (
            ("CUPTI is taken", ("ranks 0-1", "CUPTI is in use by"), {"SIM_CUPTI_TAKEN": 1}),
            ("no libcupti", ("ranks 0-1", "no libcupti found"), {"TRACETOOL_CUPTI": "/nowhere/libcupti.so"}),
            ("no driver", ("ranks 0-1", "999"), {"SIM_CUPTI_NO_DRIVER": 1})):
        with Folder() as folder:
            train(paths, folder, *SMALL, **environment)
            status, found = doctor.ask(os.path.join(folder, "traces"))
            check(status == 4 and said(found, "fail", "cupti", *words), f"{what}: is said, for all ranks at once", found)


def check_without_nccl(paths, doctor):
    """NCCL looked for an NVTX tool when there was none."""
    with Folder() as folder:
        train(paths, folder, *SMALL, NVTX_INJECTION64_PATH="/nowhere/none.so")
        _, found = doctor.ask(os.path.join(folder, "traces"))
        check(said(found, "warn", "nccl", "ranks 0-1", "no NCCL call", "NVTX_INJECTION64_PATH"),
              "kernels of NCCL without its calls are a finding", found)


def check_killed(paths, doctor):
    with Folder() as folder:
        job = subprocess.Popen([paths.simulated, "--agent", paths.agent, "--dir", f"{folder}/traces", "--ranks", "2",
                                "--steps", "100000", "--ring-bytes", "4M"], env=clean_environment(),
                               start_new_session=True, stderr=subprocess.DEVNULL)
        try:
            wait_until(lambda: len(files_below(f"{folder}/traces", ".ring")) == 2)
            time.sleep(1)
            status, found = doctor.ask(f"{folder}/traces")
            check(status == 0 and said(found, "ok", "ranks", "2 live"), "a running job is live", found)
            info = json.loads(run([paths.tracetool, "info", "--json", f"{folder}/traces"]).stdout)["ranks"]
            status, found = doctor.ask(info[0]["pid"])
            check(status == 0 and said(found, "ok", "recording", ".ring") and said(found, "ok", "agent", paths.agent),
                  "one of its processes, too", found)
            os.kill(info[1]["pid"], signal.SIGKILL)
            wait_until(lambda: said(doctor.ask(f"{folder}/traces")[1], "warn", "state"), 5)  # killed is not yet gone
            status, found = doctor.ask(f"{folder}/traces")
            check(status == 0 and said(found, "warn", "state", "rank 1", "killed"), "a killed rank is named", found)
        finally:
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()


def check_processes(paths, doctor):
    with Folder() as folder:
        with Waiter(paths, folder, True, CUDA_INJECTION64_PATH=paths.agent) as pid:
            status, found = doctor.ask(pid)
            check(not failed(found) and said(found, "ok", "recording", folder) and said(found, "ok", "cuda", "libcuda"),
                  "a process that is recorded", found)
        with Waiter(paths, folder, True) as pid:
            status, found = doctor.ask(pid)
            check(status == 4 and said(found, "fail", "variables", "not set", "tracetool record") and
                  said(found, "fail", "agent", "though CUDA is"), "one without the variable", found)
        with Waiter(paths, folder, True, CUDA_INJECTION64_PATH=paths.agent, TRACETOOL_DISABLE=1) as pid:
            status, found = doctor.ask(pid)
            check(status == 4 and said(found, "fail", "variables", "TRACETOOL_DISABLE"), "one that is disabled", found)
        with Waiter(paths, folder, True, CUDA_INJECTION64_PATH="/nowhere/libagent.so") as pid:
            status, found = doctor.ask(pid)
            check(status == 4 and said(found, "fail", "variables", "no such file"), "one with a wrong path", found)
        with Waiter(paths, folder, False, CUDA_INJECTION64_PATH=paths.agent) as pid:
            status, found = doctor.ask(pid)
            check(status == 0 and said(found, "warn", "cuda", "nothing to record yet"), "one without CUDA", found)
        status, found = doctor.ask(2**22 + 5)
        check(status == 4 and said(found, "fail", "process", "no process"), "one that does not exist", found)


def obey_permissions():
    """In the child: root keeps to the permissions of files, too."""
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE, 0, 0, 0)


def check_machine(paths, doctor):
    with Folder() as folder:
        status, found = doctor.ask(TRACETOOL_DIR=folder)
        check(status == 0 or failed(found) == [("fail", "ranks")], "this machine", found)
        check(said(found, "ok", "agent", paths.agent) and said(found, "ok", "variables"), "the agent is found", found)
        standin = os.path.join(os.path.dirname(paths.simulated), "standin")
        _, found = doctor.ask(TRACETOOL_DIR=folder, LD_LIBRARY_PATH=standin)
        check(said(found, "ok", "driver", standin) and said(found, "ok", "cupti", "libcupti"), "driver and CUPTI are found",
              found)
        status, found = doctor.ask(TRACETOOL_DIR=folder, TRACETOOL_DISABLE=1)
        check(status == 4 and said(found, "fail", "variables", "TRACETOOL_DISABLE"), "a shell that disables it", found)
        _, found = doctor.ask(TRACETOOL_DIR=folder, TRACETOOL_BUFFER="1024G")
        check(said(found, "fail", "directory", "a ring needs 1024.0 GiB"), "no room for a ring", found)
        os.mkdir(os.path.join(folder, "closed"), 0o500)
        status, found = doctor.ask(limit=obey_permissions, TRACETOOL_DIR=os.path.join(folder, "closed"))
        check(status == 4 and said(found, "fail", "directory", "no permission to write"), "a read-only folder", found)


def main():
    paths = arguments("agent", "simulated", "tracetool")
    doctor = Doctor(paths)
    check_folders(paths, doctor)
    check_without_gpu_work(paths, doctor)
    check_without_nccl(paths, doctor)
    check_killed(paths, doctor)
    check_processes(paths, doctor)
    check_machine(paths, doctor)
    text = run([paths.tracetool, "doctor"], TRACETOOL_AGENT=paths.agent).stdout
    check("to record: tracetool record" in text, "people are told what to type", text)
    finish()


main()
