#!/usr/bin/env python3
"""The files of `export`: stdout, a file per rank for 1,024 ranks, ranks without events, what is refused, an end in the
middle.

  test_export_files.py --tracetool PATH
"""
import gzip
import json
import os
import resource
import signal
import subprocess
import tarfile
import time

from export_inputs import Tool, load, small_rank, write_ranks
from harness import Folder, arguments, check, finish


def empty_rank(program, folder):
    """Rank 1 has no step 6: it is in no TAR, and leaves no file in a folder, nor that of an earlier export."""
    os.makedirs(f"{folder}/uneven")
    for rank, steps in ((0, 4), (1, 2)):
        with open(f"{folder}/uneven/r{rank}.json", "w", encoding="utf-8") as file:
            json.dump(small_rank(rank, steps), file)
    tool = Tool(program, f"{folder}/uneven")
    result = tool.run("--manifest", "--steps", "6", "-o", f"{folder}/uneven.tar")
    with tarfile.open(f"{folder}/uneven.tar") as tar:
        check(sorted(tar.getnames()) == ["perfetto_manifest.json", "rank0.pftrace"], "an empty rank is no member",
              f"{tar.getnames()} {result.stderr}")
    both, one = (tool.run("--kineto", *more, "-o", f"{folder}/uneven_k") for more in ((), ("--steps", "6")))
    check(os.listdir(f"{folder}/uneven_k") == ["rank0.pt.trace.json.gz"], "an empty rank's old file is removed",
          os.listdir(f"{folder}/uneven_k"))
    check(both.returncode == 0 and b"earlier export" in one.stderr, "which is said", one.stderr)


def streams(tool, folder):
    for flag in ("--perfetto", "--chrome", "--pftrace"):
        name = f"{folder}/one{'.pftrace' if flag == '--pftrace' else '.json'}"
        check(tool.run(flag, "-o", name).returncode == 0, f"{flag}: a file")
        plain = tool.run(flag, "-o", "-").stdout
        check(plain == open(name, "rb").read(), f"{flag}: stdout is the file")
    check(load(tool.run("--perfetto", "--gzip", "-o", "-").stdout) == load(tool.run("--perfetto", "-o", "-").stdout),
          "--gzip: stdout is compressed")
    for more, name in (((), "ranks.tar"), (("--perfetto",), "ranks.tar.gz")):
        result = tool.run("--manifest", *more, cwd=folder)
        check(result.returncode == 0 and os.path.exists(f"{folder}/{name}"), f"--manifest {' '.join(more)}: names it {name}",
              result.stderr)
    plain, packed = (tool.run("--perfetto", "--manifest", *more, "-o", "-").stdout for more in ((), ("--gzip",)))
    check(plain and gzip.decompress(packed) == plain, "--manifest of JSON to stdout: --gzip compresses the TAR")


def refused(tool, folder):
    os.mkdir(f"{folder}/other")
    open(f"{folder}/other/old.json", "w", encoding="utf-8").write("{}")
    open(f"{folder}/bad.json", "w", encoding="utf-8").write("no trace")
    for options, code, words in (
            (["--perfetto", "--ranks", "9"], 1, "there are ranks 0-2"), (["--perfetto", "--ranks", "2-1"], 1, "is not a range"),
            (["--perfetto", "--steps", "50"], 1, "there are 3-6"), (["--perfetto", "--time", "5s-"], 1, "the trace lasts"),
            (["--perfetto", "--time", "5"], 1, "with units"), (["--perfetto", "--kinds", "kernels"], 1, "\"kernels\""),
            (["--perfetto", "--min-dur", "5"], 1, "unit"), ([], 1, "missing format"), (["--kineto", "-o", "-"], 1, "directory"),
            (["--kineto", "-o", f"{folder}/other"], 1, "old.json"), (["--manifest", "--kineto"], 1, "--manifest"),
            (["--kineto", "--max-size", "5MB"], 1, "--max-size"), (["--perfetto", "--json", "-o", "-"], 1, "--json"),
            (["--perfetto", "--max-size", "-1"], 1, "--max-size"), (["--perfetto", "--max-size", "1"], 1, "--max-size"),
            (["--chrome", "--gpu-tracks"], 1, "--gpu-tracks"), (["--chrome", "--compress", "zstd"], 1, "--compress"),
            (["--chrome", "--compress", "lz4"], 1, "expected deflate, zstd or none, not \"lz4\""),
            (["--manifest", "-o", f"{folder}/x.tar.gz"], 1, "use the ending .tar"), (["--manifest", "--gzip"], 1, "a TAR of JSON"), (["--chrome", "-o", ""], 1, "--output: is empty"),
            (["--perfetto", "-o", f"{folder}/x.json.zst"], 1, "use the ending .gz"), (["--perfetto", "--ranks", ""], 1, "is empty"),
            (["--perfetto", "--output="], 1, "--output: is empty"), (["--perfetto", "--steps="], 1, "--steps: is empty"),
            (["--perfetto", "--steps", ""], 1, "is empty"), (["--perfetto", "--time", ""], 1, "is empty"),
            (["--perfetto", "-o", f"{folder}/none/x.json"], 2, "none/x.json"),
            (["--kineto", "-o", f"{folder}/bad.json"], 2, "bad.json")):
        before = sorted(os.listdir(folder))
        result = tool.run(*options, *([] if "-o" in options else ["-o", f"{folder}/never"]))
        said = result.stderr.decode()
        check(result.returncode == code and words in said, f"{' '.join(options).replace(folder, 'DIR')}: exit {code}",
              f"{result.returncode}: {said}")
        check(sorted(os.listdir(folder)) == before, "  and nothing is written")
    check(tool.run("--perfetto", "-o", f"{folder}/x.json", trace=f"{folder}/bad.json").returncode == 3, "no trace: exit 3")


