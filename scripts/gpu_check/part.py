"""What a part is given: what it may use, and where its checks and figures go."""
import datetime
import json
import os
import shutil
import statistics
import time
import traceback

import measure


class Skipped(Exception):
    """The part cannot run here; the text says why."""


class Part:
    """One run of one part. `folder` is its own; `simulate`: the stand-ins are the GPU; `machine`: machine.Machine;
    `limit_s`: it is killed after these seconds."""

    def __init__(self, name, folder, places, machine, simulate, limit_s):
        self.name, self.folder, self.places, self.machine, self.simulate = name, folder, places, machine, simulate
        self.limit_s = limit_s
        self.began = time.monotonic()
        self.result = {"name": name, "status": "failed", "reason": "it did not end",
                       "began": datetime.datetime.now().astimezone().isoformat(timespec="seconds"), "seconds": 0.0,
                       "checks": [], "figures": [], "notes": []}
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

    def attempt(self, what, function, *arguments):
        """function(self, *arguments); where it breaks, that is a check that failed, and the part goes on."""
        try:
            return function(self, *arguments)
        except Skipped:
            raise
        except Exception as error:  # whatever it is
            with open(os.path.join(self.folder, "exceptions.txt"), "a", encoding="utf-8") as file:
                file.write(f"{what}\n{traceback.format_exc()}\n")
            self.check(False, f"{what}: it can be seen through", f"{type(error).__name__}: {error}")
            return None

    def note(self, text):
        """What was left out, and why; the part goes on."""
        self.result["notes"].append(text)
        self.write()

    def left_s(self):
        """Seconds until it is killed."""
        return self.limit_s - (time.monotonic() - self.began)

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
