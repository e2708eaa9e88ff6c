#!/usr/bin/env python3
"""examples/: what can be known of them without a GPU: Python compiles, the CUDA program too where nvcc is installed, and the
comparison tells right from wrong."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

EXAMPLES = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples"))
NVCC = shutil.which("nvcc", path=f"{os.environ.get('PATH', '')}:/usr/local/cuda/bin")
DONE = {"kernel": 5, "memcpy": 2, "memset": 1}
TOOL = "#!/bin/sh\necho '%s'\n"


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_python_compiles(self):
        programs = glob.glob(f"{EXAMPLES}/*/*.py")
        self.assertGreaterEqual(len(programs), 3)
        for path in programs:
            with open(path, encoding="utf-8") as file:
                compile(file.read(), path, "exec")

    @unittest.skipUnless(NVCC, "nvcc is not installed")
    def test_cuda_compiles(self):
        done = subprocess.run([NVCC, "-std=c++17", "-O0", "-Werror", "all-warnings", "-ptx", "-o", f"{self.folder}/out.ptx",
                               f"{EXAMPLES}/cuda/known_work.cu"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def compare(self, recorded):
        with open(f"{self.folder}/done.json", "w", encoding="utf-8") as out:
            json.dump(DONE, out)
        with open(f"{self.folder}/tracetool", "w", encoding="utf-8") as out:
            out.write(TOOL % json.dumps({"ranks": [{"counts": recorded, "lost": 0, "overwritten": 0}]}))
        os.chmod(f"{self.folder}/tracetool", 0o755)
        command = [sys.executable, f"{EXAMPLES}/cuda/compare.py", f"{self.folder}/done.json", "traces"]
        return subprocess.run(command, capture_output=True, text=True,
                              env={**os.environ, "TRACETOOL": f"{self.folder}/tracetool"})

    def test_comparison(self):
        self.assertEqual(self.compare(DONE).returncode, 0)
        wrong = self.compare({**DONE, "kernel": 4})
        self.assertEqual(wrong.returncode, 1)
        self.assertIn("kernel: 5 done, 4 recorded   DIFFERENT", wrong.stdout)


if __name__ == "__main__":
    unittest.main()
