#!/usr/bin/env python3
"""Reads a Chrome trace JSON that `tracetool export --perfetto` wrote, by rules of its own, and says what is wrong.

    check_chrome_json.py TRACE.json[.gz] [--info INFO.json] [--json]

Checked: valid JSON; metadata first; ids in 1..2^32-1 and named once; times with exactly three decimals; on every row
slices nest, and GPU work never overlaps at all; computed slices lie on rows of their own; a computed counter has one value
a moment, none negative, and none twice in a row; every arrow has one start, at least one end, and an id of its own; each
end of an arrow lies in the slice that a viewer binds it to: the one opened last on that row.
With --info (the output of `tracetool info --json`) the counts of each rank are compared. Exit 1 when anything is wrong.
Standard library only; shares no code with the exporter.
"""
import argparse
import collections
import gc
import gzip
import json
import re
import sys

GPU_WORK = {"kernel", "gpu_memcpy", "gpu_memset", "cuda_graph", "Kernel", "Memcpy", "Memset"}
KIND_OF_CATEGORY = {
    "kernel": "kernel", "Kernel": "kernel", "gpu_memcpy": "memcpy", "Memcpy": "memcpy",
    "gpu_memset": "memset", "Memset": "memset", "cuda_runtime": "runtime", "Runtime": "runtime",
    "cuda_driver": "driver", "nvtx": "nvtx", "nccl": "nccl", "cuda_sync": "sync", "overhead": "overhead",
    "cuda_graph": "graph",
}
COMPUTED = "computed"  # the category of what the exporter adds to the events
COLLECTIVE = "collective"  # that of arrows from one rank to others
METADATA = {"process_name", "process_sort_index", "thread_name", "thread_sort_index"}
MOST_MESSAGES = 20


