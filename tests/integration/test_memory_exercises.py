#!/usr/bin/env python3
"""docs/memory-exercises.md: its commands run in order in an empty directory, print the lines that the page shows, and what the page
claims holds.

  test_memory_exercises.py --tracetool PATH"""
import os

from harness import Folder, arguments, check, finish
from test_docs_output import commands, same
from test_workflow import ROOT, Session, peaks_of_model, rounded, text_of

MIB = 1 << 20


def check_commands(session, page):
    count = 0
    for command, lines in commands(page):
        printed = session.bash(command)
        missing = [line for line in lines if line.strip() not in ("", "...") and not same(line, printed)]
        check(not missing, f"$ {command}", "\n".join([*missing, "is not in", *printed]))
        count += 1
    check(count > 10, "the page has commands", count)


def in_use(session, words, key):
    return {row[key]: row for row in session.json(f"mem {words}")["in_use"]}


def check_claims(session, page):
    """Each sentence is in the page, and its numbers are those of the model and of what the commands print."""
    said = text_of(page)
    plain, checkpointed = peaks_of_model()
    before, after = (in_use(session, f"out/{name}.pickle --by category", "category") for name in ("before", "after"))
    activations = before["activations"]
    layer = activations["bytes"] // 12 // MIB
    relu = in_use(session, "out/before.pickle --by operator", "operator")["aten::relu"]["bytes"]
    peaks = [session.json(f"mem out/{name}.pickle")["devices"][0]["peak_bytes"] for name in ("before", "after")]
    check(peaks == [plain, checkpointed], "the peaks are those of the model", (peaks, plain, checkpointed))
    kept = after["activations"]["bytes"] // MIB
    for sentence in (f"Activations are {rounded(activations['bytes'], plain, 0)} % of the peak: {activations['blocks']} blocks, 7 for each of 12 layers",
                     f"{layer} MiB each. A third of it is the output of the ReLU",
                     f"The activations fall from {activations['bytes'] / MIB / 1024:.3f} GiB to {kept} MiB: {after['activations']['blocks']} inputs of 8 MiB",
                     f"The peak falls from {plain} to {checkpointed} bytes, by {rounded(plain - checkpointed, plain, 1)} %"):
        check(sentence in said, f"the page claims: {sentence}")
    check(12 * layer * MIB == activations["bytes"] and 3 * relu == activations["bytes"] and activations["blocks"] == 7 * 12, "of the layers", (activations, relu))


def main():
    options = arguments("tracetool")
    with open(os.path.join(ROOT, "docs", "memory-exercises.md"), encoding="utf-8") as file:
        page = file.read()
    with Folder() as folder:
        session = Session(str(folder), os.path.dirname(os.path.dirname(os.path.abspath(options.tracetool))))
        check_commands(session, page)
        check_claims(session, page)
    finish()


if __name__ == "__main__":
    main()
