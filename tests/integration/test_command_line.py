#!/usr/bin/env python3
"""What a command line may ask for and what is said of the rest: no option is taken in silence, a message names the next
step. On synthesized profiles; needs no agent.

  test_command_line.py --tracetool PATH
"""
import gzip
import json
import os
import re
import subprocess
import sys

from harness import Folder, arguments, check, finish, on_terminal, run

BASE_NS = 1_759_300_074_000_000_000


def profile(path, rank, start_us=1000.0, world=2, pid=None, host="", steps=0):
    """A small profile of one rank; with `steps`, ranges of ProfilerStep#0 to that, each with a kernel."""
    pid = 70 + rank if pid is None else pid
    events = [{"ph": "X", "cat": "cpu_op", "name": "aten::add", "pid": pid, "tid": pid, "ts": start_us, "dur": 5}]
    for step in range(steps):
        at = start_us + 100 * step
        events.append({"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{step}", "pid": pid, "tid": pid,
                       "ts": at + 10, "dur": 80})
        for index, name in enumerate(("ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", "gemm")):
            events.append({"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7 + index, "ts": at + 20, "dur": 30,
                           "args": {"device": 0, "stream": 7 + index, "correlation": 10 * step + index}})
    header = {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": rank, "world_size": world},
              "baseTimeNanoseconds": BASE_NS}
    if host:
        header["host_name"] = host
    with open(path, "w", encoding="utf-8") as out:
        json.dump({**header, "traceEvents": events}, out)
    return path


class Tool:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def __call__(self, *words):
        return run([self.path, *map(str, words)], cwd=self.folder)

    def refused(self, what, words, *needles, code=1):
        done = self(*words)
        check(done.returncode == code and done.stderr.startswith("tracetool: ") and len(done.stderr.splitlines()) == 1 and
              all(needle in done.stderr for needle in needles), what, done)

    def kept(self, *words):
        done = self("export", "--chrome", "--json", "-o", "kept.json", *words)
        return json.loads(done.stdout)["kept"] if done.returncode == 0 else done


def check_ranks_given(tool):
    for rank in (0, 1):
        profile(f"{tool.folder}/rank{rank}.json", rank)
    tool.refused("one file as two ranks", ["info", "--rank", "3=rank0.json", "--rank", "4=rank0.json"], "rank0.json",
                 "--rank 3", "--rank 4")
    tool.refused("two files as one rank that are no phases",
                 ["info", "--rank", "0=rank0.json", "--rank", "0=rank1.json"], "rank0.json", "rank1.json")
    tool.refused("a directory as a rank", ["info", "--rank", "3=."], "--rank 3=.", "is a directory")
    tool("merge", "rank0.json", "-o", "rank0.ttrace")
    tool.refused("a file and a merged one that holds it", ["merge", "rank0.json", "rank0.ttrace", "-o", "both.ttrace"], "duplicate rank 0: two inputs contain rank0.json")
    for link in range(8):
        os.symlink(f"rank{link % 2}.json", f"{tool.folder}/link{link}")
    words = [word for link in range(8) for word in ("--rank", f"{link}=link{link}")]
    done = tool("info", "--json", *words)
    found = [rank["rank"] for rank in json.loads(done.stdout)["ranks"]] if done.returncode == 0 else done
    check(found == list(range(8)), "links to two files are the ranks that they are given as", found)


def check_selection(tool):
    os.mkdir(f"{tool.folder}/set")
    for rank in range(2):
        profile(f"{tool.folder}/set/rank{rank}.json", rank, steps=5)
    tool.refused("an unknown rank", ["export", "--chrome", "set", "--ranks", "0-1,9"], "no rank 9", "ranks 0-1")
    tool.refused("an unknown step", ["export", "--chrome", "set", "--steps", "3-100"], "no step 5", "0-4")
    check(tool.kept("set", "--ranks", "1") == 16, "a known rank is kept", tool.kept("set", "--ranks", "1"))
    check(tool.kept("set", "--steps", "3-") == 12, "an open range takes what there is", tool.kept("set", "--steps", "3-"))
    check(tool.kept("set", "--kinds", "nccl") == 10, "kernels of collectives are of the kind nccl",
          tool.kept("set", "--kinds", "nccl"))
    check(tool.kept("set", "--kinds", "kernel") == 20, "and of the kind kernel", tool.kept("set", "--kinds", "kernel"))
    done = tool("info", "set")
    check("nccl calls" in done.stdout, "info says that its column counts calls", done.stdout)