class Checker:
    def __init__(self):
        self.errors = collections.Counter()
        self.messages = []
        self.counts = collections.Counter()        # (pid, category) of slices
        self.phases = collections.Counter()
        self.process_names = {}
        self.row_names = {}
        self.slices = collections.defaultdict(list)  # (pid, tid) -> (start, end, is GPU work, name), in file order
        self.row_categories = collections.defaultdict(set)  # (pid, tid) -> {computed or not}
        self.values = {}                             # (pid, name) of computed counters -> (time, value)
        self.flows = collections.defaultdict(list)   # id -> (phase, time, row, category)
        self.opened = collections.defaultdict(list)  # (pid, tid) -> (time, place in file, what, end)

    def wrong(self, rule, detail):
        self.errors[rule] += 1
        if self.errors[rule] <= 3 and len(self.messages) < MOST_MESSAGES:
            self.messages.append(f"{rule}: {detail}")

    def nanoseconds(self, text, event):
        """Numbers with a fraction arrive as text, see load(): exact, without a double in between."""
        if not isinstance(text, str) or not re.fullmatch(r"-?\d+\.\d{3}", text):
            self.wrong("time without exactly three decimals", f"{text!r} in {event}")
            return 0
        return int(text.replace(".", ""))

    def row_of(self, event):
        row = (event.get("pid"), event.get("tid"))
        if not all(isinstance(n, int) and 0 < n < 2**32 for n in row):
            self.wrong("pid or tid out of range", event)
        return row

    def event(self, place, event):
        phase = event.get("ph")
        computed = event.get("cat") == COMPUTED
        self.phases[phase, "computed" if computed else "events"] += 1
        row = self.row_of(event)
        handler = getattr(self, "on_" + str(phase), None)
        if handler is None:
            self.wrong("unknown phase", event)
        else:
            handler(place, event, row)

    def on_M(self, _place, event, row):
        name, args = event["name"], event["args"]
        if name not in METADATA:
            self.wrong("unknown metadata", event)
        elif name in ("process_name", "thread_name"):
            names, key = (self.process_names, row[0]) if name == "process_name" else (self.row_names, row)
            if key in names:
                self.wrong("named twice", event)
            names[key] = args["name"]
        elif not isinstance(args["sort_index"], int):
            self.wrong("sort_index is no integer", event)

    def on_X(self, place, event, row):
        start = self.nanoseconds(event["ts"], event)
        duration = self.nanoseconds(event["dur"], event)
        if start < 0 or duration < 0:
            self.wrong("negative time", event)
        if row not in self.row_names:
            self.wrong("slice on a row without a name", event)
        self.counts[row[0], event["cat"]] += 1
        self.row_categories[row].add(event["cat"] == COMPUTED)
        self.slices[row].append((start, start + duration, event["cat"] in GPU_WORK, event["name"]))
        self.opened[row].append((start, place, "slice", start + duration))

    def on_i(self, place, event, row):
        if event.get("s") == "t":
            self.opened[row].append((self.nanoseconds(event["ts"], event), place, "instant", None))

    def on_C(self, _place, event, row):
        if not isinstance(event.get("args"), dict) or not event["args"]:
            self.wrong("counter without a series", event)
        elif event["cat"] == COMPUTED:
            self.computed_value(row[0], event)

    def computed_value(self, pid, event):
        time, value = self.nanoseconds(event["ts"], event), float(next(iter(event["args"].values())))
        last = self.values.get((pid, event["name"]))
        if value < 0 or (last and (time <= last[0] or value == last[1])):
            self.wrong("computed counter", f"{event} after {last}")
        self.values[pid, event["name"]] = time, value

    def on_s(self, place, event, row):
        time = self.nanoseconds(event["ts"], event)
        self.flows[event["id"]].append((event["ph"], time, row, event["cat"]))
        self.opened[row].append((time, place, "arrow", event["id"]))

    def on_f(self, place, event, row):
        if event.get("bp") != "e":
            self.wrong("end of an arrow without bp", event)
        self.on_s(place, event, row)

    on_t = on_f

    def check_nesting(self):
        for row, slices in self.slices.items():
            stack = []
            for start, end, gpu, name in sorted(slices, key=lambda s: (s[0], -s[1])):
                while stack and stack[-1][0] <= start:
                    stack.pop()
                if stack and stack[-1][0] < end:
                    self.wrong("slices overlap without nesting", f"{name!r} at {start} ns on {row}")
                if stack and gpu and stack[-1][1]:
                    self.wrong("GPU work overlaps on one row", f"{name!r} at {start} ns on {row}")
                stack.append((end, gpu))

    def check_binding(self):
        """An arrow binds to what was opened last on its row, in the order of time and then of the file."""
        for row, opened in self.opened.items():
            last = None
            for time, _place, what, value in sorted(opened, key=lambda o: (o[0], o[1])):
                if what != "arrow":
                    last = (what, time, value)
                elif last is None or last[0] != "slice":
                    self.wrong("arrow bound to no slice", f"id {value} at {time} ns on {row}: {last}")
                elif not last[1] <= time <= last[2]:
                    self.wrong("arrow outside the slice before it", f"id {value} at {time} ns on {row}: {last}")

    def check_arrows(self):
        arrows, backward, between_ranks = 0, 0, 0
        for flow_id, ends in self.flows.items():
            starts = [e for e in ends if e[0] == "s"]
            if len(starts) != 1:
                self.wrong("arrow without exactly one start", f"id {flow_id}: {ends[:4]}")
                continue
            if len(ends) < 2:
                self.wrong("arrow without an end", f"id {flow_id}: {ends}")
            if len({e[3] for e in ends}) != 1:
                self.wrong("arrow of two categories", f"id {flow_id}: {ends[:4]}")
            if ends[0][3] == COLLECTIVE:
                between_ranks += len(ends) - 1
                if any(e[1] <= starts[0][1] for e in ends if e[0] != "s"):
                    self.wrong("arrow of a collective that is not forward in time", f"id {flow_id}: {ends[:4]}")
                continue
            if len({e[2][0] for e in ends}) != 1:
                self.wrong("arrow between processes", f"id {flow_id}: {ends[:4]}")
            arrows += len(ends) - 1
            backward += sum(e[1] < starts[0][1] for e in ends)
        return arrows, backward, between_ranks

    def run(self, trace):
        events = trace["traceEvents"]
        if trace.get("displayTimeUnit") != "ns" or not isinstance(trace.get("baseTimeNanoseconds"), int):
            self.wrong("head", "displayTimeUnit or baseTimeNanoseconds")
        if events and events[0]["ph"] != "M":
            self.wrong("the first event is no metadata", events[0])
        for place, event in enumerate(events):
            self.event(place, event)
        self.check_nesting()
        self.check_binding()
        for row, kinds in self.row_categories.items():
            if len(kinds) > 1:
                self.wrong("computed slices among events", row)
        arrows, backward, between_ranks = self.check_arrows()
        return {
            "events": len(events),
            "slices": self.phases["X", "events"],
            "instants": self.phases["i", "events"],
            "counters": self.phases["C", "events"],
            "computed_slices": self.phases["X", "computed"],
            "computed_values": self.phases["C", "computed"],
            "arrows": arrows,
            "backward_arrows": backward,
            "collective_arrows": between_ranks,
            "rows": len(self.row_names),
            "lanes": sum(bool(re.search(r" \(\d+\)$", name)) for name in self.row_names.values()),
            "categories": dict(sum_by(self.counts, 1)),
            "ranks": self.ranks(),
            "errors": dict(self.errors),
        }

    def ranks(self):
        result = []
        for pid, name in self.process_names.items():
            rank = re.match(r"rank (\d+)\b", name)
            counts = collections.Counter()
            for (of, category), number in self.counts.items():
                if of == pid and category in KIND_OF_CATEGORY:
                    counts[KIND_OF_CATEGORY[category]] += number
            result.append({"rank": int(rank[1]) if rank else -1, "name": name, "counts": dict(counts)})
        return sorted(result, key=lambda r: r["rank"])


