#!/usr/bin/env python3
"""README.md: its links lead to files, its commands exist, and the life of a record has its eight steps."""
import os
import re
import unittest

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
README = open(f"{ROOT}/README.md", encoding="utf-8").read()


class Readme(unittest.TestCase):
    def test_links(self):
        links = re.findall(r"\]\((?!https?:|#)([^)#]+)", README)
        self.assertGreater(len(links), 8)
        self.assertEqual([link for link in links if not os.path.exists(f"{ROOT}/{link}")], [])

    def test_the_two_commands(self):
        for script in ("./scripts/demo.sh", "./scripts/test.sh"):
            self.assertIn(script, README)
            self.assertTrue(os.access(f"{ROOT}/{script}", os.X_OK), script)

    def test_life_of_a_kernel_record(self):
        section = re.search(r"## Life of a kernel record\n(.*?)\n## ", README, re.S)[1]
        steps = re.findall(r"^(\d)\. .*?\]\(([^)]+)\)", section, re.M)
        self.assertEqual([number for number, _ in steps], list("12345678"))

    def test_commands_are_the_programs(self):
        code = "".join(open(f"{ROOT}/cli/commands/{name}", encoding="utf-8").read()
                       for name in sorted(os.listdir(f"{ROOT}/cli/commands")) if name.startswith("commands."))
        table = re.search(r"## Commands\n(.*?)\n## ", README, re.S)[1]
        for command in re.findall(r"^\| `(\w+)", table, re.M):
            self.assertIn(f'"{command}"', code)


if __name__ == "__main__":
    unittest.main()
