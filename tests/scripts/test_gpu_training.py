#!/usr/bin/env python3
"""What gpu_check's parts torch, fidelity, ranks and capture compute, on made-up inputs: no GPU and no PyTorch is needed."""
import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest
from collections import namedtuple

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
FIXTURES = os.path.join(ROOT, "tests/unit/agent/fixtures")
sys.path.insert(0, os.path.join(ROOT, "scripts/gpu_check"))
import captures  # noqa: E402
import ranks_compare  # noqa: E402
import recording  # noqa: E402,F401
import trainings  # noqa: E402

Event = namedtuple("Event", "kind start end correlation shape")
Shape = namedtuple("Shape", "name")
Nccl = namedtuple("Nccl", "kind time name communicator bytes ordinal nccl_class")


def kernel(start, end, correlation, name="k", kind="kernel"):
    return Event(kind, start, end, correlation, Shape(name))


class Recorded:
    """A recording whose clock is the wall clock."""

    def __init__(self, *events):
        self.events = events

    def event_wall(self, event):
        return event.start, event.end


class Process:
    """A worker that answers with the time of the call, and remembers what it was asked."""

    def __init__(self, log, name, answer):
        self.log, self.name, self.answer = log, name, answer

    def ask(self, *words):
        self.log.append((self.name, *words))
        return self.answer


ANSWER = {"steps_ms": [90.0, 10.0, 12.0, 11.0], "launch_ms": 6.0, "cpu_ms": 5.0, "begin_ns": 100, "end_ns": 200}


class Rounds(unittest.TestCase):
    def test_interleaved(self):
        log, names = [], ("without", "default", "profiler cpu+cuda")
        variants = [each for each in trainings.VARIANTS if each.name in names or each.of in names]
        found, lost = trainings.rounds(variants, {name: Process(log, name, ANSWER) for name in names}, 0)
        self.assertEqual(lost, {})
        self.assertEqual([len(found[model]) for model in ("main", "small")], [trainings.FEWEST_ROUNDS] * 2)
        asked = [words for words in log if words[2] == "main"]
        self.assertEqual(asked[:4], [("without", "run", "main", 10), ("default", "run", "main", 10),
                                     ("profiler cpu+cuda", "profile", "main", 10, "cpu+cuda"),
                                     ("profiler cpu+cuda", "run", "main", 10)])
        self.assertEqual(asked[:4] * (trainings.FEWEST_ROUNDS + 1), asked)  # one to warm up

    def test_as_many_as_the_time_allows(self):
        self.assertEqual(trainings.rounds_for(10, 100), 10)
        self.assertEqual(trainings.rounds_for(10, 5), trainings.FEWEST_ROUNDS)
        self.assertEqual(trainings.rounds_for(0, 100), trainings.MOST_ROUNDS)

    def test_batch(self):
        self.assertEqual([trainings.batch_for(gib << 30) for gib in (141, 79, 48, 24, 0)], [4, 4, 2, 1, 1])

    def test_step_without_the_first(self):
        self.assertEqual(trainings.step_ms(ANSWER), 11.0)

    def test_host_time_of_a_launch(self):
        slower = dict(ANSWER, launch_ms=6.03, cpu_ms=5.06)
        found = {"small": [{"without": ANSWER, "default": slower}] * 3}
        steps = trainings.STEPS["small"]
        (mean, interval), rounds = trainings.host_ns_per_launch(found, "default", 10)
        self.assertAlmostEqual(mean, 30_000 / steps / 10)
        self.assertEqual(len(rounds), 3)
        self.assertAlmostEqual(interval[0], mean)
        self.assertAlmostEqual(trainings.cpu_ns_per_launch(found, "default", 10)[0][0], 60_000 / steps / 10)

    def test_share_of_an_overhead(self):
        self.assertAlmostEqual(trainings.overhead_share(1.01, 1.1), 0.1)
        self.assertIsNone(trainings.overhead_share(1.01, 1.0))


class Windows(unittest.TestCase):
    def test_only_what_lies_in_the_window(self):
        early, late = kernel(50, 60, 1), kernel(250, 260, 9)
        inside = [kernel(110, 120, 2), kernel(120, 130, 3), kernel(130, 140, 3, kind="kernel_wide"),
                  Event("runtime", 105, 106, 2, None)]
        launches, kernels, size = trainings.per_step(Recorded(early, *inside, late), ANSWER)
        self.assertEqual((launches, kernels), (2 / 4, 3 / 4))  # of 4 steps; a graph's launch counts once
        self.assertEqual(size, (2 * 32 + trainings.SIZES["kernel_wide"] + 24) / 4)

    def test_totals_by_plain_name(self):
        events = [kernel(0, 5, 1, "_Z3addPf"), kernel(5, 7, 2, "_Z3addPf", "kernel_wide"), kernel(0, 1, 3, "triton_poi_0"),
                  kernel(0, None, 4, "unfinished"), Event("memcpy", 0, 9, 5, None), Event("runtime", 0, 9, 5, None)]
        self.assertEqual(trainings.totals(events), {"add(float*)": (2, 7), "triton_poi_0": (1, 1), "memcpy": (1, 9)})

    def test_names_as_kineto_leaves_them(self):
        self.assertEqual(trainings.demangled(["gemm", "_Z1fv", "_Znonsense"]),
                         {"gemm": "gemm", "_Z1fv": "f()", "_Znonsense": "_Znonsense"})

    def test_names_that_kineto_left_mangled(self):
        """As it does from some length on: it is the same kernel."""
        mangled = "_Z" + "1000" + "x" * 1000 + "v"
        ours = trainings.totals([kernel(0, 5, 1, mangled)])
        for theirs in (mangled, "x" * 1000 + "()"):
            self.assertEqual(trainings.differences(ours, trainings.by_plain_name({theirs: [1, 5]})), {})

    def test_differences(self):
        ours, theirs = {"a": (3, 9), "b": (1, 1), "c": (2, 2)}, {"a": (3, 10), "b": (2, 1), "d": (5, 5)}
        self.assertEqual(trainings.differences(ours, theirs), {"b": (1, 2), "c": (2, 0), "d": (0, 5)})
        self.assertEqual(trainings.differences(ours, ours), {})


