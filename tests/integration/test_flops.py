#!/usr/bin/env python3
"""`tracetool analyze --only flops,roofline` against a slow program (slow_flops.py) on Kineto traces; a product of known size on a
known GPU; recordings, which tell no sizes.

  test_flops.py --tracetool PATH --traces DIR [--agent PATH --simulated PATH]
"""
import json
import os

import slow_flops
import slow_tables
from harness import Folder, check, run
from test_analyze import check_rows, run_checks, tables
from test_copies import gpus
from trace_sets import folders, inputs
from truth import train


def ordered(rows):
    return sorted(rows, key=lambda row: (-row["time_ns"], row["name"], row["shape"], row["flop"], str(row.get("bytes"))))


def check_file(options, path):
    """Returns how many rows it has."""
    events = slow_tables.read_json(path)
    if events is None:
        return 0
    of = gpus(path)
    true = list(slow_flops.rows(events, next(iter(of)) if len(of) == 1 else None))
    said = tables(options, path, "--only", "flops,roofline")
    name = os.path.basename(path)
    for i, table in enumerate(("flops", "roofline")):
        check_rows(f"{name}: {table}", ordered(said.get(table, [])), ordered([row[i] for row in true]))
    return len(true)


def check_traces(options):
    rows = 0
    with folders(options.traces) as some:
        for folder in some:
            for name, files in inputs(folder):
                rows += sum(check_file(options, path) for path in files)
                if len(files) > 1:
                    check_ranks(options, name, files)
        check(rows >= (100 if len(some) > 1 else 0), f"{rows} rows were compared", rows)


def check_ranks(options, name, files):
    together = tables(options, *files, "--only", "flops")["flops"]
    ranks = tables(options, *files, "--only", "flops", "--by", "rank")["flops"]
    check(sum(row["time_ns"] for row in together) == sum(row["time_ns"] for row in ranks) and
          sum(row["count"] * row["flop"] for row in together) == sum(row["count"] * row["flop"] for row in ranks), f"{name}: by rank the same sums")


def check_worked_example(options):
    """A product of 4096 in bf16 in 200 us on an H100: 1,365 FLOP a byte, 687.19 TFLOP/s."""
    n = 4096
    op = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 10, "dur": 5,
          "args": {"External id": 5, "Input Dims": [[n, n], [n, n]], "Input type": ["c10::BFloat16", "c10::BFloat16"]}}
    kernel = {"ph": "X", "cat": "kernel", "name": "nvjet_tst_256x128", "pid": 0, "tid": 7, "ts": 20, "dur": 150,
              "args": {"device": 0, "stream": 7, "External id": 5, "correlation": 1}}
    second = {**kernel, "name": "splitk_reduce", "ts": 170, "dur": 50}
    with Folder() as folder:
        path = f"{folder}/one.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], "traceEvents": [op, kernel, second]}, file)
        check_file(options, path)
        row = tables(options, path, "--only", "roofline")["roofline"][0]
        check(row["count"] == 1 and row["flop"] == 2 * n**3 and row["bytes"] == 6 * n**2 and round(row["flop_per_byte"]) == 1365 and
              row["bound"] == "compute" and abs(row["tflop_per_s"] - 687.194767) < 1e-5, "a product of 4096: 1,365 FLOP a byte", row)