def sum_by(counter, part):
    total = collections.Counter()
    for key, number in counter.items():
        total[key[part]] += number
    return sorted(total.items())


def load(path):
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)

    def refuse(constant):
        raise ValueError(f"{constant} is not JSON")

    return json.loads(data.decode("utf-8"), parse_float=str, parse_constant=refuse)


def compare(result, info, checker):
    """Slices of the export against `info --json`. NVTX and NCCL are left out: marks are instants, not slices."""
    exported = collections.Counter()
    for process in result["ranks"]:
        for kind, number in process["counts"].items():
            exported[process["rank"], kind] += number
    expected = collections.Counter()
    for process in info["ranks"]:
        rank = process["rank"] if process["rank"] is not None else -1
        for kind in ("kernel", "memcpy", "memset", "graph", "runtime", "driver", "sync", "overhead"):
            expected[rank, kind] += process["counts"].get(kind, 0)
    for key in expected:
        if exported[key] != expected[key]:
            checker.wrong("count differs from info",
                          f"rank {key[0]} {key[1]}: {exported[key]}, info says {expected[key]}")


def print_text(result, messages):
    for key in ("events", "slices", "instants", "counters", "computed_slices", "computed_values", "arrows", "backward_arrows", "collective_arrows", "rows", "lanes"):
        print(f"{key:16} {result[key]:>12,}")
    for category, number in result["categories"].items():
        print(f"  {category:24} {number:>12,}")
    for process in result["ranks"]:
        print(f"{process['name']}: " + ", ".join(f"{n:,} {k}" for k, n in process["counts"].items()))
    for message in messages:
        print("WRONG:", message)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("trace")
    parser.add_argument("--info", help="the output of `tracetool info --json` on the same input")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    options = parser.parse_args()
    checker = Checker()
    try:
        result = checker.run(load(options.trace))
    except (ValueError, KeyError, OSError) as error:
        sys.exit(f"{options.trace}: {type(error).__name__}: {error}")
    if options.info:
        with open(options.info, encoding="utf-8") as file:
            compare(result, json.load(file), checker)
        result["errors"] = dict(checker.errors)
    if options.json:
        print(json.dumps(result))
    else:
        print_text(result, checker.messages)
    for rule, number in checker.errors.items():
        print(f"{number:,} x {rule}", file=sys.stderr)
    return 1 if checker.errors else 0


if __name__ == "__main__":
    gc.disable()  # as harness.py does
    sys.exit(main())
