"""What a part is given: what it may use, and where its checks and figures go."""
import json
import os
import shutil
import statistics
import time

import measure


class Skipped(Exception):
    """The part cannot run here; the text says why."""


class Part:
    """One run of one part. `folder` is its own; `simulate`: the stand-ins are the GPU; `machine`: machine.Machine."""

    def __init__(self, name, folder, places, machine, simulate):
        self.name, self.folder, self.places, self.machine, self.simulate = name, folder, places, machine, simulate
        self.notes = []
        self.began = time.monotonic()
        self.result = {"name": name, "status": "failed", "reason": "it did not end", "seconds": 0.0, "checks": [],
                       "figures": []}
        if os.path.exists(os.path.join(folder, "part.json")):  # of an earlier run
            shutil.rmtree(folder)
        os.makedirs(folder, exist_ok=True)
        self.write()

    def check(self, holds, what, evidence=""):
        """One claim and what was seen, in a text or a number; `evidence` may be a function. Returns `holds`."""
        seen = evidence() if callable(evidence) else evidence
        self.result["checks"].append({"what": what, "ok": bool(holds), "evidence": str(seen)[:2000]})
        print(f"{'ok  ' if holds else 'FAIL'}  {self.name}: {what}{'' if holds else f': {seen}'}", flush=True)
        self.write()
        return holds

    def note(self, text):
        """What was left out, and why, where that is no failure."""
        self.result.setdefault("notes", []).append(text)
        self.write()

    def figure(self, name, value, unit, runs=1, spread=None, interval=None):
        """A measured number. `spread`: the smallest and the largest run; `interval`: of 95 %."""
        self.result["figures"].append({"name": name, "value": value, "unit": unit, "runs": runs,
                                       "spread": spread and list(spread), "interval": interval and list(interval)})
        self.write()

    def samples(self, name, values, unit):
        """The median of some runs, as a figure."""
        self.figure(name, statistics.median(values), unit, len(values), (min(values), max(values)))

    def ratio(self, name, values, base):
        """How many times `base` the values are, as a figure, round by round (measure.ratio)."""
        value, interval = measure.ratio(values, base)
        rounds = [one / other for one, other in zip(values, base)]
        self.figure(name, value, "times", len(rounds), (min(rounds), max(rounds)), interval)
        return value

    def note(self, text):
        """What was left out, and why; the part goes on."""
        self.notes.append(text)

    def end(self, status, reason=""):
        self.result.update(status=status, reason=reason)
        self.write()

    def write(self):
        """After each step, so that a part that is killed for its time leaves what it found."""
        self.result["seconds"] = round(time.monotonic() - self.began, 1)
        path = os.path.join(self.folder, "part.json")
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(self.result, file, indent=1)
        os.replace(path + ".new", path)
