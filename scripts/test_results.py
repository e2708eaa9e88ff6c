#!/usr/bin/env python3
"""What scripts/test.sh runs and how it went, over all configurations.

  test_results.py select CONFIG BUILD_DIR [SUITE...]  the tests to run there, one a line: all of these suites (all
                                                      suites where none is named) but those that the list excludes
  test_results.py step RESULTS CONFIG NAME RESULT     note a step that is no meson test (a build); RESULT: OK FAIL SKIP
  test_results.py summary RESULTS                     every skip and failure by name, then `N passed, M failed`

RESULTS holds CONFIG.json (meson's testlog.json of that configuration) and steps.json. The list is
scripts/expected_skips.txt. `summary` exits 1 after a failure, a skip that is not on the list, or a run without tests.
"""
import collections
import glob
import json
import os
import subprocess
import sys

LIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "expected_skips.txt")
PASSED = ("OK", "EXPECTEDFAIL")
Rule = collections.namedtuple("Rule", "config test how reason")


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return file.readlines()


def read_list():
    """The rules: `CONFIG | TEST | never or may | reason`, CONFIG * for all; # begins a comment."""
    rules = []
    for number, line in enumerate(lines_of(LIST), 1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split("|")]
        if len(parts) != 4 or parts[2] not in ("never", "may") or not parts[3]:
            sys.exit(f"{LIST}:{number}: expected `CONFIG | TEST | never or may | reason`")
        rules.append(Rule(*parts))
    return rules


def rule_for(rules, how, config, test):
    return next((r for r in rules if r.how == how and r.config in ("*", config) and r.test == test), None)


def plain(name):
    """`tracetool:unit / ring` and `tracetool:ring` are `ring`."""
    return name.split(" / ")[-1].split(":")[-1]


def select(config, build, suites):
    listed = json.loads(subprocess.run(["meson", "introspect", "--tests", build], check=True, capture_output=True,
                                       text=True).stdout)
    wanted = [t for t in listed if not suites or {plain(s) for s in t["suite"]} & set(suites)]
    rules = read_list()
    for name in (plain(test["name"]) for test in wanted):
        if not rule_for(rules, "never", config, name):
            print(name)


def step(results, config, name, result):
    with open(f"{results}/steps.json", "a", encoding="utf-8") as out:
        out.write(json.dumps({"config": config, "name": name, "result": result}) + "\n")


def read_results(results):
    """[(config, name, result)] of the steps and of every meson log."""
    rows = []
    for path in sorted(glob.glob(f"{results}/*.json")):
        config = os.path.basename(path)[:-len(".json")]
        for line in lines_of(path):
            row = json.loads(line)
            rows.append((row.get("config", config), plain(row["name"]), row["result"]))
    return rows


def verdict(rows, rules):
    """(passed, failures, skips, complaints): names for the last three."""
    configs = {config for config, _, _ in rows}
    passed, failures, skips, complaints = 0, [], [], []
    for config, name, result in rows:
        if result in PASSED:
            passed += 1
        elif result == "SKIP":
            rule = rule_for(rules, "may", config, name)
            skips.append(f"{config}: {name}: {rule.reason if rule else 'NOT ON THE LIST'}")
            complaints += [] if rule else [f"{config}: {name} was skipped, which {LIST} does not expect"]
        else:
            failures.append(f"{config}: {name}: {result}")
    names = {name for _, name, _ in rows}
    for rule in (r for r in rules if r.how == "never" and r.config in configs):
        skips.append(f"{rule.config}: {rule.test}: {rule.reason}")
        complaints += [] if rule.test in names else [f"{LIST} leaves out {rule.test}, and no configuration runs it"]
    return passed, failures, skips, complaints


def summary(results):
    passed, failures, skips, complaints = verdict(read_results(results), read_list())
    failures += complaints
    for title, lines in (("Skipped", skips), ("Failed", failures)):
        if lines:
            print(f"\n{title}:", *lines, sep="\n  ")
    print(f"\n{passed} passed, {len(failures)} failed" + (f", {len(skips)} skipped" if skips else ""))
    return 1 if failures or not passed else 0


def main():
    commands = {"select": lambda a: select(a[0], a[1], a[2:]), "step": lambda a: step(*a), "summary": lambda a: summary(*a)}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    return commands[sys.argv[1]](sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