BF16, FP4 = "c10::BFloat16", slow_flops.FP4
HALF = [2, 8, 128, 64]
OTHER_OPERATORS = (  # name, sizes, types, values, FLOP by hand
    ("aten::convolution_backward", [[4, 8, 28, 28], [4, 16, 14, 14], [16, 8, 4, 4], *[[]] * 8], [BF16] * 3 + [""] * 8,
     ["", "", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "True", "[0, 0]", "1", "[True, True, False]"], 2 * 2 * 4 * 16 * 14 * 14 * 8 * 16),
    ("aten::_scaled_mm", [[128, 1024], [1024, 256]], [FP4, FP4], ["", ""], 2 * 128 * 2048 * 256),
    ("aten::_flash_attention_forward", [[1, 1, 8, 64], [1, 4096, 8, 64], [1, 4096, 8, 64], *[[]] * 7], [BF16] * 3 + [""] * 7, [""] * 8 + ["True", "False"], 4 * 8 * 4096 * 64),
    ("aten::_flash_attention_forward", [[1, 100, 8, 64], [1, 1000, 8, 64], [1, 1000, 8, 64], *[[]] * 7], [BF16] * 3 + [""] * 7, [""] * 8 + ["True", "False"],
     4 * 8 * 64 * sum(900 + i + 1 for i in range(100))),
    ("aten::_scaled_dot_product_cudnn_attention_backward", [HALF, HALF, HALF, HALF, HALF, *[[]] * 10], [BF16] * 5 + [""] * 10, [""] * 14 + ["False"], 10 * 2 * 8 * 128 * 128 * 64),
    ("aten::mv", [[512, 64], [64]], [BF16, BF16], ["", ""], 2 * 512 * 64),
    ("aten::_grouped_mm", [[1000, 64], [4, 64, 256], [4]], [BF16, BF16, "int"], ["", "", ""], 2 * 1000 * 64 * 256),
)


def one_call(number, name, dims, types, values, kernel="some_kernel", us=100):
    return [{"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 200 * number, "dur": 5,
             "args": {"External id": number, "Input Dims": dims, "Input type": types, "Concrete Inputs": values}},
            {"ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": 7, "ts": 200 * number + 10, "dur": us,
             "args": {"device": 0, "stream": 7, "External id": number, "correlation": number}}]


def write_trace(path, events, gpu):
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"deviceProperties": [{"id": 0, "name": gpu}], "traceEvents": events}, file)


def check_operators(options):
    """Operators that the traces at hand lack: against the slow program and by hand."""
    with Folder() as folder:
        path = f"{folder}/some.json"
        write_trace(path, [event for i, (*call, _) in enumerate(OTHER_OPERATORS, 1) for event in one_call(i, *call)], "NVIDIA H100 80GB HBM3")
        check_file(options, path)
        said = sorted((row["name"], row["flop"]) for row in tables(options, path, "--only", "flops")["flops"])
        check(said == sorted((name, flop) for name, *_, flop in OTHER_OPERATORS), "FLOP of operators by hand", said)


def check_notes(options):
    """What has no row is said, by class, and why an operator that could have one has none."""
    packed = [[400, 8, 64], [400, 8, 64], [400, 8, 64], [5], [5], *[[]] * 5]
    product = [[64, 64], [64, 64]], [BF16] * 2, ["", ""]
    events = [*one_call(1, "aten::mm", *product, us=500),
              *one_call(2, "aten::add", *product, kernel="void at::native::vectorized_elementwise_kernel<4, X>(int)", us=300),
              *one_call(3, "aten::_flash_attention_forward", packed, [BF16] * 3 + ["int"] * 2 + [""] * 5, [""] * 5 + ["200", "200", "0.", "True", "False"], "flash_fwd_kernel", 150),
              *one_call(4, "aten::foo", [], [], [], "ncclDevKernel_AllReduce_Sum_f32_RING_LL(int)", 999), *one_call(5, "aten::bar", [], [], [], "some_kernel", 50)]
    with Folder() as folder:
        path = f"{folder}/notes.json"
        write_trace(path, events, "NVIDIA H999")
        said = run([options.tracetool, "analyze", path, "--only", "flops"]).stdout
        check("50.0 % of compute kernel time is in this table, 50.0 % is not: elementwise 30.0 %, attention 15.0 %, other 5.0 %" in said, "the share without a row", said)
        check("calls of aten::_flash_attention_forward are excluded: sequence lengths differ" in said, "why an operator has no row", said)
        check("the peak of NVIDIA H999 is unknown; set --peak-tflops" in said, "the GPU without a peak is named", said)


