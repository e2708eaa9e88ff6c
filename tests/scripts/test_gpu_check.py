#!/usr/bin/env python3
"""scripts/gpu_check: its arithmetic against values from elsewhere, what it makes of what survived, and its page."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from types import SimpleNamespace

HERE = os.path.dirname(os.path.abspath(__file__))
ROOM = os.path.normpath(os.path.join(HERE, "..", "..", "scripts", "gpu_check"))
EXAMPLES = os.path.normpath(os.path.join(HERE, "..", "..", "examples"))
NVCC = shutil.which("nvcc", path=f"{os.environ.get('PATH', '')}:/usr/local/cuda/bin")
sys.path.insert(0, ROOM)
import issued
import measure
import names
import results
import table
from machine import Machine, find_cupti

# Gosset ("Student"), The probable error of a mean, 1908: additional hours of sleep. R's t.test gives the interval.
SLEEP, SLEEP_MEAN, SLEEP_INTERVAL = (1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4), 1.58, (0.7001142, 2.4598858)


class Measure(unittest.TestCase):
    def test_interval(self):
        mean, interval = measure.mean_interval(SLEEP)
        self.assertAlmostEqual(mean, SLEEP_MEAN)
        for seen, expected in zip(interval, SLEEP_INTERVAL):
            self.assertAlmostEqual(seen, expected, delta=2e-4)
        self.assertEqual(measure.mean_interval([3.0]), (3.0, None))

    def test_ratio(self):
        ratio, (low, high) = measure.ratio([2.0, 4.0, 8.0], [1.0, 1.0, 1.0])
        self.assertAlmostEqual(ratio, 4.0)
        factor = 2 ** (4.303 / 3 ** 0.5)  # each step is one of ln 2, and so is the deviation
        self.assertAlmostEqual(low, 4.0 / factor)
        self.assertAlmostEqual(high, 4.0 * factor)
        self.assertEqual(measure.ratio([3.0], [2.0]), (1.5, None))

    def test_ratio_is_of_rounds(self):
        """A drift that meets both alike leaves no trace."""
        ratio, (low, high) = measure.ratio([11.0, 22.0, 44.0], [10.0, 20.0, 40.0])
        for seen in (ratio, low, high):
            self.assertAlmostEqual(seen, 1.1)

    def test_interleaved(self):
        order = []
        samples = measure.interleaved("ABC", 2, lambda variant: order.append(variant) or len(order))
        self.assertEqual("".join(order), "ABCABC")
        self.assertEqual(samples, {"A": [1, 4], "B": [2, 5], "C": [3, 6]})

    def test_slope(self):
        self.assertAlmostEqual(measure.slope([(0, 1), (1, 4), (2, 7)]), 3.0)
        self.assertAlmostEqual(measure.slope([(0, 5), (10, 5)]), 0.0)


class Issued(unittest.TestCase):
    LINES = [(32, 1_000_000), (64, 3_000_000), (96, 6_000_000)]

    def blocks(self, count):
        return [1 + number % issued.GRIDS for number in range(count)]

    def test_all(self):
        self.assertEqual(issued.survived(self.LINES, self.blocks(96)), (96, 96, 0.0, 0))

    def test_more_than_was_written(self):
        self.assertEqual(issued.survived(self.LINES, self.blocks(100)), (96, 100, 0.0, 0))

    def test_tail(self):
        self.assertEqual(issued.survived(self.LINES, self.blocks(40)), (96, 40, 3.0, 0))

    def test_nothing(self):
        self.assertEqual(issued.survived(self.LINES, []), (96, 0, None, 0))

    def test_holes(self):
        blocks = self.blocks(96)
        self.assertEqual(issued.holes(blocks[:50] + blocks[51:]), 1)
        self.assertEqual(issued.holes(blocks[1:]), 1)


class Names(unittest.TestCase):
    def test_plain(self):
        for mangled, expected in (("_Z7add_onePfi", "add_one"), ("_Z9add_timesILi2EEvPfi", "add_times<2>"),
                                  ("_Z15encoder_forwardPfPKii", "encoder_forward"), ("_ZN2at6native1kEv",) * 2, ("k",) * 2):
            self.assertEqual(names.plain(mangled), expected)


class Table(unittest.TestCase):
    def test_each_part_has_its_file(self):
        for row in table.PARTS:
            self.assertTrue(os.path.exists(f"{ROOM}/parts/{row.name}.py"), row.name)
            self.assertLessEqual(row.minutes, 8)

    def test_what_is_missing_is_said(self):
        """A machine with nothing runs nothing, and says why."""
        machine = Machine.__new__(Machine)
        machine.__dict__.update(simulate=False, gpus=[], nvcc=None, torch=None, python="python3")
        row = SimpleNamespace(needs=("nvcc",), simulated=True)
        self.assertIn("nvcc", machine.missing(row))
        machine.nvcc = "/bin/nvcc"
        self.assertIsNone(machine.missing(row))
        self.assertIn("GPU", machine.missing(SimpleNamespace(needs=("gpu", "nvcc"), simulated=True)))
        machine.simulate = True
        self.assertIn("not simulated", machine.missing(SimpleNamespace(needs=("torch",), simulated=False)))


class Cupti(unittest.TestCase):
    def test_where_it_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIsNone(find_cupti(folder, folder, usual="/none"))
            self.assertIsNone(find_cupti(None, None, usual="/none"))
            wheel, toolkit = f"{folder}/nvidia/cu13/lib/libcupti.so.13", f"{folder}/extras/CUPTI/lib64/libcupti.so.13"
            for path in (toolkit, wheel):  # the one that PyTorch has loaded is better
                os.makedirs(os.path.dirname(path))
                open(path, "w", encoding="ascii").close()
                self.assertEqual(find_cupti(folder, folder, usual="/none"), path)
            self.assertIsNone(find_cupti(folder, folder, usual=folder))


class Programs(unittest.TestCase):
    @unittest.skipUnless(NVCC, "nvcc is not installed")
    def test_nvcc_compiles_them(self):
        """The tests of the stand-ins compile them with g++."""
        programs = glob.glob(f"{ROOM}/programs/*.cu")
        self.assertGreaterEqual(len(programs), 4)
        with tempfile.TemporaryDirectory() as folder:
            for path in programs:
                done = subprocess.run([NVCC, "-std=c++17", "-O0", "-Werror", "all-warnings", f"-I{EXAMPLES}/cuda", "-ptx", "-o",
                                       f"{folder}/out.ptx", path], capture_output=True, text=True)
                self.assertEqual((path, done.returncode, done.stderr), (path, 0, ""))


class Page(unittest.TestCase):
    def page(self, simulated):
        check = {"what": "all of it", "ok": False, "evidence": "3 | 4"}
        figure = {"name": "a launch", "value": 1.5, "unit": "ns", "runs": 3, "spread": [1.0, 2.0], "interval": None}
        part = {"name": "smoke", "status": "failed", "reason": "all of it", "began": "today", "seconds": 1.0, "checks": [check],
                "figures": [figure]}
        return results.page({"date": "today", "simulated": simulated, "machine": {"gpu": "H100"}, "parts": [part]})

    def test_page(self):
        self.assertIn("| smoke | failed | today | 1.0 | 0 of 1 | all of it |", self.page(False))
        self.assertIn("**FAILED**: all of it (3 \\| 4)", self.page(False))
        self.assertIn("| a launch | 1.5 ns | 3 | 1 to 2 |  |", self.page(False))

    def test_simulated_is_said(self):
        self.assertIn("SIMULATED", self.page(True))
        self.assertNotIn("SIMULATED", self.page(False))


if __name__ == "__main__":
    unittest.main()
