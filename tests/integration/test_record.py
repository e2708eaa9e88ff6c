#!/usr/bin/env python3
"""`tracetool record`: the program runs as without it, and is recorded.

  test_record.py --agent PATH --simulated PATH --tracetool PATH
"""
import json
import os
import signal
import subprocess
import sys

from harness import Folder, arguments, check, clean_environment, files_below, finish, run

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "small_program.py")


def record(paths, folder, *words, **environment):
    return run([paths.tracetool, "record", *words], cwd=folder, TRACETOOL_AGENT=paths.agent, **environment)


def variables(done):
    return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)


def check_recorded(paths):
    standin = os.path.join(os.path.dirname(paths.simulated), "standin")
    with Folder() as folder:
        done = record(paths, folder, "-o", "here", "--buffer", "4M", "--", sys.executable, PROGRAM,
                      os.path.join(standin, "libcuda.so.1"), "100", LD_LIBRARY_PATH=standin)
        check((done.returncode, done.stdout, done.stderr) == (0, "done\n", ""), "a program is recorded as it is", done)
        files = files_below(os.path.join(folder, "here"), ".ring")
        if not check(len(files) == 1, "there is one recording, in the folder that was named", files):
            return
        check(os.path.getsize(files[0]) <= 4 << 20, "--buffer holds", os.path.getsize(files[0]))
        info = json.loads(run([paths.tracetool, "info", "--json", files[0]]).stdout)["ranks"][0]
        check(info["counts"]["runtime"] + info["counts"]["driver"] >= 100, "its calls are there", info)


def check_environment(paths):
    with Folder() as folder:
        seen = variables(record(paths, folder, "--events", "light", "--mode", "spool", "--verbose", "--", "env"))
        wanted = {"CUDA_INJECTION64_PATH": paths.agent, "NVTX_INJECTION64_PATH": paths.agent,
                  "TRACETOOL_DIR": os.path.join(folder, "traces"), "TRACETOOL_EVENTS": "light",
                  "TRACETOOL_MODE": "spool", "TRACETOOL_VERBOSE": "1"}
        check({name: seen.get(name) for name in wanted} == wanted, "options become variables, paths absolute", seen)
        check("LD_PRELOAD" not in seen, "LD_PRELOAD is left alone", seen)
        check(not os.listdir(folder), "a program without a GPU leaves nothing behind", os.listdir(folder))
        seen = variables(record(paths, folder, "--nccl", "payload", "--coexist", "retake", "--guard-cpu", "5",
                                "--guard-rate", "9", "env"))
        wanted = {"NCCL": "payload", "COEXIST": "retake", "GUARD_CPU": "5", "GUARD_RATE": "9"}
        check({name: seen.get("TRACETOOL_" + name) for name in wanted} == wanted, "so do the rarer ones", seen)
        seen = variables(record(paths, folder, "-o", "a/b", "--", "env", TRACETOOL_DIR="/elsewhere"))
        check(seen["TRACETOOL_DIR"] == os.path.join(folder, "a/b"), "-o comes before $TRACETOOL_DIR", seen)


def check_preload(paths):
    with Folder() as folder:
        done = record(paths, folder, "--preload", "--", "env", LD_PRELOAD="libdl.so.2")
        check(variables(done).get("LD_PRELOAD") == paths.agent + ":libdl.so.2", "--preload keeps what is there", done)
        check(done.stderr == "", "and is silent", done.stderr)


