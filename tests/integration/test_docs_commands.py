#!/usr/bin/env python3
"""README.md and docs/: each `tracetool ...` command line runs, exits as it should, and prints something.

  test_docs_commands.py --agent PATH --simulated PATH --tracetool PATH

Looked at are lines of code blocks, and code in the text that names an input. Options are kept as the page has them. An input is replaced by one
of its kind from a simulated run (recordings, merged file, profile of rank 0), and what follows `record ... --` by the simulated training, so a clone
with nothing next to it can run the test. What follows `|`, `;`, `&&` or `>` is left to the reader's shell."""
import glob
import gzip
import os
import re
import shlex
import shutil
import subprocess
import time

import nsys_reports
import slow_snapshot
from harness import Folder, arguments, check, finish, run

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
OTHER_TESTS = {"docs/workflow.md": "test_workflow.py runs its commands and compares what they print",
               "docs/memory-exercises.md": "test_memory_exercises.py does"}

# Lines that cannot run here, and why. A pattern that no line matches any more fails the test.
CANNOT = {r"tracetool open ": "it serves until Ctrl-C; test_open runs it", r"tracetool doctor \$\(pgrep": "test_doctor runs it with a process"}

STATUS = {"check": (0, 4, 5)}  # all of them are answers
FENCED = re.compile(r"^```\w*\n(.*?)^```$", re.M | re.S)
INDENTED = re.compile(r"(?:^    .*\n)+", re.M)
COMMAND = re.compile(r"(?:[A-Z_0-9]+=\S+ )*(?:\S*/)?tracetool (?!:)")
INLINE = re.compile(r"(?<!`)`((?:[A-Z_0-9]+=\S+ )*tracetool [^`]+)`")
PLACEHOLDER = re.compile(r"(?<!\S)(?:[A-Z]+(?:\.\.\.)?|\[.*)(?!\S)")  # PATH..., DIR, CMD: a form of the command, and no command
OUTPUTS = ("--output", "--report", "--summary", "--pickle")
INPUTS = ("--baseline", "--diff")


def code_lines(text):
    """Lines of code blocks, and code in the text that has an input and no placeholder."""
    for block in FENCED.findall(text) + INDENTED.findall(FENCED.sub("", text)):
        for line in block.replace("\\\n", " ").splitlines():
            line = line.strip().removeprefix("$ ")
            if COMMAND.match(line):
                yield line
    for code in INLINE.findall(FENCED.sub("", text)):
        if re.search(r"[/.]", code) and not PLACEHOLDER.search(code):
            yield code


def lines_of_pages():
    """{(page, line)}, in the order of the pages."""
    found = {}
    for path in [os.path.join(ROOT, "README.md"), *sorted(glob.glob(os.path.join(ROOT, "docs", "*.md")))]:
        page = os.path.relpath(path, ROOT)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        found.update({(page, line): None for line in code_lines(text) if page not in OTHER_TESTS})
    return list(found)


