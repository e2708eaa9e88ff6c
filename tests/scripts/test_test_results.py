#!/usr/bin/env python3
"""scripts/test_results.py: what counts as passed, failed and skipped, and what makes the run fail."""
import contextlib
import importlib.util
import io
import json
import os
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "test_results.py")
spec = importlib.util.spec_from_file_location("test_results", SCRIPT)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)


class Summary(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.results = folder.name
        module.LIST = f"{self.results}/list.txt"
        self.rules()

    def rules(self, *lines):
        with open(module.LIST, "w", encoding="utf-8") as out:
            out.write("# a comment\n\n" + "\n".join(lines) + "\n")

    def log(self, config, **results):
        with open(f"{self.results}/{config}.json", "w", encoding="utf-8") as out:
            for name, result in results.items():
                out.write(json.dumps({"name": f"tracetool:unit / unit/{name}", "result": result, "stdout": "x"}) + "\n")

    def summary(self):
        """(exit code, the last line)"""
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = module.summary(self.results)
        return code, out.getvalue().splitlines()[-1]

    def test_passed(self):
        self.log("g++", ring="OK", merge="OK")
        self.assertEqual(self.summary(), (0, "2 passed, 0 failed"))

    def test_all_ways_to_fail(self):
        self.log("g++", a="FAIL", b="TIMEOUT", c="ERROR", d="INTERRUPT", e="UNEXPECTEDPASS", f="OK")
        self.assertEqual(self.summary(), (1, "1 passed, 5 failed"))

    def test_configurations_and_steps_add_up(self):
        self.log("g++", ring="OK")
        self.log("asan", ring="OK")
        module.step(self.results, "clang++", "build", "OK")
        self.assertEqual(self.summary(), (0, "3 passed, 0 failed"))

    def test_expected_skip(self):
        self.rules("* | unit/gpu | may | no GPU")
        self.log("g++", ring="OK", gpu="SKIP")
        self.assertEqual(self.summary(), (0, "1 passed, 0 failed, 1 skipped"))

    def test_unexpected_skip_fails(self):
        self.rules("asan | unit/gpu | may | no GPU")
        self.log("g++", ring="OK", gpu="SKIP")
        self.assertEqual(self.summary(), (1, "1 passed, 1 failed, 1 skipped"))

    def test_left_out_counts_as_skipped_where_that_configuration_ran(self):
        self.rules("asan | unit/hosts | never | foreign hosts", "tsan | unit/hosts | never | foreign hosts")
        self.log("g++", hosts="OK")
        self.log("asan", ring="OK")
        self.assertEqual(self.summary(), (0, "2 passed, 0 failed, 1 skipped"))

    def test_left_out_everywhere_fails(self):
        self.rules("asan | unit/hosts | never | foreign hosts")
        self.log("asan", ring="OK")
        self.assertEqual(self.summary(), (1, "1 passed, 1 failed, 1 skipped"))

    def test_nothing_ran(self):
        self.assertEqual(self.summary(), (1, "0 passed, 0 failed"))

    def test_rule_without_reason_is_refused(self):
        self.rules("g++ | unit/gpu | may |")
        with self.assertRaises(SystemExit):
            module.read_list()


class RealList(unittest.TestCase):
    def test_it_reads(self):
        rules = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(rules)
        self.assertGreater(len(rules.read_list()), 0)


if __name__ == "__main__":
    unittest.main()
