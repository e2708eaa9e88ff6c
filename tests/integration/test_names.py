#!/usr/bin/env python3
"""Hostile names of kernels, ranges, threads, devices, hosts, runs, tools, files and directories. Every command prints them, in every format,
without a byte that controls a terminal, changes the text direction or forges a line. Suggested commands name the right file and run nothing
else when pasted. JSON keeps the exact names.

  test_names.py --tracetool PATH
"""
import csv
import io
import json
import os
import re
import shutil
import subprocess

from harness import Folder, arguments, check, clean_environment, finish, first, on_terminal
from made_profiles import STEP, profile

HERE = os.path.dirname(os.path.abspath(__file__))
CORPUS = os.path.join(HERE, "..", "fuzz", "corpus")
BAD = "\x1b]0;owned\x07\x1b[31m\x7f\x9b31m\u202eabc\u2066\u200f\u061c\u2028\r\n"
FORGED = "FORGED ok"  # what a name's second line begins with
NAME = f"{BAD}{FORGED}\n|<b>&amp;`x`,\"'"
FORMULA = f"=cmd|' /C calc'!A1{BAD}{FORGED}"
# A directory: what a shell would run, and a byte that is no UTF-8.
PLACE = "sp dir;touch pwned;$(touch pwned)`touch pwned`'" + BAD + FORGED + "\udcff"
MISLEADING = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
HEADER_TEXTS = {"host": (104, 64), "run": (208, 64), "program": (272, 256), "version": (528, 32), "holder": (816, 64)}  # common/layout.h
HEADER_CUPTI_STATE, TAKEN = 1000, 3


class Tool:
    """Runs the tool and checks all its output."""

    def __init__(self, path, folder):
        self.path, self.folder, self.wrong, self.advised = path, folder, [], []
        self.bin = os.path.join(folder, "bin")
        os.mkdir(self.bin)
        for name in ("tracetool", "open"):  # stand-ins: they print their words
            with open(os.path.join(self.bin, name), "w", encoding="utf-8") as out:
                out.write("#!/bin/sh\nprintf '%s\\0' \"$0\" \"$@\"\n")
            os.chmod(out.name, 0o755)

    def __call__(self, *words, codes=(0,), stdin=None, env=None, is_text=True):
        done = subprocess.run([self.path, *map(os.fsencode, words)], cwd=self.folder, env=clean_environment(**(env or {})), stdin=stdin or subprocess.DEVNULL,
                              capture_output=True, timeout=120)
        what = " ".join(ascii(word)[1:-1] for word in words if " " not in word)
        check(done.returncode in codes, f"exit status of {what!r}", done)
        self.look(what, done.stderr)
        if is_text:
            self.look(what, done.stdout)
        return done

    def look(self, what, data):
        """Collects the faults in the bytes of an output."""
        try:
            text = data.decode().replace("\r\n", "\n" if "--format csv" in what else "\r\n")
        except UnicodeDecodeError as error:
            return self.wrong.append(f"{what}: {error}")
        for line in text.split("\n"):
            if MISLEADING.search(line) or line.lstrip(" #*-").startswith(FORGED):
                self.wrong.append(f"{what}: {line!r}")
        self.advised += [(what, line) for line in re.findall(r"^(?:tracetool: )?(?: *next(?:, after every node has merged)?: +)(.*)", text, re.M)]
        self.advised += [(what, line) for line in re.findall(r"; next: (.*)", text)]
        self.advised += [(what, line) for line in re.findall(r"`(tracetool (?:info|runs|diff|analyze) .*?)` (?:lists|compares|shows|summarizes)", text)]

    def all_held(self, what):
        check(not self.wrong, what, lambda: first(self.wrong, 12))
        self.wrong = []


