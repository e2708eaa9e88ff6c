#!/usr/bin/env python3
"""gpu_check's parts torch, fidelity and operators as wholes, with processes that are made up: neither a GPU nor PyTorch is needed."""
import collections
import json
import os
import sys
import tempfile
import unittest
from types import SimpleNamespace

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.normpath(os.path.join(HERE, "..", "..", "scripts", "gpu_check")))
import recording  # noqa: E402,F401
from part import Part  # noqa: E402
from parts import fidelity, operators, torch  # noqa: E402
from workers import WorkerFailed  # noqa: E402

KERNELS = 3  # of a step, 10 ns each
NAMES = ("_Z4gemmv", "_Z3addPf", "triton_poi_0")


class Clock:
    """A common clock in ns."""
    now = 1000


class FakeWorker:
    """A process that takes `step_ms` a step, and what a recorder in it and a profiler would have seen."""

    def __init__(self, part, name, arguments=(), prefix=(), record=True, **settings):
        self.name, self.record, self.settings = name, record, settings
        self.events, self.profiled, self.spoil = [], 0, FakeWorker.spoil.get(name, set())
        FakeWorker.made[name] = self

    def send(self, *words):
        self.words = words

    def quit(self):
        pass

    def receive(self, timeout_s=0):
        return self.ask(*self.words)

    def ask(self, command, model="main", steps=0, kind=None, timeout_s=0):
        if command == "about":
            return {"parameters": 124, "batch": 4}
        if "dies" in self.spoil and command in ("run", "profile") and steps > 3:
            raise WorkerFailed(f"{self.name}: it ended")
        begin, self.profile = Clock.now + 100, []
        Clock.now = begin
        for number in range(steps * KERNELS):
            self.add(number)
        if command == "trace":
            self.write_profile(kind, begin)
        step_ms = {"default": 10.05, "all": 11.0}.get(self.name, 12.0 if command == "profile" else 10.0)
        return {"steps_ms": [50.0] + [step_ms] * (steps - 1), "launch_ms": step_ms, "cpu_ms": step_ms, "begin_ns": begin,
                "end_ns": Clock.now, "kernels": {name: [steps, steps * 10] for name in NAMES}}

    def add(self, number):
        Clock.now += 20
        name, launched = ("aten::mm", "aten::add")[number % 2], Clock.now - 10
        self.profile += [{"cat": "cpu_op", "name": name, "ts": launched - 5, "dur": 9, "args": {"External id": Clock.now}},
                         {"cat": "kernel", "name": NAMES[number % KERNELS], "ts": Clock.now, "dur": 10, "args": {"External id": Clock.now}}]
        if self.record:
            event = lambda kind, at, **more: self.events.append(SimpleNamespace(kind=kind, time=at, start=at, end=None, tid=1, **more))
            event("operator_begin", launched - 5, id=7, scope=0, name="aten::relu" if number == 0 and "renames" in self.spoil else name,
                  stack=[SimpleNamespace(what="module", name="Linear"), SimpleNamespace(what="python", name="forward")])
            event("runtime", launched, correlation=Clock.now)
            event("operator_end", launched + 4, id=7)
        if self.record and not (number == 0 and "forgets" in self.spoil):
            shape = SimpleNamespace(name=NAMES[number % KERNELS])
            self.events.append(SimpleNamespace(kind="kernel", start=Clock.now, end=Clock.now + 10, correlation=Clock.now,
                                               shape=shape))

    def write_profile(self, path, begin):
        module = {"cat": "python_function", "name": "nn.Module: Linear_3", "ts": begin, "dur": Clock.now - begin, "args": {}}
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": [{"ph": "X", "tid": 1, **each} for each in [module, *self.profile]]}, file)

    def end(self, timeout_s=0):
        return 0

    def last_words(self):
        return ""

    def recordings(self):
        none = collections.Counter()
        return [SimpleNamespace(events=self.events, header={"cupti_version": 130001}, lost=none, overwritten=none, dropped=0,
                                event_wall=lambda event: (event.start, event.end))]


class Parts(unittest.TestCase):
    def run_part(self, module, **spoil):
        FakeWorker.made, FakeWorker.spoil = {}, spoil
        self.addCleanup(setattr, module, "Worker", module.Worker)
        module.Worker = FakeWorker
        with tempfile.TemporaryDirectory() as folder:
            machine = SimpleNamespace(gpu_bytes=lambda: 80 << 30, cupti=None, python=sys.executable)
            part = Part("one", os.path.join(folder, "one"), None, machine, False, 100)
            module.run(part)
        self.figures = {figure["name"]: figure for figure in part.result["figures"]}
        return [check["what"] for check in part.result["checks"] if not check["ok"]]

    def test_fidelity(self):
        self.assertEqual(self.run_part(fidelity), [])
        self.assertEqual(self.figures["GPU work per step"]["value"], KERNELS)
        ratio = next(figure for name, figure in self.figures.items() if "torch.profiler's" in name)
        self.assertEqual((ratio["value"], ratio["runs"]), (1.0, fidelity.ROUNDS))
        self.assertEqual(self.figures["yield: share of the GPU work seen by the recorder meanwhile"]["value"], 1.0)

    def test_fidelity_finds_a_kernel_that_is_missing(self):
        failed = self.run_part(fidelity, recorded={"forgets"}, both_yield={"forgets"})
        self.assertEqual(failed, ["the same names, as often as torch.profiler saw them",
                                  "summed durations agree within 5%", "yield: where work is missing, the file says so"])

    def test_operators(self):
        self.assertEqual(self.run_part(operators), [])
        self.assertEqual([self.figures[f"{what} in a step"]["value"] for what in ("operators", "kernels")], [KERNELS] * 2)
        self.assertEqual({name for name in self.figures if name.startswith("step time")},
                         {f"step time, {level}, to without us" for level in ("off", "steps", "ops", "shapes", "stacks", "memory", "all")})
        self.assertEqual(FakeWorker.made["level_ops"].settings["TRACETOOL_TORCH"], "ops")
        self.assertFalse(FakeWorker.made["level_without"].record)

    def test_operators_finds_one_of_another_name_and_a_kernel_that_is_missing(self):
        with_another = ["operators, while torch.profiler sees them", "operators, of another window", "kernels by their operator",
                        "operators by the classes of the modules around them"]
        self.assertEqual(self.run_part(operators, recorded={"renames"}),
                         [f"{what}: as torch.profiler has them" for what in with_another] + ["kernels by their operator, while torch.profiler sees them"])
        self.assertEqual(self.run_part(operators, recorded={"forgets"}),
                         ["kernels by their operator: as torch.profiler has them"])

    def test_torch(self):
        self.assertEqual(self.run_part(torch), [])
        self.assertAlmostEqual(self.figures["step time, default, to without us"]["value"], 1.005)
        self.assertAlmostEqual(self.figures["step time, profiler cpu+cuda, to without us"]["value"], 1.2)
        self.assertEqual(self.figures["kernels per step, default"]["value"], KERNELS)
        self.assertEqual(FakeWorker.made["light"].settings["TRACETOOL_EVENTS"], "light")
        self.assertFalse(FakeWorker.made["without"].record)

    def test_torch_without_one_that_dies(self):
        self.assertEqual(self.run_part(torch, all={"dies"}), ["every process answers to the end"])
        self.assertIn("step time, default, to without us", self.figures)
        self.assertNotIn("step time, all, to without us", self.figures)
        self.assertNotIn("kernels per step, all", self.figures)


if __name__ == "__main__":
    unittest.main()