def without_rank(path):
    """Of a profile: as a program that does not use torch.distributed has it."""
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    del trace["distributedInfo"]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(trace, file)


READING = (["analyze"], ["diagnose"], ["export", "--chrome", "-o", "x.json"], ["report", "-o", "x.html"], ["merge", "-o", "x.ttrace"])


def check_unrelated(tool):
    """Inputs that lie too far apart for one run are refused by whatever would make one trace of them."""
    profile(f"{tool.folder}/early.json", 0)
    profile(f"{tool.folder}/late.json", 1, start_us=70_000e6)
    for command in READING:
        tool.refused(f"{command[0]}: ranks that lie hours apart", [*command, "early.json", "late.json"], "2 unrelated runs", "early.json, from 2025-10-01 06:27:54 UTC",
                     "late.json, from 2025-10-02 01:54:34 UTC", "19.4 h", "`tracetool diff early.json late.json`", "--run", "merge --force")
    check(not os.path.exists(f"{tool.folder}/x.ttrace"), "nothing is left of a refused merge")
    done = tool("merge", "early.json", "late.json", "-o", "x.ttrace", "--force")
    check(done.returncode == 0 and "warning: 2 unrelated runs" in done.stderr, "--force merges them with a warning", done)
    check(tool("analyze", "x.ttrace").returncode == 0, "and what it made is read")
    done = tool("info", "early.json", "late.json")
    check(done.returncode == 0 and "2 unrelated runs" in done.stdout, "info describes them, and says so", done)
    notes = json.loads(tool("info", "--json", "early.json", "late.json").stdout)["notes"]
    check(any("2 unrelated runs" in note for note in notes), "also as JSON", notes)

    os.mkdir(f"{tool.folder}/two")
    for number, start_us in ((0, 1000.0), (4, 3600e6)):
        profile(f"{tool.folder}/two/workers_{number}.pt.trace.json", 0, start_us, pid=300 + number)
        without_rank(f"{tool.folder}/two/workers_{number}.pt.trace.json")
    tool.refused("a directory with two runs of one process each", ["diagnose", "two"], "two/workers_0.pt.trace.json", "two/workers_4.pt.trace.json", "tracetool diff")
    done = tool("merge", "--rank", "0=two/workers_0.pt.trace.json", "--rank", "1=two/workers_4.pt.trace.json", "-o", "x.ttrace")
    check(done.returncode == 0 and "overlap in time" in done.stderr, "ranks that were named are of one run within an hour, with a warning", done)

    profile(f"{tool.folder}/soon.json", 1, start_us=60e6)
    done = tool("merge", "early.json", "soon.json", "-o", "x.ttrace")
    lines = [line for line in done.stderr.splitlines() if "overlap in time" in line]
    check(done.returncode == 0 and len(lines) == 1 and "early.json" in lines[0] and "60.00 s" in lines[0],
          "what does not overlap is merged with a warning", done)
    done = tool("merge", "set", "-o", "x.ttrace")
    check("overlap" not in done.stderr, "what overlaps is merged without one", done)
    profile(f"{tool.folder}/other.json", 1, world=64)
    tool.refused("runs of other sizes contradict", ["merge", "early.json", "other.json", "-o", "x.ttrace"], "early.json",
                 "2 ranks", "other.json", "64 ranks")
    done = tool("merge", "--force", "early.json", "other.json", "-o", "x.ttrace")
    check(done.returncode == 0 and "64 ranks" in done.stderr, "--force merges them, too", done)
    tool.refused("a rank twice contradicts", ["merge", "early.json", "set/rank0.json", "-o", "x.ttrace"],
                 "duplicate rank 0", "early.json", "set/rank0.json", "`tracetool diff early.json set/rank0.json`")


