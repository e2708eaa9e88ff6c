#!/usr/bin/env python3
"""`tracetool record`: the program runs as without it, and is recorded.

  test_record.py --agent PATH --simulated PATH --tracetool PATH
"""
import json
import os
import resource
import signal
import subprocess
import sys

from harness import Folder, arguments, check, clean_environment, files_below, finish, run, wait_until

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "small_program.py")


def record(paths, folder, *words, **environment):
    return run([paths.tracetool, "record", *words], cwd=folder, TRACETOOL_AGENT=paths.agent, **environment)


def variables(done):
    return dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)


def check_summary(paths, folder, done, files):
    """At the end: how many recordings and records, where, what was lost, the next command; and that command works."""
    said = done.stderr.splitlines()
    place = os.path.join("here", os.path.basename(os.path.dirname(files[0])))
    dump = run([paths.tracetool, "info", "--json", files[0]])
    kept = sum(json.loads(dump.stdout)["ranks"][0]["counts"].values())
    good = len(said) == 2 and said[0].startswith(f"tracetool: 1 recording in {place}: ") and "none lost" in said[0]
    check(good and f"next: tracetool {place}" in said[1], "its end says what was recorded and where", done.stderr)
    check(int(said[0].split(": ")[2].split()[0]) >= kept > 100, "and how many records", (said, kept))
    next_one = run([paths.tracetool, "info", place], cwd=folder)
    check(next_one.returncode == 0 and "runtime" in next_one.stdout, "the next command works as it is written", next_one)


def check_nothing_recorded(paths):
    with Folder() as folder:
        done = record(paths, folder, "--", "true")
        said = done.stderr.splitlines()
        check(done.returncode == 0 and "no process used the GPU" in said[0] and "tracetool doctor" in said[-1],
              "nothing recorded is said, with the next step", done)
        doctor = run([paths.tracetool, "doctor", "--json"], cwd=folder, TRACETOOL_AGENT=paths.agent)
        found = [each["what"] for each in json.loads(doctor.stdout)["findings"]
                 if each["level"] != "ok" and "CUDA_INJECTION64_PATH" not in each["what"]]  # which record sets
        check(all(any(what in line for line in said) for what in found), "and with what doctor finds", (found, said))
        check(record(paths, folder, "--quiet", "--", "true").stderr == "", "--quiet says nothing")
        check(record(paths, folder, "--", "true", RANK=1).stderr == "", "further ranks of a launcher say nothing")


def check_no_room(paths):
    """A ring that cannot be made is said before the program starts, and at its end, with what the agent said in between."""
    standin = os.path.join(os.path.dirname(paths.simulated), "standin")

    def limit_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (200 << 10, 200 << 10))

    with Folder() as folder:
        done = run([paths.tracetool, "record", "--buffer", "1M", "--", sys.executable, PROGRAM, os.path.join(standin, "libcuda.so.1"), "10"], cwd=folder,
                   limit=limit_files, TRACETOOL_AGENT=paths.agent, LD_LIBRARY_PATH=standin)
        said = done.stderr.splitlines()
        check((done.returncode, done.stdout) == (0, "done\n") and "not enough space to record" in said[0] and "File too large" in said[1] and
              "has no new recording" in said[2] and all("ulimit -f" in said[line] for line in (0, 2)) and "no process used the GPU" not in done.stderr,
              "files are limited: said before, by the agent and at the end", done)


def check_settings(paths):
    """A value that the agent would not take ends it before the program starts."""
    with Folder() as folder:
        wrong = (("--buffer", "1X", "64K to 1024G"), ("--buffer", "1K", "--buffer 1K is not allowed; allowed: 64K to 1024G"), ("--mode", "foo", "spool"),
                 ("--events", "kernel,frob", "kernel,frob: frob is not allowed"), ("--flush-ms", "0", "1 to 60000"), ("--keep", "x", "a number of runs"),
                 ("--nccl", "maybe", "payload"), ("--coexist", "x", "share"), ("--guard-cpu", "101", "0 to 100"),
                 ("--buffer", "", "empty"))
        for option, value, needle in wrong:
            done = record(paths, folder, option, value, "--", "touch", "started")
            check(done.returncode == 1 and option in done.stderr and needle in done.stderr and
                  not os.path.exists(os.path.join(folder, "started")), f"{option} {value!r} is refused at once", done)


def check_recorded(paths):
    standin = os.path.join(os.path.dirname(paths.simulated), "standin")
    with Folder() as folder:
        done = record(paths, folder, "-o", "here", "--buffer", "4M", "--", sys.executable, PROGRAM,
                      os.path.join(standin, "libcuda.so.1"), "100", LD_LIBRARY_PATH=standin)
        check((done.returncode, done.stdout) == (0, "done\n"), "a program is recorded as it is", done)
        files = files_below(os.path.join(folder, "here"), ".ring")
        check_summary(paths, folder, done, files)
        if not check(len(files) == 1, "there is one recording, in the folder that was named", files):
            return
        check(os.path.getsize(files[0]) <= 4 << 20, "--buffer holds", os.path.getsize(files[0]))
        info = json.loads(run([paths.tracetool, "info", "--json", files[0]]).stdout)["ranks"][0]
        check(info["counts"]["runtime"] + info["counts"]["driver"] >= 100, "its calls are there", info)


