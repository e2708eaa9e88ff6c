#!/usr/bin/env python3
"""Around programs that use no GPU the agent is as if it were not there: no file, no thread, no message, same result."""
import os
import shutil
import sys

from harness import Folder, arguments, check, files_below, finish, run

PYTHON = """
import os, subprocess, sys, threading
threads = len(os.listdir('/proc/self/task'))
child = os.fork()
if child == 0:
    os._exit(5)
status = os.waitpid(child, 0)[1]
worker = threading.Thread(target=lambda: print('worker'))
worker.start()
worker.join()
print(threads, status, subprocess.run([sys.executable, '-c', 'print(6 * 7)'], capture_output=True).stdout)
print('problem', file=sys.stderr)
sys.exit(9)
"""
BASH = "for i in 1 2 3; do echo $i; done; (exit 3); echo $?; cat <(echo sub); echo x | tr x y; export A=b; " \
       "env | grep ^A=; [ -z \"$(ls -A)\" ] && echo empty; echo problem >&2; exit 7"
LOADED = "import os, sys; print(sys.argv[1] in open('/proc/self/maps').read(), len(os.listdir('/proc/self/task')))"

# What is run, and the exit code that it must have anyway.
PROGRAMS = (("bash", ["bash", "-c", BASH], 7),
            ("bash, a name that is not there", ["bash", "-c", "no_such_command_here"], 127),
            ("sh", ["sh", "-c", "echo $((1 + 1)); exit 4"], 4),
            ("git --version", ["git", "--version"], 0),
            ("git outside a repository", ["git", "rev-parse", "--show-toplevel"], 128),
            ("git with a helper process", ["git", "-c", "alias.hello=!echo hello", "hello"], 0),
            ("python", [sys.executable, "-c", PYTHON], 9),
            ("python killed", [sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"], -9))


def outcome(command, cwd, **environment):
    done = run(command, cwd=cwd, GIT_CEILING_DIRECTORIES=cwd, **environment)
    return done.returncode, done.stdout, done.stderr


def check_program(what, command, code, agent):
    with Folder() as folder:
        cwd, traces = os.path.join(folder, "cwd"), os.path.join(folder, "traces")
        os.mkdir(cwd)
        without = outcome(command, cwd)
        check(without[0] == code, f"{what}: exits with {code} without the agent", without)
        for variable in ("LD_PRELOAD", "CUDA_INJECTION64_PATH"):
            for settings in ({}, {"TRACETOOL_DIR": traces}):
                with_agent = outcome(command, cwd, **{variable: agent}, **settings)
                how = f"{what}: {variable}{' and TRACETOOL_DIR' if settings else ''}"
                check(with_agent == without, f"{how}: same output and exit code", f"{with_agent} instead of {without}")
        left = files_below(folder) + os.listdir(cwd) + (["the traces folder"] if os.path.exists(traces) else [])
        check(not left, f"{what}: nothing is left behind", left)


def check_loaded(agent):
    """What the checks above stand on: LD_PRELOAD did load the agent, and it has no thread."""
    done = run([sys.executable, "-c", LOADED, os.path.basename(agent)], LD_PRELOAD=agent)
    check(done.stdout == "True 1\n", "LD_PRELOAD loads the agent into python, which keeps its one thread", done)


def main():
    options = arguments("agent")
    check_loaded(options.agent)
    for what, command, code in PROGRAMS:
        if shutil.which(command[0]) is None:
            print(f"left out: {what}: {command[0]} is not installed", flush=True)
            continue
        check_program(what, command, code, options.agent)
    finish()


main()
