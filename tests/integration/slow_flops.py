"""`flops` and `roofline` the slow way: operators and kernels of Kineto's JSON, joined by their External id."""
import ast
from math import prod

import slow_tables
from slow_tables import OLD, ns

TYPES = {"c10::BFloat16": ("bf16", 2), "c10::Half": ("fp16", 2), "float": ("fp32", 4), "double": ("fp64", 8)}
FP4 = "c10::Float4_e2m1fn_x2"  # two numbers in a byte
# TFLOP/s and GB/s, of data sheets.
GPUS = {"NVIDIA H100 80GB HBM3": ({"fp64": 67, "fp32": 67, "tf32": 494.5, "fp16": 989.5, "bf16": 989.5, "fp8": 1979}, 3350),
        "NVIDIA A100-SXM4-80GB": ({"fp64": 19.5, "fp32": 19.5, "tf32": 156, "fp16": 312, "bf16": 312}, 2039),
        "Tesla V100-SXM2-32GB": ({"fp64": 7.8, "fp32": 15.7, "fp16": 125}, 900),
        "Tesla V100-DGXS-32GB": ({"fp64": 7.8, "fp32": 15.7, "fp16": 125}, 900),
        "AMD Instinct MI300X": ({"fp64": 163.4, "fp32": 163.4, "tf32": 653.7, "fp16": 1307.4, "bf16": 1307.4, "fp8": 2614.9}, 5300)}


def type_of(name):
    return ("fp8", 1) if name.startswith("c10::Float8_") else ("fp4", 1) if name == FP4 else TYPES.get(name, (None, None))


def text(dims):
    return "x".join(map(str, dims))


def size(*tensors):
    """Bytes of [(dims, type)]; None where a type is not known."""
    return sum(prod(dims) * type_of(name)[1] for dims, name in tensors) if all(type_of(name)[1] for _, name in tensors) else None


def common(*names):
    """The type of all."""
    return type_of(names[0])[0] if len({type_of(name)[0] for name in names}) == 1 else None


def product(d, t, a, transposed=False, extra=None):
    """flop, bytes, shape, type of a product of d[a] and d[a + 1]."""
    x, w = d[a], d[a + 1] if len(d) > a + 1 else []
    if len(w) not in (2, 3) or (len(x) != len(w) and not transposed):
        return None
    k, n = (w[1], w[0]) if transposed else (w[-2], w[-1])
    if x[-1] != k:
        return None
    out = [*x[:-1], n]
    out_type = t[a]
    if type_of(t[a])[0] in ("fp8", "fp4"):
        out_type = next((t[i] for i in range(len(d) - 1, a + 1, -1) if d[i] == out), "")
    added = [(d[extra], t[extra])] if extra is not None and extra < len(d) and d[extra] else []
    return 2 * prod(out) * k * (2 if t[a] == FP4 else 1), size((x, t[a]), (w, t[a + 1]), (out, out_type), *added), f"{text(x)} * {text(w)}", common(t[a], t[a + 1])


def convolution(x, w, out, tx, tw, times, transposed=False):
    once = size((x, tx), (w, tw), (out, tx))
    return times * 2 * prod(x if transposed else out) * prod(w[1:]), None if once is None else times * once, f"{text(x)} * {text(w)}", common(tx, tw)


def forward(d, t, c, at):
    if len(c) <= at + 2 or not all(c[at:at + 3]):
        return None
    padding, stride, dilation = (ast.literal_eval(value) for value in c[at:at + 3])
    each = lambda values, i: values[i] if len(values) > 1 else values[0]
    out = [d[0][0], d[1][0]] + [(d[0][i + 2] + 2 * each(padding, i) - each(dilation, i) * (d[1][i + 2] - 1) - 1) // each(stride, i) + 1
                                for i in range(len(d[0]) - 2)]
    return convolution(d[0], d[1], out, t[0], t[1], 1)


def backward(d, t, c):
    if len(c) < 11 or not c[10]:
        return None
    times = sum(ast.literal_eval(c[10])[:2])
    return convolution(d[1], d[2], d[0], t[1], t[2], times, c[7] == "True") if times else None


def vector(d, t, a):
    """A matrix by a vector."""
    x = d[a]
    return 2 * prod(x), size((x, t[a]), (d[a + 1], t[a + 1]), (x[:-1], t[a])), f"{text(x)} * {text(d[a + 1])}", common(t[a], t[a + 1])


def grouped(d, t):
    """Rows of [M, K], in groups, by [G, K, N]."""
    (m, k), n = d[0], d[1][-1]
    return 2 * m * k * n, size((d[0], t[0]), (d[1], t[1]), ([m, n], t[0])), f"{text(d[0])} * {text(d[1])}", common(t[0], t[1])


