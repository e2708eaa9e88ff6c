#!/usr/bin/env python3
"""`tracetool PATH`: the first look says what `diagnose` says first, in a screen, with commands that run as printed.

  test_look.py --tracetool PATH --simulated PATH --agent PATH
"""
import json
import os
import shlex

from harness import Folder, arguments, check, finish, run


def main():
    options = arguments("tracetool", "simulated", "agent")
    with Folder() as folder:
        traces = f"{folder}/my traces"
        done = run([options.simulated, "--agent", options.agent, "--dir", traces, "--ranks", "2", "--steps", "6", "--straggler", "1", "--straggler-us", "5000"], cwd=folder)
        check(done.returncode == 0, "a training is recorded", done)
        done = run([options.tracetool, "my traces"], cwd=folder)
        lines = done.stdout.splitlines()
        check(done.returncode == 0 and len(lines) < 30, "tracetool PATH: one screen", done)
        check(lines[0].startswith("2 processes on 1 host, ") and "events" in lines[0], "it begins with what is in the traces", lines[:1])
        findings = json.loads(run([options.tracetool, "diagnose", traces, "--format", "json"]).stdout)["findings"]
        check(findings and f"): {findings[0]['title']}" in done.stdout, "the first finding is that of diagnose", (findings[:1], lines))
        commands = [line.split("next:", 1)[1].split("  #")[0].strip() for line in lines if "next:" in line]
        check(len(commands) >= 3, "it names the next commands", lines)
        for command in commands:
            words = shlex.split(command)
            again = run([options.tracetool, *words[1:]], cwd=folder)
            check(words[0] == "tracetool" and again.returncode == 0, f"`{' '.join(words[:2])}` runs as it is printed", (command, again.stderr[-500:]))
        os.rename(traces, f"{folder}/traces")
        check(run([options.tracetool, "traces"], cwd=folder).returncode == 0, "a directory without a slash is a path", folder)
        done = run([options.tracetool, "trases"], cwd=folder)
        check(done.returncode == 1 and "no command, file or directory named trases" in done.stderr, "another word is a command that is unknown", done)
        done = run([options.tracetool, "./trases"], cwd=folder)
        check(done.returncode == 2 and "no such file" in done.stderr, "a path that does not exist is said to be one", done)
        for words, said in ((["--foo"], "unknown option --foo"), (["--verson"], "did you mean --version?"), (["--foo", "info"], "unknown option --foo")):
            done = run([options.tracetool, *words])
            check(done.returncode == 1 and said in done.stderr, f"tracetool {' '.join(words)}: {said}", done)
        done = run([options.tracetool, "-V"])
        check(done.returncode == 0 and "reads recordings (*.ring) of format" in done.stdout, "-V names the formats", done)
    finish()


if __name__ == "__main__":
    main()
