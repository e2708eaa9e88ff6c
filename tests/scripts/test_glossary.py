#!/usr/bin/env python3
"""The words of messages, `--help` and documents: one word for one thing, the one that NVIDIA's, PyTorch's and Perfetto's
documents use. Each entry of AVOID names what not to write, and what to write for it. Looked at are the string literals of
agent/, common/ and cli/ (but for names of files), README.md, CHANGELOG.md, docs/, common/FORMAT.md and the READMEs of examples/."""
import glob
import os
import re
import unittest

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

AVOID = {
    r"\barrows?\b": "flow (an arrow only where the picture on the screen is meant: 'drawn as arrows')",
    r"\bends? of (a )?flows?\b": "flow endpoint",
    r"\b(computed|overlay) rows?\b|\brows? (of|for|that) (idle|are computed|is computed|computed|allocated)": "derived track",
    r"\bpictures?\b": "timeline, trace, export, screenshot",
    r"\bdrawn\b|\bas you chose\b|\bnot in it\b": "written, emitted; excluded by filters",
    r"\b(un)?part(ed|ing)\b|\bpieces?\b|\bin (\d+|\{\}) parts\b|\bparts of an earlier export\b": "split, segment",
    r"\bfolders?\b": "directory",
    r"\b(copies|copy|kernels|memcpys),?( and| or)? sets?\b": "memset",
    r"\b(graphs|allocate|its|of|default|calls|overhead),( and| or)? waits\b|\bwaits (are|go|only)\b": "synchronization",
    r"\bof works?\b|\beach work\b|\bworks (that|without|whose)\b": "GPU activity",
    r"\blaunch shapes?\b": "launch configuration",
    r"\bholders?\b|\blets? (it )?go\b|\b(holds?|held|taken|took|takes) (by |of )?CUPTI\b(?!')|\bCUPTI (is|was) (held|taken)\b|"
    r"\btak(en?|es) (its|the|their) buffers\b|\bbuffers (are|were) taken\b": "in use by, current subscriber; released",
    r"\bstep(s|ped)? down\b": "reduced to `light`",
    r"(?<!JSON )(?<!fewer )(?<!within )\bbrackets?\b(?! within)(?!_)": "sample uncertainty",
    r"\bodd times?\b|\bsunk\b|\bclipped\b|\bodd_times\b": "invalid timestamps, discarded buffers, truncated names",
    r"\bdoors?\b": "hook, entry point, interposer",
    r"\bchores?\b|\bbeats?\b|\b(brings?|brought) home\b": "periodic task, heartbeat, flush",
    r"\brecorder in it\b": "injected agent",
    r"\bgates? failed\b": "check failed",
    r"\brank \S+ (comes|stands|is) twice\b|\ba rank twice\b|\b(rank|ranks) come twice\b|\bsame rank twice\b": "duplicate rank",
    r"\bwhich CMD\b": "missing command after `--`",
    r"\b0(:| is) (any|all sizes|no limit)\b": "unlimited",
    r"\| `found` \|": "auto",
    r"\blives, but\b": "alive, no heartbeat",
    r"\b(cannot|to) be had\b|\bcould not be had\b": "unavailable, not available",
    r"\bto take elsewhere\b": "portable build",
    r"\bmade[ -]up\b": "synthesized",
    r"\bbesides?\b": "next to, in addition to",
    r"\bso (many|much|long)\b": "N, this many, that long",
    r"\ball else\b|\bof which\b|\bshall\b|\b(those|none) that\b": "the noun again, in a sentence of its own",
    r"\bnobody\b|\bsomebody\b": "who it is, or `unknown`",
    r"\b(is|are|was|were) told\b|\btold by\b|\btells\b": "prints, reports, contains",
    r"\bsays so\b|\bline says\b|\bwithout us\b|\bbeside us\b": "prints a warning; without the agent",
    r"\bcompute covers\b": "exposed communication",
    r"\b(left|leaves?) out\b": "omitted, skipped, excluded",
    r"\bmatrix products?\b|\bproducts? of matrices\b": "matrix multiplication",
    r"\bfrom here on\b|\bwhere the trace ends\b": "from now on, when the trace ended",
    r"\bfor want of\b|\bthrown away\b": "discarded, because there is no ...",
    r"(^|\. )(?-i:Of|By) [a-z]": "a sentence that begins with its subject",
}
# Where a word of the list is right: what is taken out before the text is looked at.
ALLOWED = (r"\]\([^)]*\)", r"scripts/viewer/picture\.py", r"picture-perfetto\.png", r"drawn as arrows", r"brackets? within brackets?",
           r"piece by piece", r"beside\.py")
MEASURED = re.compile(r"docs/gpu/\d{4}-")  # results that a run on a GPU wrote
STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def documents():
    for pattern in ("README.md", "CHANGELOG.md", "common/FORMAT.md", "docs/**/*.md", "examples/**/*.md"):
        yield from (path for path in sorted(glob.glob(f"{ROOT}/{pattern}", recursive=True)) if not MEASURED.search(path))


def strings(path):
    """(line, text) of each string literal; neighbours of one statement are one text."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    at, text = 0, ""
    for number, line in enumerate(lines, 1):
        code = re.sub(r"(?<!:)//(?![^\"]*\"[^\"]*$).*", "", line)
        if code.startswith("#") or code.strip().startswith("static_assert"):
            continue
        found = STRING.findall(code)
        if found and text and re.match(r'\s*"', code):
            text += " | ".join(found)
        elif found:
            if text:
                yield at, text
            at, text = number, " | ".join(found)
        if text and not code.rstrip().endswith('"'):
            yield at, text
            text = ""
    if text:
        yield at, text


def texts():
    for path in documents():
        with open(path, encoding="utf-8") as file:
            yield from ((path, number, line) for number, line in enumerate(file, 1))
    for top in ("agent", "common", "cli"):
        for path in sorted(glob.glob(f"{ROOT}/{top}/**/*.*", recursive=True)):
            if path.endswith((".h", ".cpp")):
                yield from ((path, number, text) for number, text in strings(path))


def wrong(text):
    for allowed in ALLOWED:
        text = re.sub(allowed, "", text)
    return [(found[0], instead) for pattern, instead in AVOID.items() if (found := re.search(pattern, text, re.I))]


class Glossary(unittest.TestCase):
    def test_words(self):
        said = [f"{os.path.relpath(path, ROOT)}:{number}: '{word}' (write {instead}): {text.strip()[:120]}"
                for path, number, text in texts() for word, instead in wrong(text)]
        self.assertEqual(len(said), 0, "\n" + "\n".join(said))

    def test_enough_is_read(self):
        read = list(texts())
        self.assertGreater(len(read), 3000)
        self.assertTrue(any("counter values, {} flows" in text for _, _, text in read))

    def test_a_wrong_word_is_found(self):
        for text in ("3 arrows: not drawn", "CUPTI is held by nsys", "0: any", "| `found` |", "copies and sets", "is no folder",
                     "rank 3 comes twice", "steps down to light", "3 computed rows", "a file beside it", "as much as is told",
                     "Of a rank with files", "no compute covers it"):
            self.assertTrue(wrong(text), text)
        for text in ("flows are drawn as arrows", "the table has 3 rows", "0: unlimited", "sets a variable", "part of it"):
            self.assertEqual(wrong(text), [], text)


if __name__ == "__main__":
    unittest.main()