def flash(d, t, c, q, at, products, heads_first=False, bottom_right=True):
    """`products`: 2 forward, 5 backward. Pairs that the mask leaves are counted one by one; of as many queries as keys they are half."""
    if len(d[q]) != 4 or len(c) <= at or c[at] not in ("True", "False"):
        return None
    length, heads = (2, 1) if heads_first else (1, 2)
    queries, keys, causal = d[q][length], d[q + 1][length], c[at] == "True"
    diagonal = keys - queries if bottom_right else 0
    twice = 2 * queries * keys if not causal else queries * keys if queries == keys else 2 * sum(min(max(i + diagonal + 1, 0), keys) for i in range(queries))
    flop = products * d[q][0] * d[q][heads] * d[q][3] * twice
    once = size((d[q], t[q]), (d[q + 1], t[q + 1]), (d[q + 2], t[q + 2]), (d[q], t[q]))
    bytes = once if once is None or products == 2 else 2 * once
    return flop, bytes, f"{text(d[q])} * {text(d[q + 1])}{' causal' if causal else ''}", type_of(t[q])[0]


def cost(event):
    """flop, bytes, shape, type of a call; None: not known."""
    args = event.get("args", {})
    d = args.get("Input Dims", args.get("Input dims")) or []
    t, c = [*(args.get("Input type") or []), *[""] * len(d)][:len(d)], args.get("Concrete Inputs", [])
    flat = lambda dims: all(isinstance(value, int) for value in dims)
    d = [dims if flat(dims) else [] for dims in d]
    kinds = {"aten::mm": lambda: product(d, t, 0), "aten::bmm": lambda: product(d, t, 0), "aten::addmm": lambda: product(d, t, 1, extra=0),
             "aten::baddbmm": lambda: product(d, t, 1, extra=0), "aten::linear": lambda: product(d, t, 0, True, 2),
             "aten::_scaled_mm": lambda: product(d, t, 0), "aten::cudnn_convolution": lambda: forward(d, t, c, 2),
             "aten::miopen_convolution": lambda: forward(d, t, c, 3), "aten::convolution_backward": lambda: backward(d, t, c),
             "aten::cudnn_convolution_backward_input":
                 lambda: [each if i != 1 else None for i, each in enumerate(convolution(d[1], d[2], d[1], t[1], t[2], 1))],
             "aten::_flash_attention_forward": lambda: flash(d, t, c, 0, 8, 2),
             "aten::_flash_attention_backward": lambda: flash(d, t, c, 1, 11, 5),
             "aten::_scaled_dot_product_cudnn_attention": lambda: flash(d, t, c, 0, 6, 2, True, False),
             "aten::_scaled_dot_product_cudnn_attention_backward": lambda: flash(d, t, c, 1, 14, 5, True, False),
             "aten::mv": lambda: vector(d, t, 0), "aten::_grouped_mm": lambda: grouped(d, t)}
    found = kinds[event["name"]]() if event.get("name") in kinds and len(d) > 1 else None
    return tuple(found) if found and found[0] > 0 else None


def float_type(kernels, peaks):
    """What the kernels make of float."""
    said = set()
    for name in kernels:
        if peaks and "tf32" not in peaks:
            said.add("fp32")
        elif any(word in name for word in ("tf32", "TF32", "tensorop_s1688")):
            said.add("tf32")
        elif any(word in name for word in ("sgemm", "ffma", "simt")):
            said.add("fp32")
    return said.pop() if len(said) == 1 else None


def rows(events, gpu):
    """{(name, shape, flop, bytes): the columns of both tables}; `gpu`: its name."""
    external = lambda args: args.get("External id", args.get("external id", 0))
    calls = {}
    for event in events:
        if event.get("ph") == "X" and OLD.get(event.get("cat"), event.get("cat")) in ("cpu_op", "Operator") and external(event.get("args", {})):
            found = cost(event)
            if found:
                calls.setdefault(external(event["args"]), (event["name"], found))
    rows = {}
    for event in events:
        args = event.get("args", {})
        if event.get("ph") == "X" and OLD.get(event.get("cat"), event.get("cat")) == "kernel" and "stream" in args and \
                external(args) in calls and not slow_tables.communicates(event["name"]):
            name, (flop, bytes, shape, kind) = calls[external(args)]
            row = rows.setdefault((name, shape, flop, bytes, kind), {"ids": set(), "time": 0, "kernels": []})
            row["ids"].add(external(args))
            row["time"] += ns(event["dur"])
            row["kernels"].append(event["name"])
    peaks, bandwidth = GPUS.get(gpu, (None, None))
    for (name, shape, flop, bytes, kind), row in rows.items():
        kind = float_type(row["kernels"], peaks) if kind == "fp32" else kind
        speed = flop * len(row["ids"]) / row["time"] / 1000 if row["time"] else None
        peak = peaks.get(kind) if peaks else None
        edge = 1000 * peak / bandwidth if peak else None
        intensity = flop / bytes if bytes else None
        roof = min(peak, intensity * bandwidth / 1000) if peak and intensity else None
        both = {"name": name, "shape": shape, "type": kind, "count": len(row["ids"]), "time_ns": row["time"], "flop": flop, "tflop_per_s": speed}
        yield ({**both, "peak_tflop_per_s": peak, "of_peak_pct": 100 * speed / peak if peak and speed else None},
               {**both, "bytes": bytes, "flop_per_byte": intensity, "ridge_flop_per_byte": edge,
                "bound": ("compute" if intensity >= edge else "memory") if roof else None, "roof_tflop_per_s": roof,
                "of_roof_pct": 100 * speed / roof if roof and speed else None})
