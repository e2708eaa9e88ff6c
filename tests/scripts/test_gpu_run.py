#!/usr/bin/env python3
"""How scripts/gpu_check runs its parts: in the time that there is, and so that what breaks or hangs leaves evidence."""
import os
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
from types import SimpleNamespace

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.normpath(os.path.join(HERE, "..", "..", "scripts", "gpu_check")))
import main  # noqa: E402
import measure  # noqa: E402
import pack  # noqa: E402
import recording  # noqa: E402
import results  # noqa: E402
from part import Part  # noqa: E402
from parts import ranks  # noqa: E402


class Time(unittest.TestCase):
    """A machine may be lent for minutes."""

    def limit(self, minutes, left_s, limit_s=240):
        return main.limit_of(SimpleNamespace(minutes=minutes), SimpleNamespace(limit=limit_s), left_s)

    def test_a_part_gets_what_is_left(self):
        self.assertEqual(self.limit(8, None), 240)
        self.assertEqual(self.limit(8, 560), 240)
        self.assertEqual(self.limit(8, 200), 200 - main.KEEP_S)

    def test_a_part_without_time_is_not_begun(self):
        self.assertIsNone(self.limit(8, 8 * 60 * main.LEAST_SHARE + main.KEEP_S - 1))
        self.assertIsNone(self.limit(1, 0))
        self.assertEqual(self.limit(8, 30 + main.KEEP_S, limit_s=30), 30)  # as little as was asked for

    def test_rounds_end_with_the_time(self):
        for rounds, time_for, expected in ((5, 9, 5), (5, 4, 4), (5, 0, measure.FEWEST_ROUNDS), (2, 0, 2)):
            left = iter([True] * (time_for - measure.FEWEST_ROUNDS) + [False] * 9)
            samples = measure.interleaved("AB", rounds, lambda variant: 1, lambda: next(left))
            self.assertEqual(samples, {"A": [1] * expected, "B": [1] * expected})


class Kept(unittest.TestCase):
    """Results of several runs into one folder, and the file that is carried away."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def run_of(self, gpu, *parts):
        return {"date": "today", "simulated": False, "machine": {"gpu": gpu, "cupti": "unknown"}, "parts": list(parts)}

    def test_earlier_parts_of_the_same_machine(self):
        smoke, torch = ({**results.skipped(name, ""), "status": "ok"} for name in ("smoke", "torch"))
        results.write(self.folder, self.run_of("H100", torch))
        self.assertEqual(results.earlier(self.folder, self.run_of("H100")), [torch])
        self.assertEqual(results.earlier(self.folder, self.run_of("H200")), [])
        self.assertEqual(results.earlier(os.path.join(self.folder, "none"), self.run_of("H100")), [])
        order = ["smoke", "torch"]
        self.assertEqual(results.put([torch], smoke, order), [smoke, torch])
        again = {**torch, "reason": "again"}
        self.assertEqual(results.put([smoke, torch], again, order), [smoke, again])
        self.assertEqual(results.put([torch], results.skipped("torch", "no time"), order), [torch])

    def file(self, name, content):
        path = os.path.join(self.folder, "results", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)

    def packed(self, *statuses, most_bytes=pack.MOST_BYTES):
        target = os.path.join(self.folder, "results", "pack.tar.gz")  # it may lie among what it packs
        parts = [{"name": name, "status": status} for name, status in statuses]
        for _ in range(2):
            pack.write(target, os.path.join(self.folder, "results"), parts, most_bytes)
        with tarfile.open(target) as archive:
            names = set(archive.getnames())
            left_out = archive.extractfile("left_out.txt").read().decode().split()
        return names - {"left_out.txt"}, left_out

    def test_pack(self):
        texts = {"results.json": b"{}", "capture/fixtures/x.rawcapture": b"x" * 1000, "smoke/run/stderr": b"words"}
        for name, content in {**texts, "smoke/known_work": b"\x7fELF", "torch/inductor/x/code.py": b"", **{
                f"{part}/traces/1.ring": bytes(2 << 20) for part in ("smoke", "torch")}}.items():
            self.file(name, content)
        self.assertEqual(self.packed(("smoke", "ok"), ("torch", "ok")), (set(texts), []))
        self.assertEqual(self.packed(("smoke", "ok"), ("torch", "failed")), ({*texts, "torch/traces/1.ring"}, []))

    def test_what_has_no_room_is_named(self):
        self.file("results.json", b"{}")
        self.file("smoke/traces/1.ring", os.urandom(2 << 20))
        self.assertEqual(self.packed(("smoke", "failed"), most_bytes=1 << 20), ({"results.json"}, ["smoke/traces/1.ring"]))


class Going(unittest.TestCase):
    """What breaks or hangs leaves evidence, and the rest goes on."""

    def part(self, folder, **more):
        machine = SimpleNamespace(cupti=None, python=sys.executable)
        part = Part("one", os.path.join(folder, "one"), SimpleNamespace(**more), machine, False, 100)
        part.check = lambda holds, what, evidence="": part.result["checks"].append((what, holds, evidence)) or holds
        return part

    def test_a_section_that_breaks(self):
        with tempfile.TemporaryDirectory() as folder:
            part = self.part(folder)
            self.assertIsNone(part.attempt("dividing", lambda _, by: 1 / by, 0))
            self.assertEqual(part.attempt("dividing", lambda _, by: 1 / by, 2), 0.5)
            self.assertEqual([(what, holds) for what, holds, _ in part.result["checks"]],
                             [("dividing: it can be seen through", False)])
            with open(f"{part.folder}/exceptions.txt", encoding="utf-8") as file:
                self.assertIn("ZeroDivisionError", file.read())

    def test_a_program_that_hangs_says_where(self):
        program = "import sys, time; print('begun', flush=True); time.sleep(60)"
        with tempfile.TemporaryDirectory() as folder:
            command = [sys.executable, "-X", "faulthandler", "-c", program]
            with self.assertRaisesRegex(RuntimeError, r"did not end within 1 s: (.|\n)*line 1 in <module>"):
                recording.run(self.part(folder), "run", command, record=False, timeout=1)
            with open(f"{folder}/one/run/stdout", encoding="utf-8") as file:
                self.assertEqual(file.read(), "begun\n")

    def test_ranks(self):
        sleep, fail = ([sys.executable, "-X", "faulthandler", "-c", text] for text in ("import time; time.sleep(60)",
                                                                                      "import sys; sys.exit(3)"))
        before, ranks.AFTER_FAILURE_S = ranks.AFTER_FAILURE_S, 0.5
        self.addCleanup(setattr, ranks, "AFTER_FAILURE_S", before)
        running = [subprocess.Popen(command, stderr=subprocess.DEVNULL) for command in (sleep, fail)]
        began = time.monotonic()
        self.assertEqual(ranks.wait(running, 30), [None, 3])
        self.assertLess(time.monotonic() - began, 20)


if __name__ == "__main__":
    unittest.main()
