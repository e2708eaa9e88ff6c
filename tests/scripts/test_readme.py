#!/usr/bin/env python3
"""README.md, CONTRIBUTING.md and docs/: links lead to files, commands exist, and the life of a record has its eight steps."""
import os
import re
import unittest

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))


def read(path):
    with open(f"{ROOT}/{path}", encoding="utf-8") as file:
        return file.read()


README = read("README.md")

SUITES = ("scripts/rooms",)  # tests of meson, whose names look like paths
FOREIGN = re.compile(r"^(torch|libkineto|c10|ATen|src|include|native)/|^(cupti|cuda|ucontext|signal|limits)\w*\.h$|^libunwind|"
                     r"^(\w*output_json|ActivityType|CuptiActivity|GenericActivityProfiler|DeviceProperties|transformer|sdp_utils_cpp|MHA)\.(h|cpp)$")
HIDDEN = ("look", "pages")  # no rows: tracetool PATH, and what packages call


class Readme(unittest.TestCase):
    def test_links(self):
        links = re.findall(r"\]\((?!https?:|#)([^)#]+)", README)
        self.assertGreater(len(links), 8)
        self.assertEqual([link for link in links if not os.path.exists(f"{ROOT}/{link}")], [])

    def test_it_is_short(self):
        self.assertLessEqual(len(README.splitlines()), 120)

    def test_links_of_docs(self):
        for page in sorted(name for name in os.listdir(f"{ROOT}/docs") if name.endswith(".md")):
            self.assertTrue(page == "index.md" or f"]({page}" in read("docs/index.md"), f"{page} is in docs/index.md")
            links = re.findall(r"\]\((?!https?:|#)([^)#]+)", read(f"docs/{page}"))
            self.assertEqual([link for link in links if not os.path.exists(f"{ROOT}/docs/{link}")], [], page)

    def test_each_page_is_in_the_site(self):
        nav = re.findall(r"(\S+\.md)$", read("mkdocs.yml").split("\nnav:\n")[1], re.M)
        pages = [*(name for name in os.listdir(f"{ROOT}/docs") if name.endswith(".md")), "gpu/README.md"]
        self.assertEqual(sorted(nav), sorted(pages))

    def test_contributing(self):
        text = read("CONTRIBUTING.md")
        self.assertLessEqual(len(text.splitlines()), 100)
        named = re.findall(r"\]\(([^)#]+)", text) + re.findall(r"`((?:cli|common|docs|scripts|tests|examples|\.github)/[\w./]+)`", text)
        self.assertGreater(len(named), 15)
        self.assertEqual([path for path in named if not os.path.exists(f"{ROOT}/{path}") and path not in SUITES], [])

    def test_citation_has_the_version(self):
        version = re.search(r"version: '([^']+)'", read("meson.build"))[1]
        self.assertIn(f"\nversion: {version}\n", read("CITATION.cff"))

    def test_the_two_commands(self):
        for script in ("./scripts/demo.sh", "./scripts/test.sh"):
            self.assertIn(script, README)
            self.assertTrue(os.access(f"{ROOT}/{script}", os.X_OK), script)

    def test_life_of_a_kernel_record(self):
        section = re.search(r"## Life of a kernel record\n(.*)", read("docs/architecture.md"), re.S)[1]
        steps = re.split(r"^(\d)\. ", section, flags=re.M)[1:]
        self.assertEqual(steps[::2], list("12345678"))
        last = steps[-1].split("\n\n")[0]
        self.assertEqual([len(re.findall(r"\]\(", step)) for step in [*steps[1:-1:2], last]], [1] * 8)

    def test_files_in_comments(self):
        known, wrong = {"version.h", "record_fields.h", "commit.h", "page_files.cpp"}, []  # generated
        for _, _, names in os.walk(ROOT):
            known.update(names)
        for top in ("agent", "cli", "common"):
            for at, _, names in os.walk(f"{ROOT}/{top}"):
                for path in (f"{at}/{name}" for name in names if name.endswith((".h", ".cpp"))):
                    with open(path, encoding="utf-8") as file:
                        comments = re.findall(r"^(?!#).*?(//.*)$", file.read(), re.M)
                    for found in re.findall(r"(?<![\w*<./-])((?:[\w-]+/)*[\w-]+\.(?:h|cpp))\b", "\n".join(comments)):
                        if not FOREIGN.search(found) and (os.path.basename(found) not in known or (
                                found.split("/")[0] in ("agent", "cli", "common", "tests") and not os.path.exists(f"{ROOT}/{found}"))):
                            wrong.append(f"{os.path.relpath(path, ROOT)}: {found}")
        self.assertEqual(wrong, [])

    def test_commands_are_the_programs(self):
        code = read("cli/commands/commands.cpp")
        table = re.search(r"## The commands\n(.*?)\n## ", read("docs/commands.md"), re.S)[1]
        rows = re.findall(r"^\| `(\w+)", table, re.M)
        self.assertEqual(sorted(rows), sorted([name for name in re.findall(r"^  ENTRY\((\w+)\)", code, re.M) if name not in HIDDEN]))


if __name__ == "__main__":
    unittest.main()