def check_advice(paths):
    """Its suggested commands can be pasted into a shell, whatever the name of the directory."""
    standin = os.path.join(os.path.dirname(paths.simulated), "standin")
    with Folder() as folder:
        done = record(paths, folder, "-o", "sp dir;touch x\x1b[31m", "--", sys.executable, PROGRAM, os.path.join(standin, "libcuda.so.1"), "100", LD_LIBRARY_PATH=standin)
        check("\x1b" not in done.stderr and "next: " in done.stderr, "a directory's name does not command the terminal", done.stderr)
        pasted = run(["bash", "-c", f"tracetool() {{ '{paths.tracetool}' \"$@\"; }}; {done.stderr.split('next: ')[-1]}"], cwd=folder)
        check(pasted.returncode == 0 and " process" in pasted.stdout and not os.path.exists(f"{folder}/x"), "the next commands run as they are pasted", pasted)


def check_environment(paths):
    with Folder() as folder:
        seen = variables(record(paths, folder, "--events", "light", "--mode", "spool", "--verbose", "--", "env"))
        wanted = {"CUDA_INJECTION64_PATH": paths.agent, "NVTX_INJECTION64_PATH": paths.agent,
                  "TRACETOOL_DIR": os.path.join(folder, "traces"), "TRACETOOL_EVENTS": "light",
                  "TRACETOOL_MODE": "spool", "TRACETOOL_VERBOSE": "1"}
        check({name: seen.get(name) for name in wanted} == wanted, "options become variables, paths absolute", seen)
        check("LD_PRELOAD" not in seen, "LD_PRELOAD is left alone", seen)
        check(not os.listdir(folder), "a program without a GPU leaves nothing behind", os.listdir(folder))
        seen = variables(record(paths, folder, "--nccl", "payload", "--coexist", "share", "--guard-cpu", "5",
                                "--guard-rate", "9", "env"))
        wanted = {"NCCL": "payload", "COEXIST": "share", "GUARD_CPU": "5", "GUARD_RATE": "9"}
        check({name: seen.get("TRACETOOL_" + name) for name in wanted} == wanted, "so do the rarer ones", seen)
        seen = variables(record(paths, folder, "-o", "a/b", "--", "env", TRACETOOL_DIR="/elsewhere"))
        check(seen["TRACETOOL_DIR"] == os.path.join(folder, "a/b"), "-o comes before $TRACETOOL_DIR", seen)


def check_preload(paths):
    with Folder() as folder:
        done = record(paths, folder, "--preload", "--", "env", LD_PRELOAD="libdl.so.2")
        check(variables(done).get("LD_PRELOAD") == paths.agent + ":libdl.so.2", "--preload keeps what is there", done)
        check("NVTX" not in done.stderr, "and is no reason for a warning", done.stderr)


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
        check(int(job.communicate()[0]) != job.pid, "the program is our child")
        job = subprocess.Popen([paths.tracetool, "record", "-q", "--", *shell, "echo $$"], stdout=subprocess.PIPE, text=True,
                               cwd=folder, env=clean_environment(TRACETOOL_AGENT=paths.agent))
        check(int(job.communicate()[0]) == job.pid, "with --quiet it has our place")
        check_signals(paths, folder)


def check_signals(paths, folder):
    """Signals that are sent to us reach the program; and it does not outlive us."""
    waits = "trap 'echo got; exit 9' TERM; echo ready; while :; do sleep 0.02; done"
    def start(*words):
        job = subprocess.Popen([paths.tracetool, "record", "--", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               text=True, cwd=folder, env=clean_environment(TRACETOOL_AGENT=paths.agent))
        return job, job.stdout.readline().strip()
    job, _ = start("sh", "-c", waits)
    job.send_signal(signal.SIGTERM)
    check((job.communicate()[0], job.returncode) == ("got\n", 9), "SIGTERM is the program's", job)
    job, _ = start("sh", "-c", "echo ready; exec sleep 100")
    job.send_signal(signal.SIGINT)
    job.communicate()
    check(job.returncode == -signal.SIGINT, "who is ended by a signal ends us so", job.returncode)
    job, pid = start("sh", "-c", "echo $$; exec sleep 100")
    job.kill()
    job.wait()
    check(wait_until(lambda: is_zombie(pid), 10), "a program whose record is killed ends, too", pid)
    ignoring = ("import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])")
    done = run([sys.executable, "-c", ignoring, paths.tracetool, "record", "--", "sh", "-c", "kill -HUP $PPID; kill -HUP $$; echo on"],
               cwd=folder, TRACETOOL_AGENT=paths.agent)
    check(done.stdout == "on\n" and done.returncode == 0, "what was ignored stays so, as for nohup", done)


def is_zombie(pid):
    """Or gone."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


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
        check(done.returncode == 1 and "missing command" in done.stderr, "a command is needed", done)
        done = record(paths, folder, "-c", "true")
        check(done.returncode == 1 and "no option -c" in done.stderr and "--" in done.stderr,
              "what stands before it are our options", done)
        done = record(paths, folder, "--", "true", TRACETOOL_DISABLE=1)
        check(done.returncode == 0 and "nothing will be recorded" in done.stderr.splitlines()[0],
              "an agent that is disabled is said", done)
        check("nothing will be recorded" not in record(paths, folder, "--", "true", TRACETOOL_DISABLE=0).stderr,
              "0 does not disable it")
        done = record(paths, folder, "--", "no-such-program")
        check(done.returncode == 2 and "cannot run no-such-program" in done.stderr, "a program must be there", done)
        done = run([paths.tracetool, "record", "--", "true"], cwd=folder, TRACETOOL_AGENT="/nowhere/libagent.so")
        check(done.returncode == 2 and "/nowhere/libagent.so" in done.stderr, "the agent must be there", done)
        done = run([paths.tracetool, "record", "--", "true"], cwd=folder, TRACETOOL_AGENT=__file__)
        check(done.returncode == 2 and "not a shared library" in done.stderr, "and be one", done)
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
    check_advice(paths)
    check_nothing_recorded(paths)
    check_no_room(paths)
    check_settings(paths)
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
