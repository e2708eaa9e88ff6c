"""The table `step_phases`, the slow way: of each step the lists of the work of each phase, and what they cover."""
import re

import slow_tables
from slow_launches import hosts, pieces

ORDER = ("forward", "backward", "optimizer", "other", "comm")


def first_word(name):
    found = re.search("[A-Za-z]+", name)
    return found.group().lower() if found else ""


def phase_of(host):
    if first_word(host.name) == "optimizer":
        return "optimizer"
    if re.match("autograd::engine::evaluate_function|torch::autograd::", host.name) or first_word(host.name) == "backward":
        return "backward"
    if host.name.endswith("DataParallel.forward") or first_word(host.name) == "forward":
        return "forward"
    if host.kind == "operator" and host.args.get("Fwd thread id", 0) != 0:
        return "backward"
    return "forward" if host.kind == "operator" and "Sequence number" in host.args else None


def phases(events, steps):
    """{(step, device): row}; `steps`: (begin, end, number)."""
    hosted = hosts(events)
    told = [(host, phase_of(host)) for host in hosted if host.kind != "call" and phase_of(host)]
    known = {phase for host, phase in told if not host.name.startswith("torch::autograd::")}  # of which gradients alone are accumulated
    by_thread = {}
    for host, phase in told:
        by_thread.setdefault(host.thread, []).append((host.start, host.end, phase))
    work = {}
    for each, piece in zip(slow_tables.of_kineto(events), pieces(events, [host for host in hosted if host.kind == "call"])):
        around = set()
        if piece.call:
            around = {phase for start, end, phase in by_thread.get(piece.call.thread, []) if start <= piece.call.start < end}
        phase = "comm" if each.kind == "comm" else next((one for one in ("optimizer", "backward", "forward") if one in around), "other")
        work.setdefault(each.device, []).append((each, phase))
    rows = {}
    for begin, end, number in steps:
        for device, of_device in work.items():
            row, before, unknown, so_far = {}, 0, 0, []
            for phase in ORDER:
                so_far += [(one.start, one.end) for one in slow_tables.clipped([one for one, its in of_device if its == phase], begin, end)]
                until = slow_tables.length(so_far)
                if phase in known or phase in ("other", "comm"):
                    row[f"{phase}_ns"] = until - before
                else:
                    row[f"{phase}_ns"] = None
                    unknown += until - before
                before = until
            row["other_ns"] += unknown
            rows[number, device] = {"busy_ns": before, **row}
    return rows