def check_kineto_directories(tool):
    """Profiles without a run id that lie in one directory are one run; the newest of several is taken."""
    os.makedirs(f"{tool.folder}/many/old")
    os.makedirs(f"{tool.folder}/many/new")
    for rank in range(2):
        profile(f"{tool.folder}/many/new/rank{rank}.json", rank, start_us=9e9)
        profile(f"{tool.folder}/many/old/rank{rank}.json", rank)
    done = tool("info", "--json", "many")
    sources = [rank["source"] for rank in json.loads(done.stdout)["ranks"]]
    check(sources == ["many/new/rank0.json", "many/new/rank1.json"] and "2 runs" in done.stderr,
          "the newer directory is taken", done)
    done = tool("info", "--json", "many", "--run", "old")
    check(["many/old/" in rank["source"] for rank in json.loads(done.stdout)["ranks"]] == [True, True],
          "the other by its name", done)
    rows = json.loads(tool("runs", "many", "--json").stdout)["runs"]
    check([(row["run"], row["ranks"], row["start_ns"]) for row in rows] ==
          [("old", [0, 1], BASE_NS + 1_000_000), ("new", [0, 1], BASE_NS + 9_000_000_000_000)],
          "runs lists both, with the time of their first event", rows)
    done = tool("merge", "many/new", "-o", "many/new/run.ttrace")
    done = tool("info", "--json", "many/new")
    check(len(json.loads(done.stdout)["ranks"]) == 2 and "skipped many/new/run.ttrace" in done.stderr,
          "a merged file of profiles beside them is skipped", done)


