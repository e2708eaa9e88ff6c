#!/usr/bin/env python3
"""The processes that gpu_check asks for steps of a training: how they answer, die and hang."""
import os
import signal
import sys
import tempfile
import textwrap
import time
import unittest
from types import SimpleNamespace

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.normpath(os.path.join(HERE, "..", "..", "scripts", "gpu_check")))
import recording  # noqa: E402,F401
import trainings  # noqa: E402
import workers  # noqa: E402

ANSWER = {"steps_ms": [90.0, 10.0], "launch_ms": 6.0, "cpu_ms": 5.0, "begin_ns": 100, "end_ns": 200}


class Workers(unittest.TestCase):
    PROGRAM = """
        import sys, time
        for line in sys.stdin:
            if line == "quit\\n": break
            if line == "die\\n": sys.exit("its last words")
            if line == "sleep\\n": time.sleep(60)
            if line == "run main 10\\n": sys.exit("it breaks")
            print("Collecting data...")
            print('{"said": "%s"}' % line.strip(), flush=True)
        """

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        path = os.path.join(self.folder.name, "program.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(self.PROGRAM))
        self.before, workers.STEPS = workers.STEPS, path
        self.addCleanup(setattr, workers, "STEPS", self.before)
        before = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(before)))
        os.environ["PYTHONFAULTHANDLER"] = "1"  # as gpu_check does
        machine = SimpleNamespace(python=sys.executable)
        part = SimpleNamespace(folder=self.folder.name, simulate=False, machine=machine)
        self.worker = workers.Worker(part, "one", record=False)
        self.addCleanup(self.worker.process.stdin.close)
        self.addCleanup(self.worker.process.stdout.close)
        self.addCleanup(self.worker.process.wait)
        self.addCleanup(self.worker.process.kill)

    def test_answers(self):
        self.assertEqual(self.worker.ask("run", "main", 3), {"said": "run main 3"})
        self.assertEqual(self.worker.ask("run", "small", 4), {"said": "run small 4"})
        self.assertEqual(self.worker.end(), 0)

    def test_death(self):
        with self.assertRaisesRegex(workers.WorkerFailed, "its last words"):
            self.worker.ask("die")
            self.worker.ask("again")

    def test_silence(self):
        began = time.monotonic()
        with self.assertRaisesRegex(workers.WorkerFailed, r"sleep: no answer within 1 s: (.|\n)*line 6 in <module>"):
            self.worker.ask("sleep", timeout_s=1)
        self.assertLess(time.monotonic() - began, 20)
        self.assertEqual(self.worker.end(), -signal.SIGABRT)

    def test_no_end(self):
        self.worker.send("sleep")
        self.assertIsNone(self.worker.end(0.2))

    def test_a_process_that_fails_is_left_out_and_the_others_go_on(self):
        good = SimpleNamespace(ask=lambda *words: ANSWER)
        found, lost = trainings.rounds(trainings.VARIANTS[:3], {"without": good, "light": self.worker, "default": good}, 0)
        self.assertEqual(set(found["main"][-1]), {"without", "default"})
        self.assertIn("light", lost)
        with self.assertRaises(workers.WorkerFailed):
            trainings.rounds(trainings.VARIANTS[:3], {"without": self.worker, "light": good, "default": good}, 0)


if __name__ == "__main__":
    unittest.main()
