"""The table `classes`, the slow way: rules as regular expressions, every piece of work asked for each of them."""
import os
import re
import subprocess

import slow_tables

RULES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "cli", "answers", "tables", "kernel_rules.cpp")
NAMELESS = re.compile(r"\(anonymous namespace\)::|<unnamed>::")
KEMPNERFORGE = (("matmul", ("gemm", "mm", "matmul", "dot", "bmm", "cublas", "nvjet", "cutlass")),
                ("comm", ("nccl", "allreduce", "allgather", "reduce_scatter")), ("memory", ("memcpy", "memset")))


def expression(pattern):
    """Of a pattern: `*` is anything, {a,b} one of the two."""
    text = "".join({"*": ".*", "{": "(?:", "}": ")", ",": "|"}.get(part, re.escape(part)) if braced or part != "," else ","
                   for part, braced in parts(pattern.lower()))
    return re.compile(text, re.DOTALL)


def parts(pattern):
    """(character, whether it is within braces or one of them)"""
    inside = False
    for each in pattern:
        inside = inside or each == "{"
        yield each, inside
        inside = inside and each != "}"


def read_rules(text):
    lines = [line.strip() for line in text.splitlines()]
    return [(line.split()[0], expression(line.split(None, 1)[1])) for line in lines if line and not line.startswith("#")]


def published():
    """Those for kernels, as their file has them."""
    with open(RULES, encoding="utf-8") as file:
        return read_rules(re.search(r'kKernelRules = R"\(\n(.*?)\n\)";', file.read(), re.DOTALL).group(1))


_plain = {}


def plain(name):
    if name not in _plain:
        text = name
        if name.startswith("_Z"):
            text = subprocess.run(["c++filt", name], capture_output=True, text=True, check=False).stdout.strip() or name
        _plain[name] = re.sub(r"^void ", "", NAMELESS.sub("", text)).lower()
    return _plain[name]


def first_of(rules, name, _known={}):
    key = id(rules), name
    if key not in _known:
        _known[key] = next((of for of, pattern in rules if pattern.fullmatch(plain(name))), None)
    return _known[key]


def class_of(work, rules, own=()):
    found = first_of(own, work.name) if own else None
    if found:
        return found
    if work.kind == "comm":
        return "communication"
    return "memory" if work.kind == "memory" else first_of(rules, work.name) or "other"


def of_kempnerforge(work):
    """By substrings, as it is published: another program than the rules."""
    name = plain(work.name)
    return next((of for of, words in KEMPNERFORGE if any(word in name for word in words)), "other")


def classes(devices, of):
    """[{...}] of pieces of work by device, all of them one group of rows; `of` gives the class of one."""
    found = {}
    for device, work in devices.items():
        for each in work:
            found.setdefault(of(each), {}).setdefault(device, []).append(each)
    whole = sum(each.end - each.start for work in devices.values() for each in work)
    rows = []
    for name, of_class in found.items():
        work = [each for some in of_class.values() for each in some]
        total = sum(each.end - each.start for each in work)
        rows.append({"class": name, "names": len({each.name for each in work}), "count": len(work), "sum_ns": total,
                     "share_pct": 100.0 * total / whole if whole else None,
                     "union_ns": sum(slow_tables.length([(each.start, each.end) for each in some]) for some in of_class.values())})
    return sorted(rows, key=lambda row: (-row["sum_ns"], row["class"]))