def check_as_without(paths):
    with Folder() as folder:
        shell = ("sh", "-c")
        check(record(paths, folder, "--", *shell, "exit 7").returncode == 7, "the exit status is the program's")
        done = record(paths, folder, "--", *shell, 'echo "$0 $@"', "-o", "--force", "--", "x")
        check(done.stdout == "-o --force -- x\n", "what stands behind -- is the program's", done)
        for words in (("echo", "hi"), ("--mode=ring", "--events", "light", "echo", "hi")):
            done = record(paths, folder, *words, "--verbose", "-o", "out", "--", "--keep", "3")
            check((done.returncode, done.stdout) == (0, "hi --verbose -o out -- --keep 3\n"),
                  "what stands behind the program is its own without --, too", done)
        done = record(paths, folder, "--", *shell, "kill -TERM $$")
        check(done.returncode == -signal.SIGTERM, "a signal ends it as without us", done)
        command = [paths.tracetool, "record", "--", "cat"]
        done = subprocess.run(command, input="through", capture_output=True, text=True, cwd=folder,
                              env=clean_environment(TRACETOOL_AGENT=paths.agent))
        check(done.stdout == "through", "stdin is the program's", done)
        job = subprocess.Popen([paths.tracetool, "record", "--", *shell, "echo $$"], stdout=subprocess.PIPE, text=True,
                               cwd=folder, env=clean_environment(TRACETOOL_AGENT=paths.agent))
        check(int(job.communicate()[0]) == job.pid, "the program has our place, not a child's")


def check_refused(paths):
    with Folder() as folder:
        other = "/opt/nvidia/libToolsInjection64.so"
        done = record(paths, folder, "--", "env", CUDA_INJECTION64_PATH=other)
        check(done.returncode == 1 and not done.stdout and "Nsight Systems" in done.stderr and "--force" in done.stderr,
              "another tool's variable is not overwritten", done)
        done = record(paths, folder, "--force", "--", "env", CUDA_INJECTION64_PATH=other)
        check(variables(done).get("CUDA_INJECTION64_PATH") == paths.agent, "but with --force it is", done)
        done = record(paths, folder, "--", "env", NVTX_INJECTION64_PATH="/other.so")
        check(variables(done).get("NVTX_INJECTION64_PATH") == "/other.so" and "/other.so" in done.stderr,
              "NVTX's is left and said", done)
        done = record(paths, folder)
        check(done.returncode == 1 and "CMD" in done.stderr, "a command is needed", done)
        done = record(paths, folder, "-c", "true")
        check(done.returncode == 1 and "-c is not an option" in done.stderr and "--" in done.stderr,
              "what stands before it are our options", done)
        done = record(paths, folder, "--", "true", TRACETOOL_DISABLE=1)
        check(done.returncode == 0 and len(done.stderr.splitlines()) == 1 and "nothing will be recorded" in done.stderr,
              "an agent that is disabled is said", done)
        check(not record(paths, folder, "--", "true", TRACETOOL_DISABLE=0).stderr, "0 does not disable it")
        done = record(paths, folder, "--", "no-such-program")
        check(done.returncode == 2 and "cannot run no-such-program" in done.stderr, "a program must be there", done)
        done = run([paths.tracetool, "record", "--", "true"], cwd=folder, TRACETOOL_AGENT="/nowhere/libagent.so")
        check(done.returncode == 2 and "/nowhere/libagent.so" in done.stderr, "the agent must be there", done)
        done = run([paths.tracetool, "record", "--", "true"], cwd=folder, TRACETOOL_AGENT=__file__)
        check(done.returncode == 2 and "no shared library" in done.stderr, "and be one", done)
        done = record(paths, folder, "-o", paths.tracetool + "/x", "--", "true")
        check(done.returncode == 2 and "-o" in done.stderr, "the folder must be one that can be written", done)


def check_found_by_itself(paths):
    """In a build folder the agent lies in ../agent of tracetool's."""
    with Folder() as folder:
        built = os.path.join(os.path.dirname(paths.tracetool), "..", "agent", "libagent.so")
        if not os.path.exists(built):
            return
        done = run([paths.tracetool, "record", "--", "env"], cwd=folder)
        found = variables(done).get("CUDA_INJECTION64_PATH", "")
        check(os.path.isabs(found) and os.path.samefile(found, built), "the agent of the build folder is found", done)


def main():
    paths = arguments("agent", "simulated", "tracetool")
    check_recorded(paths)
    check_environment(paths)
    check_preload(paths)
    check_as_without(paths)
    check_refused(paths)
    check_found_by_itself(paths)
    done = run([paths.tracetool, "frob"])
    check(done.returncode == 1 and "frob" in done.stderr and "record, doctor" in done.stderr,
          "a command that is none is named, with those that are", done)
    finish()


main()