def collective(time_ns, name, size, ordinal, communicator=7):
    return Nccl("nccl_call", time_ns, name, communicator, size, ordinal, 1)


class Ranks(unittest.TestCase):
    CALLS = [["0", "ncclAllGather", 8], ["0", "ncclAllReduce", 400], ["1", "ncclAllReduce", 4], ["0", "ncclAllReduce", 400]]
    EVENTS = (collective(1, "ncclAllGather", 8, 0), collective(2, "ncclAllReduce", 400, 1),
              collective(3, "ncclAllReduce", 4, 0, 9), collective(4, "ncclAllReduce", 400, 2),
              Nccl("nccl_call", 5, "ncclSend", 7, 1, 0, 2))

    def difference(self, *events):
        calls = ranks_compare.recorded_calls(Recorded(*events))
        return ranks_compare.different(ranks_compare.issued_by_group(self.CALLS), ranks_compare.by_communicator(calls))

    def test_the_same(self):
        self.assertIsNone(self.difference(*self.EVENTS))

    def test_missing_wrong_and_swapped(self):
        first, second, other, third, send = self.EVENTS
        for events in ((first, second, other), (first, second, other, third, third._replace(ordinal=3)),
                       (first, second._replace(bytes=404), other, third), (first, second, third),
                       (first._replace(ordinal=1), second._replace(ordinal=0), other, third),
                       (first, second._replace(name="ncclBroadcast"), other, third)):
            self.assertIsNotNone(self.difference(*events))
        self.assertIn("call 1: asked ('ncclAllReduce', 400), recorded ('ncclAllReduce', 404)",
                      self.difference(first, second._replace(bytes=404), other, third))

    def test_ordinals(self):
        calls = ranks_compare.recorded_calls(Recorded(*self.EVENTS))
        self.assertEqual(ranks_compare.ordinal_gaps(calls), {})
        for ordinals in ([0, 2], [5, 6], [0, 0], [None]):
            gaps = [ranks_compare.Call(7, "ncclAllReduce", 4, ordinal) for ordinal in ordinals]
            self.assertEqual(ranks_compare.ordinal_gaps(gaps), {7: ordinals})

    def test_all_ranks(self):
        one = {7: [("ncclAllReduce", 4)]}
        self.assertIsNone(ranks_compare.ranks_differ([one, dict(one)]))
        self.assertEqual(ranks_compare.ranks_differ([one, one, {7: [("ncclAllReduce", 8)]}]), "rank 2")


class Captures(unittest.TestCase):
    def fixture(self, name):
        return next(path for path in glob.glob(f"{FIXTURES}/*.rawcapture") if name in path)

    def test_what_is_in_one(self):
        found = captures.summary(self.fixture("simulated_h100_cupti130001_training"))
        self.assertIn("(simulated)", found["device"])
        self.assertTrue(found["whole"])
        self.assertEqual(sum(found["records"].values()), found["totals"]["records"])
        self.assertEqual(found["payloads"]["NCCL: ncclAllReduce"], 1)

    def test_cut_and_foreign_files(self):
        with tempfile.TemporaryDirectory() as folder, open(self.fixture("known_work"), "rb") as whole:
            data, path = whole.read(), os.path.join(folder, "x.rawcapture")
            for size in range(captures.HEADER.size, len(data), 997):
                with open(path, "wb") as file:
                    file.write(data[:size])
                self.assertFalse(captures.summary(path)["whole"])
            for content in (b"", b"TTRAWCAP", b"x" * 200):
                with open(path, "wb") as file:
                    file.write(content)
                self.assertRaises(ValueError, captures.summary, path)

    def test_expected(self):
        calls = [["0", "ncclAllReduce", 8], ["0", "ncclAllReduce", 4], ["1", "ncclBroadcast", 2]]
        text = captures.expected_lines(captures.expected_of_calls(calls))
        self.assertEqual(text.splitlines()[1:], ["nccl 2 12 ncclAllReduce", "nccl 1 2 ncclBroadcast"])
        done = {"kernel": 3, "memcpy": 2, "memset": 1, "kernels": [{"name": "add", "count": 3}], "memset_bytes": 7,
                "memcpy_bytes": {"device_to_host": 5, "device_to_device": 6}}
        text = captures.expected_lines(captures.expected_of_known_work(done))
        self.assertEqual(text.splitlines()[1:], ["kernel 3 - -", "kernel 3 - add", "memcpy 2 11 -", "memset 1 7 -"])


class Names(unittest.TestCase):
    def test_programs_name_the_same_models_and_window(self):
        with open(os.path.join(ROOT, "scripts/gpu_check/programs/torch_steps.py"), encoding="utf-8") as file:
            text = file.read()
        for model in trainings.STEPS:
            self.assertRegex(text, f'"{re.escape(model)}": {model.upper()}')
        done = subprocess.run([sys.executable, "-m", "py_compile", *glob.glob(f"{ROOT}/scripts/gpu_check/programs/*.py")],
                              capture_output=True, text=True, env={**os.environ, "PYTHONPYCACHEPREFIX": tempfile.gettempdir()})
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