def make_profile(path, rank=0, **more):
    kernels = [(NAME, 1_000_000), (FORMULA, 500_000), *STEP]
    profile(path, kernels=kernels, rank=rank, steps=6, **more)
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    trace.update({"host_name": NAME, "deviceProperties": [{"id": rank, "name": NAME, "numSms": 132}], "traceName": NAME, NAME: NAME})
    events, begin = trace["traceEvents"], trace["traceEvents"][0]["ts"]
    end = max(event["ts"] + event["dur"] for event in events)
    pid = 100 + rank
    common = {"ph": "X", "pid": pid, "tid": 1, "ts": begin + 5, "dur": end - begin - 10}
    events += [{**common, "cat": "user_annotation", "name": NAME}, {**common, "cat": "cpu_op", "name": "aten::" + NAME, "args": {NAME: NAME, "Ev Idx": 1}},
               {**common, "cat": "python_function", "name": f"nn.Module: {NAME}_0", "args": {"Python id": 1, "Python module id": 0}},
               {**common, "cat": NAME, "name": NAME, "tid": NAME},
               {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": NAME}},
               {"ph": "M", "name": "thread_name", "pid": pid, "tid": 1, "args": {"name": NAME}},
               {"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce" + NAME, "pid": 0, "tid": 9, "ts": begin + 50, "dur": 900,
                "args": {"device": rank, "stream": 9, "Process Group Name": NAME, "Process Group Description": NAME, "Collective name": NAME}}]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(trace, file)
    return path


def make_recording(path, source):
    """A recording from the fuzz corpus with hostile names in its header and its records."""
    with open(os.path.join(CORPUS, "ring", source), "rb") as file:
        data = bytearray(file.read())
    for at, size in HEADER_TEXTS.values():
        text = NAME.encode()[:size - 1]
        data[at:at + size] = text + bytes(size - len(text))
    for name in (b"NVIDIA H100 80GB HBM3", b"a name", b"sgemm"):
        data = data.replace(name, (BAD + FORGED).encode()[:len(name)])
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    return path


def check_reading(tool, before, after, ring):
    """Runs each reading command in each format on a recording, and on profiles in directories with hostile names."""
    merged = f"{PLACE}/m.ttrace"
    rank0 = f"{before}/rank0.json"
    tool("merge", before, "-o", merged, "--report", "-")
    tool("merge", before, "--partial", "-o", f"{PLACE}/part.ttrace")
    for path in (before, merged, ring, rank0):
        tool("info", path)
        tool("info", path, "--json")
        tool("diagnose", path)
        tool("diagnose", path, "--format", "json")
        tool("analyze", path)
    tool("runs", PLACE)
    tool("runs", PLACE, "--json")
    tool("runs", os.path.dirname(ring))
    tool("doctor", os.path.dirname(ring), codes=(0, 3, 4))
    tool("doctor", os.path.dirname(ring), "--json", codes=(0, 3, 4))
    tool("doctor", PLACE, codes=(0, 3, 4))
    tool("doctor", env={"TRACETOOL_DIR": os.fsdecode(os.fsencode(PLACE)), "CUDA_INJECTION64_PATH": BAD + FORGED}, codes=(0, 4))
    for path in (rank0, ring, merged):
        tool("dump", path, codes=(0, 3))
        tool("dump", path, "--kinds", "kernel", codes=(0, 3))
    tool("dump", before, codes=(1,))
    tables = re.findall(r"^(\w+): ", tool("analyze", "--list").stdout.decode(), re.M)
    for form in ("text", "md", "json"):
        tool("analyze", before, "--only", ",".join(tables), "--format", form)
        tool("diff", before, after, "--format", form)
    for table in tables:
        tool("analyze", before, "--format", "csv", "--only", table)
    for table in ("runs", "parts", "kernels", "sequence"):
        tool("diff", before, after, "--format", "csv", "--only", table)
    for words in ([], ["--json"], ["--summary", "summary.md"]):
        for file, baseline in ((after, before), (before, after), (before, before)):
            tool("check", file, "--baseline", baseline, "--max-regress", "3", *words, codes=(0, 4, 5))
    with open(f"{tool.folder}/summary.md", "rb") as file:
        tool.look("check --summary", file.read())
    tool("report", before, "-o", f"{PLACE}/page.html")
    tool.look("report -o -", tool("report", before, "-o", "-").stdout)
    for words in (["--chrome"], ["--perfetto"], ["--kineto"], ["--pftrace"], ["--folded"], ["--folded", "--weight", "cpu"]):
        tool("export", *words, before, "-o", f"{PLACE}/out{words[0]}")
        if words[0] != "--kineto":
            tool("export", *words, rank0, "-o", "-", is_text=words[0] != "--pftrace")
    tool("export", "--perfetto", before, "--max-size", "30k", "-o", f"{PLACE}/split.json")
    tool.all_held("what is read from hostile files reaches no terminal as it is")


def check_errors(tool, before):
    """Messages on stderr: usage errors, missing, damaged and foreign files."""
    bad = f"{PLACE}/{BAD}{FORGED}"
    with open(os.path.join(tool.folder, f"{PLACE}/foreign.json"), "w", encoding="utf-8") as out:
        json.dump({"a": NAME}, out)
    with open(os.path.join(tool.folder, f"{PLACE}/damaged.json"), "w", encoding="utf-8") as out:
        out.write('{"traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 1, "cat": "cpu_op", "pid": 1, "tid": 1}, {"ph": \x1b[31m\nFORGED, "ts": }]}')
    reading = ("info", "dump", "analyze", "diagnose")
    for command in reading:
        tool(command, bad, codes=(1, 2))
        tool(command, f"{PLACE}/foreign.json", codes=(3,))
        tool(command, f"{PLACE}/damaged.json", codes=(0, 3))
        tool(command, before, f"--{BAD}{FORGED}", codes=(1,))
    for command in ("merge", "report", "export"):
        tool(command, bad, "-o", "x", *(["--chrome"] if command == "export" else []), codes=(1, 2))
        tool(command, before, "-o", f"{bad}/none/x", *(["--chrome"] if command == "export" else []), codes=(1, 2))
    tool("info", before, "--run", NAME, codes=(1,))
    tool("info", before, "--rank", f"3{BAD}{FORGED}", codes=(1,))
    tool("analyze", before, "--only", NAME, codes=(1,))
    tool("analyze", before, "--classes", bad, codes=(1, 2))
    tool("diagnose", before, "--only", NAME, codes=(1,))
    tool("diff", bad, before, codes=(1, 2))
    tool("check", bad, "--baseline", before, "--max-regress", "3", codes=(1, 2))
    tool("runs", bad, codes=(2,))
    tool("doctor", bad, codes=(1, 2, 3, 4))
    tool("doctor", f"{before}/rank0.json", codes=(1,))
    tool(NAME, codes=(1,))
    tool("help", NAME, codes=(1,))
    tool("record", "-o", "records", "--", bad, codes=(2, 126, 127))
    tool("record", f"--{BAD}{FORGED}", "--", "true", codes=(1,))
    tool.all_held("messages that have names in them are single lines of harmless text")


def check_terminal(tool, before):
    """The same with both streams on a terminal, which only the progress line and the colors of findings may control."""
    for words in (["info", before], ["diagnose", before], ["analyze", before, "--only", "kernels"], ["dump", f"{before}/rank0.json", "--kinds", "kernel"],
                  ["info", f"{PLACE}/no such file"]):
        data = re.sub(rb"\x1b\[(?:1|31|32|33)m([^\x1b\n]*)\x1b\[0m", rb"\1", on_terminal([tool.path, *map(os.fsencode, words)], tool.folder)[1])
        tool.look(f"{words[0]} on a terminal", re.sub(rb"\r\x1b\[K(?:[ -~]*events)?", b"", data).replace(b"\r\n", b"\n"))
    tool.all_held("nor on a terminal")


def check_advice(tool):
    """Pastes every suggested command into shells."""
    check(len({what for what, _ in tool.advised}) > 10, "many commands advise one", tool.advised)
    scratch = os.path.join(tool.folder, "scratch")
    wrong = []
    for what, line in sorted(set(tool.advised)):
        for shell in filter(None, map(shutil.which, ("sh", "bash"))):
            shutil.rmtree(scratch, ignore_errors=True)
            os.mkdir(scratch)
            done = subprocess.run([shell, "-c", line], cwd=scratch, env={"PATH": tool.bin}, stdin=subprocess.DEVNULL, capture_output=True, check=False)
            words = [os.fsdecode(word) for word in done.stdout.split(b"\0")]
            if os.listdir(scratch):
                wrong.append(f"{what}: {shell} runs what is in {line!r}")
            elif shell.endswith("bash") and "dir;touch" in line and not any(word.startswith((PLACE, f"rings {PLACE}")) for word in words):
                wrong.append(f"{what}: {line!r} names {words!r}")
    check(not wrong, "an advised command runs the tool alone, and names the file", lambda: first(wrong, 12))


def check_data(tool, before):
    """JSON keeps the exact names; CSV prints them like text, and no cell is a formula."""
    rows = json.loads(tool("analyze", before, "--only", "kernels", "--format", "json").stdout)["kernels"]
    check({NAME, FORMULA} <= {row["name"] for row in rows}, "JSON has every name exactly", [row["name"] for row in rows])
    info = json.loads(tool("info", before, "--json").stdout)
    check(info["ranks"][0]["host"] == NAME, "info --json has the host exactly", info["ranks"][0])
    names = [row["name"] for row in csv.DictReader(io.StringIO(tool("analyze", before, "--only", "kernels", "--format", "csv").stdout.decode(), newline=""))]
    shown = "\\x1b]0;owned\\x07\\x1b[31m\\x7f\\u009b31m\\u202eabc\\u2066\\u200f\\u061c\\u2028\\r\\n"
    check({shown + FORGED + "\\n|<b>&amp;`x`,\"'", "'=cmd|' /C calc'!A1" + shown + FORGED} <= set(names), "CSV has them in one line each, and no formula", names)


def main():
    options = arguments("tracetool")
    with Folder() as folder:
        tool = Tool(options.tracetool, folder)
        os.chdir(folder)
        before, after = f"{PLACE}/before", f"{PLACE}/after"
        for directory, slower in ((before, None), (after, {NAME: 1.5})):
            for rank in (0, 1):
                make_profile(f"{directory}/rank{rank}.json", rank, slower=slower)
        ring = make_recording(f"rings {PLACE}/run{PLACE}/x.ring", "two_steps.ring")
        make_recording(f"rings {PLACE}/run{PLACE}/y.ring", "all_kinds.ring")
        check_reading(tool, before, after, ring)
        check_errors(tool, before)
        check_terminal(tool, before)
        check_advice(tool)
        check_data(tool, before)
    finish()


if __name__ == "__main__":
    main()