def check_cut(tool):
    """Of a file that was cut: how much was read, and that the rest is missing."""
    path = profile(f"{tool.folder}/long.json", 0, steps=3000)
    with open(path, "rb") as file:
        text = file.read()
    packed = gzip.compress(text)
    with open(f"{tool.folder}/cut.json.gz", "wb") as out:
        out.write(packed[:len(packed) // 3])
    half = bytearray(gzip.compress(text[:len(text) // 2]) + gzip.compress(text[len(text) // 2:]))
    where = len(gzip.compress(text[:len(text) // 2])) + 2
    half[where] ^= 0xff  # the method of the second member
    with open(f"{tool.folder}/half.json.gz", "wb") as out:
        out.write(half)
    for name, needles in (("cut.json.gz", (f"byte {len(packed) // 3} of the compressed file", "events stored after it are missing")),
                          ("half.json.gz", ("bytes after it were not read", "events stored after it are missing"))):
        for words in (["merge", name, "-o", "c.ttrace"], ["export", "--chrome", name, "-o", "c.json"], ["info", name],
                      ["dump", name], ["export", "--chrome", "c.ttrace", "-o", "d.json"]):
            done = tool(*words)
            lines = [line for line in done.stderr.splitlines() if "is damaged" in line]
            check(done.returncode == 0 and len(lines) == 1 and all(needle in lines[0] for needle in needles),
                  f"{words[0]} {name}: what is missing", done.stderr)
    plain = text.replace(b'"name": "gemm"', bytes(len('"name": "gemm"')), 3)
    with open(f"{tool.folder}/hit.json", "wb") as out:
        out.write(plain)
    done = tool("merge", "hit.json", "-o", "c.ttrace")
    check("at least 3 events" in done.stderr and f"of {len(plain)} bytes" in done.stderr,
          "of damaged events how many, and how much of the text", done.stderr)


def check_words(tool):
    tool.refused("an unknown option and the nearest", ["export", "--perfeto", "set"], "--perfeto", "--perfetto")
    tool.refused("a far one", ["export", "--zzzzzzzz", "set"], "unknown option --zzzzzzzz", "tracetool export --help")
    tool.refused("an unknown command and the nearest", ["exprt"], "export", "runs")
    tool.refused("a missing option", ["check", "set"], "--baseline")
    tool.refused("an option without a value", ["export", "set", "--ranks"], "--ranks")
    tool.refused("no format", ["export", "set", "-o", "x"], "--pftrace", "--manifest", ".pftrace")
    done = tool("merge", "set/rank0.json", "-o", "one.ttrace")
    check("one.ttrace: 1 process, " in done.stderr, "one is one", done.stderr)
    done = tool("export", "--chrome", "one.ttrace", "-o", "one.json")
    check("next: open one.json in chrome://tracing" in done.stderr, "the next step names the viewer", done.stderr)
    for name, at, magic in (("a.pftrace", 0, b"\n"), ("a.json", 0, b"{"), ("a.json.gz", 0, b"\x1f\x8b"),
                            ("a.tar", 257, b"ustar"), ("a.tar.gz", 0, b"\x1f\x8b")):
        done = tool("export", "set", "-o", name)
        with open(f"{tool.folder}/{name}", "rb") as file:
            check(done.returncode == 0 and file.read(512)[at:].startswith(magic), f"-o {name} says the format", done)
    os.mkdir(f"{tool.folder}/elsewhere")
    done = run([tool.path, "export", "--pftrace", "../set"], cwd=f"{tool.folder}/elsewhere")
    check(done.returncode == 0 and os.listdir(f"{tool.folder}/elsewhere") == ["set.pftrace"] and
          sorted(os.listdir(f"{tool.folder}/set")) == ["rank0.json", "rank1.json"],
          "without -o an output lies in the working directory", done)
    done = tool("export", "--chrome", "set", "--max-size", "10kB", "-o", "split.json")
    check(done.returncode == 0 and "--pftrace" in done.stderr, "what is split names the smaller form", done.stderr)
    for words in (["help"], ["help", "export"], ["help", "runs"]):
        done = tool(*words)
        same = tool(*words[1:], "--help")
        check(done.returncode == 0 and done.stdout == same.stdout and not done.stderr, " ".join(words), done)
    tool.refused("help for what is none", ["help", "frob"], "frob", "export")
    check(tool().returncode == 1 and "export" in tool().stderr, "without a command it explains itself", tool())


# A value for each option that takes one, of every command that reads a trace.
VALUES = {"--run": "latest", "--rank": "0=set/rank0.json", "--only": "temporal", "--by": "step", "--format": "json",
          "--sort": "rank", "--limit": "1", "--ranks": "1", "--steps": "1-2", "--time": "0ms-1s", "--kinds": "kernel",
          "--min-dur": "1us", "--clock-domain": "rank", "--output": "-", "--memory": "64", "--max-size": "1GB", "--compress": "none", "--weight": "cpu", "--report": "-", "--flops-per-step": "1e15", "--peak-tflops": "100", "--peak-gb-per-s": "1000",
          "--classes": "kempnerforge", "--baseline": "set", "--max-regress": "3", "--min-share": "1", "--summary": "summary.md", "--baseline-run": "latest", "--step": "1", "--timeline-ranks": "1", "--title": "x", "--html": "-", "--color": "never",
          **{f"--{side}-{choice}": value for side in "ab" for choice, value in {"ranks": "1", "steps": "1-2", "time": "0ms-1s", "run": "latest"}.items()}}
OTHERS = {("diff", "--only"): "kernels", ("diagnose", "--only"): "straggler"}  # where the same word is another option
ELSE = {"merge": ["-o", "x.ttrace"], "export": ["--pftrace", "-o", "-"], "diff": ["set"], "check": ["--baseline", "set", "--max-regress", "3", "--allow-unjudged"], "report": ["-o", "-"]}  # what a command cannot do without


def check_one_word(tool):
    """An option before the path takes one word; the path stays a path."""
    tried = set()
    for command in ("info", "merge", "analyze", "diff", "check", "diagnose", "report", "export", "doctor", "runs", "dump"):
        for option in re.findall(r"^ +(?:-\w,)?(--[a-z-]+) \S", tool(command, "--help").stdout, re.MULTILINE):
            path = "set" if option in ("--run", "--ranks") or command in ("doctor", "runs", "diff", "check") else "set/rank1.json"
            other = ELSE.get(command, [])
            other = ["--folded", "-o", "-"] if option == "--weight" else other
            other = [word for i, word in enumerate(other) if option not in (word, other[i - 1])] if command == "check" else other
            words = [command, *([] if option == "--output" and command != "diff" else other)]
            words += ["--pftrace"] if option == "--output" and command == "export" else []
            words += ["--only", "classes"] if option == "--classes" and command == "analyze" else []
            value = OTHERS.get((command, option), VALUES[option])
            before, after = tool(*words, option, value, path), tool(*words, path, f"{option}={value}")
            done = 4 if command == "doctor" else 0  # who finds no recording
            # Other programs change the free space that doctor prints.
            same = len({re.sub(r"[\d.]+ \w+ free", "", each.stdout) for each in (before, after)}) == 1
            check(before.returncode == done and same, f"{command} {option}: takes one word", lambda: (before.stdout, after.stdout))
            tried.add(option)
    check(tried == set(VALUES), "each option was tried", tried ^ set(VALUES))
    done = tool("analyze", "--only", "steps,temporal", "--only", "kernels", "--format", "json", "set")
    check(done.returncode == 0 and list(json.loads(done.stdout)) == ["steps", "temporal", "kernels"],
          "--only: several in a word, and again", done)


def check_dump(tool):
    """dump prints what is chosen: lines of the full dump, in the order of time, from any form of the trace."""
    check(tool("merge", "set", "-o", "set.ttrace").returncode == 0, "merge")
    full = tool("dump", "set.ttrace").stdout.splitlines()

    def of(line):
        """(start, end, kind, rank, name) of a line."""
        start, duration, _, kind, _, rank, rest = line.split(" ", 6)
        return int(start), int(start) + int(duration), kind, int(rank.rstrip(",")), rest.split(": ", 1)[1]

    first = min(of(line)[0] for line in full)
    steps = [(of(line)[0], of(line)[1], of(line)[3]) for line in full if " ProfilerStep#2" in line or " ProfilerStep#3" in line]
    check(len(steps) == 4 and len(full) == 32, "the full dump has all steps", full)
    for words, keep in (
            (["--ranks", "1"], lambda start, end, kind, rank, name: rank == 1),
            (["--kinds", "kernel"], lambda start, end, kind, rank, name: kind == "kernel"),
            (["--kinds", "nccl,cpu_op"], lambda start, end, kind, rank, name: kind == "cpu_op" or name.startswith("nccl")),
            (["--time", "120us-240us"], lambda start, end, kind, rank, name: start < first + 240_000 and end > first + 120_000),
            (["--steps", "2-3"], lambda start, end, kind, rank, name: any(a <= start < b and r == rank for a, b, r in steps)),
            (["--steps", "2-3", "--ranks", "0", "--kinds", "kernel"],
             lambda start, end, kind, rank, name: kind == "kernel" and any(a <= start < b and r == rank == 0 for a, b, r in steps))):
        expected = [line for line in full if keep(*of(line))]
        check(0 < len(expected) < len(full), f"dump {words}: the choice chooses", expected)
        for path in ("set.ttrace", "set"):
            done = tool("dump", path, *words)
            check(done.returncode == 0 and sorted(done.stdout.splitlines()) == sorted(expected), f"dump {path} {words}",
                  lambda: (done.stdout, done.stderr, expected))
            check([of(line)[0] for line in done.stdout.splitlines()] == sorted(of(line)[0] for line in expected),
                  f"dump {path} {words}: in the order of time", done.stdout)
    check(sorted(tool("dump", "set", "--run", "latest").stdout.splitlines()) == sorted(full), "dump of a run is all of it")
    tool.refused("dump of a rank that is not there", ["dump", "set", "--ranks", "7"], "--ranks 7")
    tool.refused("dump of a directory without a choice", ["dump", "set"], "--run")


def check_streams(tool):
    """Standard streams that are closed, limits of the shell: the output is whole, or the exit status says that it is not."""
    profile(f"{tool.folder}/lone.json", 0)

    def shell(line):
        done = subprocess.run(["bash", "-c", line.replace("TOOL", tool.path)], cwd=tool.folder, capture_output=True, text=True, timeout=60)
        left = [name for name in os.listdir(tool.folder) if ".tmp." in name]
        check(not left, f"{line}: no temporary file stays", left)
        return done

    tool("merge", "lone.json", "-o", "whole.ttrace")
    whole = open(f"{tool.folder}/whole.ttrace", "rb").read()
    for closed in (">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"):
        done = shell(f"TOOL merge lone.json -o closed.ttrace {closed}")
        check(done.returncode == 0 and open(f"{tool.folder}/closed.ttrace", "rb").read() == whole, f"merge {closed}: the output is whole", done)
    done = shell("TOOL info lone.json >&-")
    check(done.returncode == 2 and "stdout: cannot write" in done.stderr, "info >&-: what cannot be said is an error", done)
    for words in ("--version", "--help", "info --help", "help", "info lone.json"):
        done = shell(f"TOOL {words} >/dev/full")
        check(done.returncode == 2 and "stdout: cannot write" in done.stderr, f"{words} >/dev/full: exit 2", done)
    done = shell("TOOL info none.json 2>/dev/full")
    check(done.returncode == 2, "a message that cannot be written changes no exit status", done)
    done = shell("ulimit -f 0; TOOL merge lone.json -o limited.ttrace")
    check(done.returncode == 2 and "ulimit -f" in done.stderr, "ulimit -f: exit 2 with what to do", done)
    done = shell("mkfifo pipe; (TOOL export --perfetto --no-computed lone.json -o pipe 2>/dev/null &); timeout 20 cat pipe > piped.json")
    check(done.returncode == 0 and json.load(open(f"{tool.folder}/piped.json", encoding="utf-8")), "export to a pipe reaches its reader", done)
    rules = "mine gemm*\n"
    with open(f"{tool.folder}/rules", "w", encoding="utf-8") as out:
        out.write(rules)
    for words in (["analyze", "lone.json"], ["diagnose", "lone.json"], ["report", "lone.json"], ["diff", "lone.json", "lone.json"],
                  ["check", "lone.json", "--baseline", "lone.json", "--max-regress", 3]):
        tool.refused(f"{words[0]}: the output in place of the rules", [*words, "--classes", "rules", "--summary" if words[0] == "check" else "-o", "./rules"], "is also an input")
    check(open(f"{tool.folder}/rules", encoding="utf-8").read() == rules, "the rules stay as they are")
    tool.refused("the report in place of the output", ["merge", "lone.json", "-o", "new.ttrace", "--report", "./new.ttrace"], "is also the output")


def check_help(tool):
    for command in ("merge", "export"):
        done = tool(command, "--help")
        check("{" not in done.stdout and "Option Group" not in done.stdout, f"{command} --help: words once", done.stdout)
    tool.refused("two formats", ["export", "lone.json", "--chrome", "--kineto"], "--chrome is given too")


def check_phases(tool):
    """Rows of a rank that has several files say of which phase they are; other tables have no such column."""
    for number, phase in enumerate(("init", "opt")):
        os.mkdir(f"{tool.folder}/{phase}")
        profile(f"{tool.folder}/{phase}/rank0.json", 0, start_us=1000.0 + number * 1e6, steps=2)
    for words in (["temporal"], ["steps"], ["kernels", "--by", "rank"]):
        rows = json.loads(tool("analyze", "init", "opt", "--format", "json", "--only", *words).stdout)[words[0]]
        each = {"temporal": 1, "steps": 2, "kernels": 2}[words[0]]
        check([(row["rank"], row["phase"]) for row in rows] == [(0, "init")] * each + [(0, "opt")] * each,
              f"{words[0]}: of which phase", rows)
        rows = json.loads(tool("analyze", "init", "--format", "json", "--only", *words).stdout)[words[0]]
        check(len(rows) == each and "phase" not in rows[0], f"{words[0]}: of one file", rows)


def check_doctor(tool):
    tool.refused("doctor and a file", ["doctor", "one.ttrace"], "tracetool info one.ttrace")
    shut = f"{tool.folder}/shut"
    os.mkdir(shut, 0o000)
    words = [tool.path, "doctor", shut]
    if os.geteuid() == 0:  # whom nothing is shut; the folder is made passable for another
        os.chmod(tool.folder, 0o755)
        words = [sys.executable, "-c", "import os, sys; os.setgid(65534); os.setuid(65534); os.execv(sys.argv[1], "
                 "sys.argv[1:])", *words]
    done = run(words)
    check(done.returncode == 4 and "cannot be listed" in done.stdout and "no recording below" not in done.stdout,
          "doctor and a directory that cannot be read", done)
    os.chmod(shut, 0o755)


def check_progress(tool):
    """Work of over a second shows on a terminal how far it is, and wipes it."""
    with open(f"{tool.folder}/set/rank0.json", encoding="utf-8") as file:
        trace = json.load(file)
    kernel = next(event for event in trace["traceEvents"] if event["cat"] == "kernel")
    before, after = json.dumps(kernel).split(json.dumps(kernel["name"]))
    shown = b""
    for count in (1_000_000, 4_000_000, 16_000_000):  # as much as takes over a second with this build on this machine
        with gzip.open(f"{tool.folder}/big.json.gz", "wt", compresslevel=1) as out:
            out.write('{"schemaVersion": 1, "traceEvents": [\n')
            for i in range(count):
                out.write(f'{before}"kernel_{i}"{after},\n')  # no two names are equal: they take longest
            out.write(json.dumps(kernel) + "]}\n")
        code, shown = on_terminal([tool.path, "info", "big.json.gz"], tool.folder, stdout=subprocess.DEVNULL)
        check(code == 0, "info of a big file", shown)
        if shown:
            break
    check(b"reading big.json.gz: " in shown and shown.endswith(b"\x1b[K"), "its progress is shown and wiped", shown)


def main():
    options = arguments("tracetool")
    with Folder() as folder:
        tool = Tool(options.tracetool, folder)
        check_ranks_given(tool)
        check_selection(tool)
        check_unrelated(tool)
        check_kineto_directories(tool)
        check_cut(tool)
        check_words(tool)
        check_one_word(tool)
        check_dump(tool)
        check_phases(tool)
        check_doctor(tool)
        check_progress(tool)
        check_streams(tool)
        check_help(tool)
    finish()


main()