def words_of(line):
    """(environment, words) of the first command in the line."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|;&>")
    lexer.whitespace_split, lexer.commenters = True, "#"
    words = []
    for word in lexer:
        if re.fullmatch(r"[|;&>]+", word):
            break
        words.append(word)
    environment = {}
    while re.fullmatch(r"[A-Z_0-9]+=.*", words[0]):
        name, _, value = words.pop(0).partition("=")
        environment[name] = value
    return environment, words


class Inputs:
    """What stands in for the reader's traces: a simulated run, its merged file, and the profile of its rank 0."""

    def __init__(self, folder, options):
        self.folder, self.options, self.values = folder, options, {}
        self.made = os.path.join(folder, "made")
        self.bash([options.simulated, "--agent", options.agent, "--ranks", "8", "--steps", "84", "--step-us", "1000", "--ring-bytes", "4M", "--dir", f"{self.made}/traces"])
        self.bash([options.tracetool, "merge", f"{self.made}/traces", "-o", f"{self.made}/run.ttrace"])
        self.bash([options.tracetool, "export", "--kineto", f"{self.made}/run.ttrace", "--ranks", "0", "-o", f"{self.made}/kineto"])

    def bash(self, words):
        done = run(words, cwd=self.folder)
        check(done.returncode == 0, f"made: {' '.join(os.path.basename(word) for word in words[:3])}", done.stderr)

    def takes_value(self, command):
        """The options of a command that are followed by a value, as its help has them."""
        if command not in self.values:
            shown = run([self.options.tracetool, "help", command]).stdout
            self.values[command] = {name for names in re.findall(r"^  (?:(-\w),)?(--[\w-]+) (?=\S)", shown, re.M) for name in names if name}
        return self.values[command]

    def provide(self, name):
        """Makes the input of that name below the folder, if there is none; returns the name there."""
        name = name.lstrip("/").rstrip("/") or "traces"
        path = os.path.join(self.folder, name.replace("*", "x"))
        if path.endswith(".ring"):
            return sorted(glob.glob(f"{self.made}/traces/*/*.ring"))[0]
        if os.path.lexists(path):
            return name
        os.makedirs(os.path.dirname(path), exist_ok=True)
        profile = f"{self.made}/kineto/rank0.pt.trace.json.gz"
        if path.endswith(".ttrace"):
            os.link(f"{self.made}/run.ttrace", path)
        elif path.endswith(".sqlite"):
            nsys_reports.write_report(path, "3.28.1", 1)
        elif path.endswith(".pickle"):
            slow_snapshot.write(path, slow_snapshot.made_snapshot(1))
        elif path.endswith(".json.gz"):
            os.link(profile, path)
        elif path.endswith(".json"):
            with gzip.open(profile) as packed, open(path, "wb") as plain:
                shutil.copyfileobj(packed, plain)
        else:
            shutil.copytree(f"{self.made}/traces", path, copy_function=os.link)
        return path if "*" in name else name

    def output(self, name):
        path = os.path.join(self.folder, name.lstrip("/"))
        if name != "-":
            os.makedirs(os.path.dirname(path), exist_ok=True)
        return name.lstrip("/")

    def command(self, words):
        """The words to run for those of the page."""
        names = ("record", "doctor", "runs", "info", "merge", "analyze", "diff", "check", "diagnose", "report", "export", "open", "dump", "mem", "help")
        command = words[1] if words[1] in names else ""
        ready = [self.options.tracetool, *words[1:2]] if command else [self.options.tracetool]
        rest = words[2:] if command else words[1:]
        program = []
        if command == "record" and "--" in rest:
            at = rest.index("--")
            asked = rest[at + 1:]
            ours = asked[1:] if os.path.basename(asked[0]) == "simulated_training" else ["--ranks", "1", "--steps", "3"]
            rest, program = rest[:at], ["--", self.options.simulated, *ours]
        before = ""
        for word in rest:
            if before in ("-o", *OUTPUTS):
                word = self.output(word)
            elif before == "--rank":
                word = word.partition("=")[0] + "=" + self.provide(word.partition("=")[2])
            elif before in INPUTS or (not word.startswith("-") and before not in self.takes_value(command) and command != "help"):
                word = self.provide(word)
            ready.append(word)
            before = word
        return ready + program


def runs(inputs, page, line):
    environment, words = words_of(line)
    ready = inputs.command(words)
    if words[1] == "record":
        environment.setdefault("TRACETOOL_DIR", "recorded")  # not into the traces that other lines read
    there = set(os.listdir(inputs.folder))
    try:
        done = run(ready, cwd=inputs.folder, timeout=60, **environment)
    except subprocess.TimeoutExpired:
        return check(False, f"{page}: {line}", "it does not end within a minute")
    written = ready[ready.index("-o") + 1] if "-o" in ready else "-"
    printed = done.stdout + done.stderr != "" or os.path.getsize(os.path.join(inputs.folder, written)) > 0
    for name in set(os.listdir(inputs.folder)) - there:  # the next line may write the same default output
        path = os.path.join(inputs.folder, name)
        (shutil.rmtree if os.path.isdir(path) else os.remove)(path)
    good = done.returncode in STATUS.get(words[1], (0,)) and printed
    return check(good, f"{page}: {line}", lambda: f"ran {shlex.join(ready[1:])}: status {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}")


def main():
    options = arguments("agent", "simulated", "tracetool")
    began = time.monotonic()
    lines = lines_of_pages()
    check(len(lines) > 100, "the pages have commands", len(lines))
    unused = [pattern for pattern in CANNOT if not any(re.match(pattern, line) for _, line in lines)]
    check(not unused, "each line that cannot run is in a page", unused)
    with Folder() as folder:
        inputs = Inputs(folder, options)
        for page, line in lines:
            if not any(re.match(pattern, line) for pattern in CANNOT):
                runs(inputs, page, line)
    print(f"{len(lines)} lines in {time.monotonic() - began:.0f} s")
    finish()


if __name__ == "__main__":
    main()
