#!/usr/bin/env python3
"""common/FORMAT.md against the headers, read in another way than scripts/format_tables.py reads them: each member of each struct,
with all that its comment says; each bit of `has`; and what the page and the headers refer to is there."""
import glob
import os
import re
import sys
import unittest

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, f"{ROOT}/examples")
import ring_records  # noqa: E402  (after the path)

HEADERS = [*glob.glob(f"{ROOT}/common/records/*.h"), f"{ROOT}/common/layout.h", f"{ROOT}/common/spool_format.h"]
IN_MEMORY_ONLY = ("RecordHead", "Choice")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


PAGE = read(f"{ROOT}/common/FORMAT.md")


def members(body):
    """(name, words of its comment), by statements: a comment belongs to the statement on its first line."""
    found, in_comment_of = [], None
    for line in body.split("\n"):
        code, _, comment = line.partition("//")
        if code.strip():
            names = [] if re.match(r"\s*(static|constexpr|using|enum|bool|template|\}|return)", code) else re.findall(r"(\w+)(?:\[\w+\])*\s*[,;]", code)
            in_comment_of = len(found)
            found += [(name, []) for name in names]
        elif line.index("//") < 8 if "//" in line else True:
            in_comment_of = None  # a comment of its own, or an empty line
        if in_comment_of is not None:
            for _, words in found[in_comment_of:]:
                words += comment.split()
    return found


class Format(unittest.TestCase):
    def test_members(self):
        number = 0
        for header in HEADERS:
            for name, body in re.findall(r"^struct (\w+) (?:final )?\{\n(.*?)^\};", read(header), re.M | re.S):
                if name in IN_MEMORY_ONLY:
                    continue
                table = re.search(rf"<!-- struct {name} -->(.*?)<!-- end -->", PAGE, re.S)
                self.assertTrue(table, f"{name} is not in the page")
                rows = {row[0]: row[1].split() for row in re.findall(r"^\| \d+ \| \S+ \| `(\w+)` \| (.*) \|$", table[1], re.M)}
                for member, words in members(body):
                    number += 1
                    self.assertEqual(rows.get(member), words, f"{name}::{member}")
        self.assertGreater(number, 350)

    def test_bits(self):
        enum = re.search(r"enum NcclHas.*?\{\n(.*?)\};", read(f"{ROOT}/common/records/ranges.h"), re.S)[1]
        bits = re.findall(r"^  (kHas\w+) = (\d+),\s+// (.*)$", enum, re.M)
        self.assertEqual([int(value) for _, value, _ in bits], [1 << bit for bit in range(7)])
        for _, value, comment in bits:
            self.assertIn(f"| {value} | {comment} |", PAGE)

    def test_what_it_refers_to(self):
        known = {os.path.basename(path) for path in glob.glob(f"{ROOT}/**/*.*", recursive=True)}
        for path in (f"{ROOT}/common/FORMAT.md", *glob.glob(f"{ROOT}/common/**/*.h", recursive=True)):
            text = read(path)
            for name in re.findall(r"(?<![\w*-])([\w-]+\.(?:md|h|cpp|py))\b", text):
                self.assertTrue(name in known or f"<{name}>" in text, f"{path}: {name} is not there")
        everything = "".join(read(path) for path in glob.glob(f"{ROOT}/common/**/*.h", recursive=True))
        code = re.sub(r"//.*", "", everything)
        for name in sorted(set(re.findall(r"\bk[A-Z]\w+", everything + PAGE))):
            self.assertRegex(code, rf"\b{name}\b", f"{name} is named and not there")

    def test_kinds_of_the_example(self):
        """examples/ring_records.py names the kinds by their number: 16, 17, ..."""
        headers = "".join(read(path) for path in HEADERS)
        names = {int(number): name for number, name in re.findall(r'RecordKind kKind\{(\d+)\};.*?kName = "(\w+)"', headers, re.S)}
        self.assertGreater(len(names), 35)
        for number, name in names.items():
            if number >= 16:
                self.assertEqual(ring_records.KINDS[number - 16], name)
        self.assertEqual(len(ring_records.KINDS), max(names) - 15)

    def test_sizes(self):
        self.assertIn("(a multiple of 8, at least 8)", PAGE)  # kind, size_words, reserved, and the size itself


if __name__ == "__main__":
    unittest.main()
