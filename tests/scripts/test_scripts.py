#!/usr/bin/env python3
"""scripts/*.sh: bash can read them, and those with options say how they are used instead of guessing."""
import glob
import os
import subprocess
import unittest

SCRIPTS = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts"))


class Scripts(unittest.TestCase):
    def test_syntax(self):
        scripts = glob.glob(f"{SCRIPTS}/**/*.sh", recursive=True)
        self.assertGreaterEqual(len(scripts), 5)
        for script in scripts:
            done = subprocess.run(["bash", "-n", script], capture_output=True, text=True)
            self.assertEqual((script, done.returncode, done.stderr), (script, 0, ""))

    def test_usage(self):
        for script in ("test.sh", "soak.sh", "dist.sh"):
            done = subprocess.run([f"{SCRIPTS}/{script}", "--no-such-option"], capture_output=True, text=True)
            self.assertEqual((script, done.returncode), (script, 1))
            self.assertIn(f"./scripts/{script} ", done.stdout)
        for options in (["--kills"], ["--kills", "many"], ["--kills", "-1"]):
            self.assertEqual(subprocess.run([f"{SCRIPTS}/soak.sh", *options], capture_output=True).returncode, 1)


if __name__ == "__main__":
    unittest.main()