def check_own_peaks(options):
    """--peak-tflops and --peak-gb-per-s, for a GPU that the table lacks and instead of the table."""
    n = 4096
    events = one_call(1, "aten::mm", [[n, n], [n, n]], [BF16] * 2, ["", ""], us=200)
    events += [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#7", "pid": 1, "tid": 1, "ts": 0, "dur": 1000, "args": {}}]
    speed = 2 * n**3 / 200e-6 / 1e12
    with Folder() as folder:
        for gpu in ("NVIDIA H999", "NVIDIA H100 80GB HBM3"):
            path = f"{folder}/own.json"
            write_trace(path, events, gpu)
            ask = lambda *words: tables(options, path, "--only", "flops,roofline,mfu", "--peak-gb-per-s", "2000", *words)
            for words, peak in ((("--peak-tflops", "800"), 800), (("--peak-tflops", "bf16=700,fp8=1400"), 700), (("--peak-tflops", "900,bf16=600"), 600)):
                said = ask(*words)
                flops, roofline, mfu = (said[name][0] for name in ("flops", "roofline", "mfu"))
                check(flops["peak_tflop_per_s"] == peak and abs(flops["of_peak_pct"] - 100 * speed / peak) < 1e-9, f"{gpu} {words}: the peak given", flops)
                check(roofline["ridge_flop_per_byte"] == 1000 * peak / 2000 and roofline["roof_tflop_per_s"] == min(peak, roofline["flop_per_byte"] * 2), f"{gpu} {words}: the roof of it", roofline)
                check(mfu["peak_tflop_per_s"] == peak, f"{gpu} {words}: mfu of it", mfu)
        for words in (("--peak-tflops", "fast"), ("--peak-tflops", "int8=3"), ("--peak-tflops", "-1"), ("--peak-gb-per-s", "0")):
            done = run([options.tracetool, "analyze", path, "--only", "flops", *words])
            check(done.returncode == 1 and words[0] in done.stderr, f"{' '.join(words)} is refused", done.stderr)
        for command in (("diagnose",), ("report", "-o", f"{folder}/page.html")):
            done = run([options.tracetool, command[0], path, *command[1:], "--peak-tflops", "bf16=900", "--peak-gb-per-s", "2000"])
            check(done.returncode == 0, f"{command[0]} takes peaks", done.stderr)


def check_mfu(options):
    """Two steps on an H100, with one and three products of 4096 in bf16, the last of which end after 0.09 and 1.39 ms."""
    n, events = 4096, []
    for i, step in enumerate((0, 1, 1, 1)):
        at = 1000 * step + 100 * i
        events += [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": at + 1, "dur": 5,
                    "args": {"External id": 5 + i, "Input Dims": [[n, n], [n, n]], "Input type": ["c10::BFloat16", "c10::BFloat16"]}},
                   {"ph": "X", "cat": "kernel", "name": "nvjet", "pid": 0, "tid": 7, "ts": at + 10, "dur": 80,
                    "args": {"device": 0, "stream": 7, "External id": 5 + i, "correlation": i + 1}}]
    events += [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{i}", "pid": 1, "tid": 1, "ts": 1000 * i, "dur": 1000, "args": {}} for i in (0, 1)]
    with Folder() as folder:
        path = f"{folder}/steps.json"
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3"}], "traceEvents": events}, file)
        one, could = 2 * n**3, 989.5e12 * 1e-9
        for words, told in (((), None), (("--flops-per-step", "4e11"), 100 * 4e11 / could)):
            check_rows(f"mfu {' '.join(words)}", tables(options, path, "--only", "mfu", *words)["mfu"],
                       [{"step": step, "step_ns": ns, "operator_tflop": count * one / 1e12, "type": "bf16", "peak_tflop_per_s": 989.5,
                         "operator_pct": 100 * count * one / could / ns, "mfu_pct": told and told / ns}
                        for step, count, ns in ((0, 1, 90_000), (1, 3, 1_300_000))])
        done = run([options.tracetool, "analyze", path, "--only", "mfu", "--flops-per-step", "-1"])
        check(done.returncode == 1, "operations of a step are positive", done)


def check_simulated(options):
    with Folder() as folder:
        done = train(options, folder, "--ranks", 2, "--steps", 3)
        check(done.returncode == 0, "it was recorded", done.stderr)
        said = tables(options, f"{folder}/traces", "--only", "flops,roofline")
        check(said == {"flops": [], "roofline": []}, "recordings tell no sizes: no rows", said)


if __name__ == "__main__":
    run_checks(check_worked_example, check_operators, check_notes, check_own_peaks, check_mfu, check_traces, simulated=(check_simulated,))
