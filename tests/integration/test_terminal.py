#!/usr/bin/env python3
"""Text on a terminal fits its width and has colors; in a pipe or a file it has neither. --quiet leaves errors alone.

  test_terminal.py --tracetool PATH --simulated PATH --agent PATH
"""
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

from harness import Folder, arguments, check, finish, run

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def on_terminal(columns, words, **environment):
    """What a command prints on a terminal of this width, and its exit status."""
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    kept = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}
    process = subprocess.Popen(words, stdout=terminal, stderr=subprocess.DEVNULL, env={**kept, "TERM": "xterm", **environment})
    os.close(terminal)
    printed = b""
    while True:
        try:
            part = os.read(controller, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        printed += part
    os.close(controller)
    return printed.decode().replace("\r\n", "\n"), process.wait()


def main():
    options = arguments("tracetool", "simulated", "agent")
    with Folder() as folder:
        traces = f"{folder}/traces"
        run([options.simulated, "--agent", options.agent, "--dir", traces, "--ranks", "2", "--steps", "4", "--straggler", "1", "--straggler-us", "9000"], cwd=folder)
        kernels = [options.tracetool, "analyze", traces, "--only", "kernels"]
        piped = run(kernels).stdout
        widest = max(map(len, piped.splitlines()))
        check(widest > 160 and "\x1b" not in piped, "a pipe gets whole names without colors", widest)
        narrow, status = on_terminal(160, kernels)
        lines = narrow.splitlines()
        check(status == 0 and len(lines) == len(piped.splitlines()) and max(map(len, lines)) <= 160 and "..." in narrow, "a terminal of 160 columns: each line fits", narrow)
        starts = [line.split("  ")[0].split("...", 1) for line in lines if "..." in line]
        check(starts and all(any(whole.startswith(head) and tail in whole for whole in piped.splitlines()) for head, tail in starts), "names are cut in the middle", starts)
        check(on_terminal(160, [*kernels, "--wide"])[0] == piped, "--wide cuts none")
        check(on_terminal(10_000, kernels)[0] == piped, "a terminal that is wide enough: nothing is cut")
        check(max(map(len, on_terminal(20, kernels)[0].splitlines())) < widest, "a terminal that is too narrow for the numbers keeps them")
        on_terminal(80, [*kernels, "-o", f"{folder}/kernels.txt"])
        check(open(f"{folder}/kernels.txt").read() == piped, "a file gets what a pipe gets")
        check(on_terminal(60, [*kernels, "--format", "csv"])[0].replace("\r", "") == run([*kernels, "--format", "csv"]).stdout, "csv is for programs")

        diagnose = [options.tracetool, "diagnose", traces]
        plain = run(diagnose).stdout
        shown = on_terminal(200, diagnose)[0]
        check(" (high)" in plain and ESCAPES.sub("", shown) == plain and "\x1b[31m1. " in shown, "findings have the color of their severity", shown[:300])
        check(on_terminal(200, diagnose, NO_COLOR="1")[0] == plain, "NO_COLOR")
        check(on_terminal(200, diagnose, TERM="dumb")[0] == plain, "a terminal without escape sequences")
        check(on_terminal(200, [*diagnose, "--color", "never"])[0] == plain, "--color never")
        always = run([*diagnose, "--color", "always"]).stdout
        check(always == shown, "--color always, in a pipe")
        done = run([*diagnose, "--color", "blue"])
        check(done.returncode == 1 and "auto" in done.stderr, "another word is refused", done)

        done = run([options.tracetool, "merge", traces, "-q", "-o", f"{folder}/run.ttrace"])
        check(done.returncode == 0 and not done.stderr, "--quiet prints nothing", done)
        done = run([options.tracetool, "merge", f"{folder}/none", "-q"])
        check(done.returncode == 2 and "none" in done.stderr, "but errors", done)

        wide = f"{folder}/跑步-東京-é"
        os.rename(traces, wide)
        for name in os.listdir(wide):
            os.rename(f"{wide}/{name}", f"{wide}/{name.replace('simulated', '模型')}")
        check(run([options.tracetool, "runs", wide]).returncode == 0, "runs lists a directory with other characters")

        for words, meant in ((["analyze", wide, "--only", "stragler"], "stragglers"), (["diagnose", wide, "--only", "straglers"], "straggler"),
                             (["diff", wide, wide, "--a-steps", "0", "--b-steps", "1", "--only", "kernel"], "kernels"), (["analyze", wide, "--only", "kernels", "--sort", "sum_nss"], "sum_ns")):
            done = run([options.tracetool, *words])
            check(done.returncode == 1 and f"did you mean {meant}?" in done.stderr, f"{words[-1]}: did you mean {meant}?", done)
        titles = run([options.tracetool, "analyze", wide, "--only", "kernels", "--sort", "median"])
        check(titles.returncode == 0 and titles.stdout == run([options.tracetool, "analyze", wide, "--only", "kernels", "--sort", "median_ns"]).stdout, "a column may be named as it is printed", titles)
        for value in ("0", "-1", "x"):
            done = run([options.tracetool, "analyze", wide, "--only", "kernels", "--limit", value])
            check(done.returncode == 1 and f"{value} not in range" in done.stderr and done.stderr.count("\n") == 1, f"--limit {value}: a range", done)
    finish()


if __name__ == "__main__":
    main()