def part_that_is_an_input(tool, folder):
    """A part would have the name of the input."""
    source = f"{folder}/set.segment1.json"
    tool.run("--perfetto", "--no-computed", "--max-size", "0", "-o", source)
    before = open(source, "rb").read()
    result = tool.run("--perfetto", "--max-size", "80kB", "-o", f"{folder}/set.json", trace=source)
    check(result.returncode == 1 and b"is also an input" in result.stderr, "a part with an input's name: exit 1",
          result.stderr)
    check(open(source, "rb").read() == before, "  and the input is as it was")


def older_segments(tool, folder):
    """An earlier export of the name left more segments, or the whole: one line names them."""
    options = ["--perfetto", "--no-computed", "-o", f"{folder}/older.json"]
    more, fewer, whole = (tool.run(*options, "--max-size", size).stderr.decode() for size in ("20kB", "60kB", "0"))
    check("earlier export" not in more, "no older segments: none is named", more)
    check("earlier export" in fewer and "older.segment" in fewer, "older segments are named", fewer)
    check(whole.count("earlier export") == 1 and "older.segment" in whole, "and beside a whole export", whole)
    again = tool.run(*options, "--max-size", "20kB").stderr.decode()
    check("older.json and" in again or "older.json stay" in again, "and an older whole one beside segments", again)


def picture_as_input(tool, folder):
    """The ranks of a merged picture are not found again, which is said; a picture of one rank has nothing to say."""
    for options, told in (([], True), (["--ranks", "0"], False)):
        tool.run("--chrome", *options, "-o", f"{folder}/picture.json")
        for command in (["info"], ["export", "--perfetto", "-o", "-"]):
            result = subprocess.run([tool.program, *command, f"{folder}/picture.json"], capture_output=True)
            check(result.returncode == 0 and (b"like an exported trace" in result.stderr) == told,
                  f"{command[0]}: a picture {'of ranks' if told else 'of a rank'} as an input", result.stderr)


def ended(tool, folder):
    """SIGTERM during an export: only whole files remain, and no empty directory."""
    target = f"{folder}/ended"
    process = subprocess.Popen([tool.program, "export", tool.trace, "--kineto", "-o", target], stderr=subprocess.DEVNULL)
    while process.poll() is None and not (os.path.isdir(target) and os.listdir(target)):
        time.sleep(0.0005)
    process.send_signal(signal.SIGTERM)
    process.wait()
    check(not os.path.isdir(target) or os.listdir(target), "ended in the middle: no empty directory stays")
    left = os.listdir(target) if os.path.isdir(target) else []
    check(not [name for name in left if ".tmp." in name], "ended in the middle: no half file stays", left)
    for name in left:
        load(open(f"{target}/{name}", "rb").read())


def many(program, folder):
    """1,024 ranks with few descriptors."""
    inputs = write_ranks(f"{folder}/many", 1024, steps=1, kernels=2)
    merged = f"{folder}/many.ttrace"
    check(subprocess.run([program, "merge", inputs, "-o", merged], capture_output=True).returncode == 0, "1,024 ranks: merged")
    few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
    tool = Tool(program, merged)
    result = tool.run("--kineto", "-o", f"{folder}/kineto", preexec_fn=few)
    check(result.returncode == 0 and len(os.listdir(f"{folder}/kineto")) == 1024, "1,024 ranks: a file each", result.stderr)
    result = tool.run("--manifest", "-o", f"{folder}/many.tar", preexec_fn=few)
    with tarfile.open(f"{folder}/many.tar") as tar:
        check(len(tar.getnames()) == 1025, "1,024 ranks: a member each", result.stderr)
    usage = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    if "ASAN_OPTIONS" not in os.environ:  # there most of it is the sanitizer's
        check(usage < 300_000, "1,024 ranks: in bounded memory", f"{usage} kB")


def main():
    options = arguments("tracetool")
    with Folder() as folder:
        tool = Tool(options.tracetool, write_ranks(f"{folder}/ranks", 3))
        streams(tool, folder)
        os.mkdir(f"{folder}/a")
        refused(tool, f"{folder}/a")
        part_that_is_an_input(tool, f"{folder}/a")
        picture_as_input(tool, f"{folder}/a")
        older_segments(tool, f"{folder}/a")
        many(options.tracetool, folder)
        empty_rank(options.tracetool, folder)
        ended(Tool(options.tracetool, write_ranks(f"{folder}/longer", 8, steps=40, kernels=100)), folder)
    finish()


main()
