#!/usr/bin/env python3
"""Files as people really have them through every command: what is right in them is read, and what is wrong is said.

  test_field_cases.py --tracetool PATH --processor PATH
"""
import json
import os

import made_field_cases as made
from harness import Folder, check, finish, run
import argparse
import bz2
import decimal
import gzip
import lzma
import perfetto_reader

MS = 1000000

# name, file, kernels, (busy, span) of each GPU in ms, what analyze or info says.
SINGLE = [
    ("base.json", made.base(), 20, [(2.0, 3.7)], ""),
    ("tid_2_64.json", made.each(made.set_stream(2**64 - 1)), 20, [(2.0, 3.7)], ""),
    ("stream_text.json", made.each(made.set_stream("stream 7 (high)")), 20, [(2.0, 3.7)], ""),
    ("pid_text.json", made.each(made.set_pid("GPU 0")), 20, [(2.0, 3.7)], ""),
    ("prefixed.json.gz", made.two_processes(True), 40, [(2.0, 3.7)] * 2, "this file holds 2 processes"),
    ("offset.json", made.two_processes(False), 40, [(2.0, 3.7)] * 2, "this file holds 2 processes"),
    ("ts0.json", made.untimed_kernels(), 35, [(2.0, 3.7)], "15 events far from the rest of the trace in time"),
    ("days400.json", made.more({"ph": "X", "cat": "user_annotation", "name": "open", "pid": 4000, "tid": 4000,
                                "ts": made.START + 100, "dur": 34560000000000.0}), 20, [(2.0, 3.7)], "more than a day away from all others"),
    ("overrun.json", made.overrun(), 20, [(2.05, 3.7)], "1 kernel or copy is recorded to end more than 1 s after later work"),
    ("negative.json", made.negative_times(), 20, [(2.0, 3.7)], ""),
    ("async.json", made.async_spans(), 20, [(2.0, 3.7)], ""),
    ("xpu.json", made.xpu(), 20, [(2.0, 3.7)], ""),
    ("jax.trace.json.gz", made.device_rows("/device:GPU:0", "Stream #14(Compute)", 1, 14), 10, [(0.4025, 0.94025)], ""),
    ("ascend.json", made.device_rows("Ascend Hardware", "Stream 2", 64, 2), 10, [(0.4025, 0.94025)], ""),
    ("unknown_device.json", {"traceEvents": [{"ph": "X", "cat": "hpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 2}]}, 0, [],
     "no GPU work in a known category; it has: hpu_op (1)"),
    ("lost_graphs.json", made.graph_launches(84, 4), 4, None, "80 of 84 launches have no GPU work in this trace"),
    ("lost_all.json", made.graph_launches(84, 0), 0, [], "84 of 84 launches have no GPU work in this trace"),
    ("double.json.gz", gzip.compress(gzip.compress(json.dumps(made.base()).encode())), 20, [(2.0, 3.7)], ""),
]

# name, lines behind the base's, the names that they have, what is said.
WINDOWS = [r"torch\cuda\__init__.py(219): _lazy_init", r"C:\Users\dev\train.py(12): <module>", r"..\x\utils.py(3): f", r"torch\nn\modules\linear.py(0): forward",
           "C:\\dir\\"]
QUOTED = ['{"device": "cpu", "dtype": "float32"}(12): run', '"""Docstring."""(1): <module>', 'f("a")', 'say "x, "y": 1(3): g']
WRITERS = [
    ("backslash.json", [made.frame(name, 10 * i) for i, name in enumerate(WINDOWS)], WINDOWS, "a backslash in a string is not escaped"),
    ("quotes.json", [made.frame(name, 10 * i) for i, name in enumerate(QUOTED)], QUOTED, "a quote in a string is not escaped"),
    ("control.json", [made.frame("a\x01b", 0), made.frame("line1\nline2\ttab", 10), made.frame("nul\0in", 20), made.frame("lat~in1", 30).encode().replace(b"~", b"\xe9")],
     ["a\x01b", "line1\nline2\ttab", "nul\0in", "lat\u00e9in1"], "a raw control character"),
]
NO_NUMBERS = ("inf", "-inf", "nan", "NaN", "Infinity", "-nan", "+inf", "-nan(ind)", "1.#INF")

# Files of several ranks: their names, whether they have ranks of their own, the ranks that are right; None: all unknown, and said.
FOUR = range(4)
NAMES = [
    ("brackets", [f"exp[llama2]-rank[{i}].17150000000{i}.pt.trace.json" for i in FOUR], False, [0, 1, 2, 3]),
    ("equals", [f"trace_rank={i}.json" for i in FOUR], False, [0, 1, 2, 3]),
    ("dots", [f"trace.rank.{i}.json" for i in FOUR], False, [0, 1, 2, 3]),
    ("lora", [f"llama-lora_rank16_bs8_rank{i}.json" for i in FOUR], False, [0, 1, 2, 3]),
    ("lora_counted", [f"low_rank_64_r{i}.json" for i in FOUR], False, [0, 1, 2, 3]),
    ("lora_content", [f"lora_rank16_{i}.json" for i in FOUR], True, [0, 1, 2, 3]),
    ("megatron", [f"tp_rank_{i}_pp_rank_{j}.json" for i in (0, 1) for j in (0, 1)], False, None),
    ("sglang", [f"1715000000.12-TP-{i}-DP-{j}.trace.json.gz" for i in (0, 1) for j in (0, 1)], False, None),
    ("counted", [f"profile_{i}.json" for i in FOUR], False, [0, 1, 2, 3]),
    ("pods", [f"gpu-worker-{i // 2 + 3}_{5000 + i}.171500000000{i}.pt.trace.json" for i in FOUR], False, None),
    ("vllm", [f"dp0_pp{i // 2}_tp{i % 2}_ep{i}_rank{i}.171500000000{i}.pt.trace.json.gz" for i in FOUR], False, [0, 1, 2, 3]),
    ("directories", [f"rank_{i}/trace.json" for i in FOUR], False, [0, 1, 2, 3]),
    ("content_wins", ["rank1.json", "rank0.json"], True, [0, 1]),
]

# What is no trace: its bytes, and a word of what it is said to be.
FOREIGN = [
    ("a.zip", b"PK\x03\x04" + bytes(40), "a zip archive"), ("a.json.xz", lzma.compress(b"{}"), "compressed by xz"),
    ("a.json.bz2", bz2.compress(b"{}"), "compressed by bzip2"), ("a.nsys-rep", b"\x03\0\0\0NVIDIA Nsight" + bytes(40), "Nsight Systems"),
    ("a.qdrep", b"QDR\x09" + bytes(40), "Nsight Systems"), ("a.ncu-rep", b"NVR\0" + bytes(40), "Nsight Compute"),
    ("a.sqlite", b"SQLite format 3\0" + bytes(40), "an SQLite database"), ("a.pickle", b"\x80\x04\x95" + bytes(40), "a Python pickle"),
    ("a.pftrace", b"\n\xb0\x0c\x92" + bytes(40), "a Perfetto trace"), ("utf16.json", json.dumps(made.base()).encode("utf-16"), "text in UTF-16"),
    ("a.xplane.pb", b"\n\xa1\xf0\x08\x12\x0e/host:metadata" + bytes(40), "a profile of XLA"),
    ("rocprofv3.json", b'{"rocprofiler-sdk-tool": []}', "a report of rocprofv3"), ("a.tar", b"traces/a.json".ljust(257, b"\0") + b"ustar\x0000" + bytes(300), "a tar archive"),
    ("b.tar.gz", gzip.compress(b"traces/a.json".ljust(257, b"\0") + b"ustar\x0000" + bytes(300)), "a tar archive"),
    ("lfs.json", b"version https://git-lfs.github.com/spec/v1\n", "a pointer of Git LFS"), ("page.json", b"<!DOCTYPE html><html>", "a web page"),
    ("speedscope.json", b'{"$schema": "x", "profiles": []}', "a profile of speedscope"),
    ("nested.json", json.dumps({"traceEvents": made.base()}).encode(), "a trace in a trace"),
]


def asked(tool, *command):
    result = run([tool, *command])
    return result, result.stdout + result.stderr


def events_of(path):
    """All events of a trace in JSON, without order: of the Kineto form they come back as they were, but for how a time is spelled."""
    with (gzip.open(path) if path.endswith(".gz") else open(path, "rb")) as file:
        events = [event for event in json.load(file)["traceEvents"] if event and event.get("ph") != "M"]
    for event in events:
        event.update({key: str(decimal.Decimal(str(event[key])).normalize()) for key in ("ts", "dur") if key in event})
    return sorted(json.dumps(event, sort_keys=True) for event in events)


def check_single(tool, processor, folder):
    for name, trace, kernels, gpus, said in SINGLE:
        [path] = made.write(folder, {name: trace})
        result, text = asked(tool, "info", "--json", path)
        process = json.loads(result.stdout)["ranks"][0]
        check(process["counts"].get("kernel", 0) == kernels, f"{name}: {kernels} kernels", str(process))
        table, notes = asked(tool, "analyze", path, "--only", "temporal,launches", "--format", "json")
        rows = [row for row in json.loads(table.stdout)["temporal"] if row["device"] is not None]
        if gpus is not None:
            got = [(row["busy_ns"] / MS, row["span_ns"] / MS) for row in rows]
            check(got == gpus, f"{name}: busy and span of each GPU", f"{got} for {gpus}")
        check(said in text + notes, f"{name}: says {said!r}" if said else f"{name}: is read", text + notes)
        launches = sum(row["count"] for row in json.loads(table.stdout)["launches"])
        alone = "lost" in name or not launches
        check(alone or (launches == kernels - ("ts0" in name) * 15 and "no GPU work in this trace" not in notes), f"{name}: each kernel has its launch",
              f"{launches} {notes}")
        check("Traceback" not in notes and asked(tool, "diagnose", path)[0].returncode == 0, f"{name}: diagnose", "")
        check_exports(tool, processor, folder, name, path, process)


def check_exports(tool, processor, folder, name, path, process):
    total = sum(process["counts"].values())
    for form, out in (("--perfetto", "p.json"), ("--pftrace", "p.pftrace")):
        result, text = asked(tool, "export", form, path, "-o", f"{folder}/{out}", "--json")
        counts = json.loads(result.stdout)
        written = counts["slices"] + counts["instants"] + counts["counter_values"] + counts["joined_ends"]
        check(result.returncode == 0 and written == total - process["counts"].get("flow", 0), f"{name}: {form} has all events", text)
        if os.path.exists(processor):
            reading = perfetto_reader.Reading(processor, f"{folder}/{out}")
            check(not reading.errors, f"{name}: {form} without an error of Perfetto's reader", str(reading.errors))
            kernels = sum(n for each, n in reading.slices.items() if each.name.startswith(("sgemm_", "MatMul_")) and each.duration >= 0)
            check(kernels == process["counts"].get("kernel", 0) or name.startswith("lost"), f"{name}: {form} shows all kernels", str(kernels))
    merged = f"{folder}/m.ttrace"
    check(asked(tool, "merge", path, "-o", merged)[0].returncode == 0, f"{name}: merge")
    result, text = asked(tool, "export", "--kineto", path, "-o", f"{folder}/k")
    [again] = [f"{folder}/k/{found}" for found in sorted(os.listdir(f"{folder}/k")) if "trace.json" in found][:1]
    if not name.startswith("double"):
        check(events_of(again) == events_of(path), f"{name}: the Kineto round trip is equal",
              lambda: f"{set(events_of(again)) ^ set(events_of(path))}"[:600])
    run(["rm", "-rf", f"{folder}/k"])


def check_spans(tool, processor, folder):
    """Async spans have their durations."""
    [path] = made.write(folder, {"spans.json": made.async_spans()})
    for form, out in (("--perfetto", "s.json"), ("--pftrace", "s.pftrace")):
        asked(tool, "export", form, path, "-o", f"{folder}/{out}")
        if not os.path.exists(processor):
            continue
        spans = [(each.duration, n) for each, n in perfetto_reader.Reading(processor, f"{folder}/{out}").slices.items() if each.name.startswith("req")]
        check(sum(n for _, n in spans) == 3 and sum(d * n for d, n in spans) == 4500000, f"{form}: 3 spans of 4.500 ms", str(spans))


def check_writers(tool, folder):
    for name, lines, names, said in WRITERS:
        [path] = made.write(folder, {name: made.text_with(*lines, made.frame("sound_after", 900))})
        result, text = asked(tool, "info", "--json", path)
        process = json.loads(result.stdout)["ranks"][0]
        check(process["lost"] == 0 and said in str(process["notes"]), f"{name}: no event is lost, and the fault is counted", str(process))
        asked(tool, "export", "--chrome", path, "-o", f"{folder}/w.json")
        with open(f"{folder}/w.json", encoding="utf-8") as file:
            got = [event["name"] for event in json.load(file)["traceEvents"] if event.get("cat") == "python_function"]
        check(sorted(got) == sorted(names + ["sound_after"]), f"{name}: names are as they were meant", str(got))
    [path] = made.write(folder, {"inf.json": made.text_with(*(made.copy_event(word, i) for i, word in enumerate(NO_NUMBERS)))})
    result, text = asked(tool, "analyze", path, "--only", "copies", "--format", "json")
    info = json.loads(asked(tool, "info", "--json", path)[0].stdout)["ranks"][0]
    check(info["counts"]["memcpy"] == len(NO_NUMBERS) and info["lost"] == 0 and sum(row["bytes"] for row in json.loads(result.stdout)["copies"]) == 1800,
          "inf.json: 9 copies, 1800 bytes", text)


def check_names(tool, folder):
    for name, names, content, right in NAMES:
        where = os.path.join(folder, name)
        paths = made.write(where, made.ranks(names, content))
        for given in ([where], paths):
            result, text = asked(tool, "info", "--json", *given)
            got = [process["rank"] for process in json.loads(result.stdout)["ranks"]]
            check(got == (right or [None] * len(names)), f"{name}: the ranks that are right", f"{got}: {text[:600]}")
            check(("are unknown: neither" in text) == (right is None), f"{name}: unknown ranks are said", text)
        merged, text = asked(tool, "merge", where, "-o", f"{folder}/n.ttrace")
        check(merged.returncode == 0 and ("are unknown: neither" in text) == (right is None), f"{name}: merge", text)
    [single] = made.write(folder, {"llama-lora_rank16_bs8.json": made.base(rank=None)})
    check(json.loads(asked(tool, "info", "--json", single)[0].stdout)["ranks"][0]["rank"] is None, "lora_rank16 of one file is no rank")


def check_phases(tool, folder):
    """Cycles of schedule(repeat=3): one pid, times that do not overlap, names that differ in time."""
    forms = {"repeat": lambda rank, i: f"nodea_{5000 + rank}.17150000{i}0000000000.pt.trace.json", "batches": lambda rank, i: f"rank{rank}.{100 * (i + 1)}.pt.trace.json"}
    for name, form in forms.items():
        where = os.path.join(folder, name)
        made.write(where, {form(rank, i): made.base(5000 + rank, 0, rank, 2, made.START + 10000000 * i) for rank in (0, 1) for i in range(3)})
        for command in (["info"], ["merge", "-o", f"{folder}/f.ttrace"], ["analyze"], ["diagnose"], ["report", "-o", f"{folder}/r.html"],
                        ["export", "--perfetto", "-o", f"{folder}/f.json"]):
            result, text = asked(tool, command[0], where, *command[1:])
            check(result.returncode == 0 and "treating 3 files as phases" in text, f"{name}: {command[0]} takes them as phases", text)


def check_foreign(tool, folder):
    for name, data, what in FOREIGN:
        [path] = made.write(folder, {f"foreign/{name}": data})
        result, text = asked(tool, "info", path)
        check(result.returncode == 3 and what in text, f"{name}: is {what}", text)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tracetool", required=True, type=os.path.abspath)
    parser.add_argument("--processor", default="", type=os.path.abspath)
    options = parser.parse_args()
    tool = options.tracetool
    with Folder() as folder:
        check_single(tool, options.processor, folder)
        check_spans(tool, options.processor, folder)
        check_writers(tool, folder)
        check_names(tool, folder)
        check_phases(tool, folder)
        check_foreign(tool, folder)
    finish()


if __name__ == "__main__":
    main()
