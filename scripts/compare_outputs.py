#!/usr/bin/env python3
"""compare_outputs.py OLD NEW TRACE...: runs two builds of tracetool on traces and compares what they print and write, byte for byte.

Each TRACE is a file or directory that tracetool reads. Every command that reads traces runs in every format. Each run that differs is printed
with its first different line, and its outputs are kept. Exit status: 0 all equal, 1 some differ.
"""
import concurrent.futures
import filecmp
import os
import re
import shutil
import subprocess
import sys
import tempfile

# {input} is the trace, {out} a path in an empty directory that both builds name alike.
RUNS = (
    "{input}", "info {input}", "info --json {input}", "runs {input}", "dump {input}",
    *(f"analyze --only {{tables}} --format {form} {{input}}" for form in ("text", "json", "csv", "md")), "analyze {input}",
    *(f"analyze --only {{tables}} --by {by} {{input}}" for by in ("step", "rank", "shape", "stack")),
    "diagnose {input}", "diagnose --format json {input}", "diff --all {input} {input}", "diff --format json {input} {input}",
    "diff --html {out}.html {input} {input}", "check --max-regress 10 --json --baseline {input} {input}",
    "report {input} -o {out}.html", "merge {input} -o {out}.ttrace",
    "export --perfetto {input} -o {out}.json", "export --pftrace {input} -o {out}.pftrace", "export --pftrace --gpu-tracks {input} -o {out}.pftrace",
    "export --kineto {input} -o {out}", "export --folded {input} -o {out}.folded", "export --manifest --perfetto {input} -o {out}.tar",
    "export --perfetto --steps 1 --ranks 0 --json {input} -o {out}.json.gz",
)
TIMEOUT_S = 600


def run(program, words, place):
    """Runs it in `place`, an empty directory, and leaves stdout, stderr and the exit status there."""
    os.makedirs(place)
    with open(f"{place}/stdout", "wb") as out, open(f"{place}/stderr", "wb") as err:
        try:
            status = subprocess.run([program, *words], stdout=out, stderr=err, stdin=subprocess.DEVNULL, cwd=place, timeout=TIMEOUT_S, check=False).returncode
        except subprocess.TimeoutExpired:
            status = f"none after {TIMEOUT_S} s"
    with open(f"{place}/status", "w", encoding="utf-8") as file:
        print(status, file=file)


def files(place):
    return sorted(os.path.relpath(os.path.join(at, name), place) for at, _, names in os.walk(place) for name in names)


def difference(old, new):
    """Returns where two directories differ, or None."""
    if files(old) != files(new):
        return f"files {sorted(set(files(old)) ^ set(files(new)))}"
    for name in files(old):
        if not filecmp.cmp(f"{old}/{name}", f"{new}/{name}", shallow=False):
            with open(f"{old}/{name}", "rb") as a, open(f"{new}/{name}", "rb") as b:
                for number, (line, other) in enumerate(zip(a, b), 1):
                    if line != other:
                        return f"{name}, line {number}:\n  {line[:300]}\n  {other[:300]}"
            return f"{name}: one is longer"
    return None


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    programs = [os.path.abspath(path) for path in sys.argv[1:3]]
    tables = ",".join(re.findall(r"^(\w+):", subprocess.check_output([programs[0], "analyze", "--list"], text=True), re.M))
    top = tempfile.mkdtemp(prefix="compare_outputs.")

    def compare(number, trace, form):
        places = [f"{top}/{number}/{build}/run" for build in ("old", "new")]
        words = [word.format(input=os.path.abspath(trace), out="output", tables=tables) for word in form.split()]
        for program, place in zip(programs, places):
            run(program, words, place)
        found = difference(*places)
        if found is None:
            shutil.rmtree(f"{top}/{number}")
        return f"tracetool {' '.join(words)}: {found} ({top}/{number})" if found else None

    jobs = [(trace, form) for trace in sys.argv[3:] for form in RUNS]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        found = list(threads.map(lambda job: compare(job[0], *job[1]), enumerate(jobs)))
    print("\n".join(line for line in found if line))
    print(f"{len(jobs)} runs, {sum(line is not None for line in found)} differ")
    if any(found):
        sys.exit(1)
    shutil.rmtree(top)


main()
