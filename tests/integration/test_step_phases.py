#!/usr/bin/env python3
"""`tracetool analyze --only step_phases` against a slow program (slow_phases.py), to the nanosecond; the phases of a step
are its busy time.

  test_step_phases.py --tracetool PATH --traces DIR [--agent PATH --simulated PATH]
"""
import slow_tables
from harness import check
from slow_phases import ORDER, phases
from test_analyze import count_sets, run_checks, tables
from test_classes import steps_of


def check_set(options, name, files):
    """How many steps were compared."""
    count = 0
    for path in files:
        events = slow_tables.read_json(path)
        marked = steps_of(events) if events is not None else []
        if not marked:
            continue
        said = tables(options, path, "--only", "step_phases,steps")
        true = phases(events, marked)
        rows = {(row["step"], row["device"]): {key: row[key] for key in ("busy_ns", *(f"{phase}_ns" for phase in ORDER))} for row in said["step_phases"]}
        wrong = [(key, rows.get(key), row) for key, row in true.items() if rows.get(key) != row]
        check(not wrong and len(rows) == len(true), f"{name}: phases of {len(true)} steps", wrong[:3])
        check(all(sum(row[f"{phase}_ns"] or 0 for phase in ORDER) == row["busy_ns"] for row in rows.values()), f"{name}: they are the busy time", rows)
        busy = {(row["step"], row["device"]): row["busy_ns"] for row in said["steps"] if row["busy_ns"] is not None}
        check({key: row["busy_ns"] for key, row in rows.items()} == busy, f"{name}: that of the table steps", busy)
        count += len(rows)
    return count


def check_all(options):
    count = count_sets(options, check_set)
    check(count > 0, f"{count} steps were compared")


if __name__ == "__main__":
    run_checks(check_all)
