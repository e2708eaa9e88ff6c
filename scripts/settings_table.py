#!/usr/bin/env python3
"""Keep the table of environment variables in docs/settings.md equal to kSettings in common/settings.h.

  settings_table.py          rewrite the table between the markers in docs/settings.md
  settings_table.py --check  exit 1, naming the first difference, when it is not what the code says
"""
import glob
import os
import re
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PAGE = f"{ROOT}/docs/settings.md"
CODE = f"{ROOT}/common/settings.h"
ROW = re.compile(r'\{\s*"(TRACETOOL_\w+)",\s*"[^"]*",\s*"([^"]*)",\s*"([^"]*)",\s*((?:"[^"]*"\s*)+),\s*[\w:]+\s*\}')
TABLE = re.compile(r"<!-- settings -->\n.*?<!-- end -->", re.S)


def kinds():
    """The words of TRACETOOL_EVENTS, in the order of AllRecords."""
    words = {}
    for path in glob.glob(f"{ROOT}/common/records/*.h"):
        for name, body in re.findall(r"^struct (\w+) \{\n(.*?)^\};", open(path, encoding="utf-8").read(), re.M | re.S):
            for word in re.findall(r'kChoice\{"(\w+)"', body):
                words[name] = word
    words |= {"RuntimeRecord": "runtime", "DriverRecord": "driver"}  # of ApiRecord
    order = re.search(r"using AllRecords =(.*?);", open(f"{ROOT}/common/record.h", encoding="utf-8").read(), re.S)[1]
    return [words[name] for name in re.findall(r"\w+Record\b", order) if name in words]


def read_rows(code):
    """[(name, default, allowed, help)] in the order of the code."""
    for name, text in re.findall(r"auto (k\w+) = with_kinds\(\s*((?:\"[^\"]*\"\s*)+)\);", code):
        code = code.replace(f"{name}.data()", text.strip().replace("{kinds}", ", ".join(kinds())))
    body = re.search(r"kSettings\[\] = \{\n(.*?)\n\};", code, re.S)
    if not body:
        sys.exit(f"{CODE}: no kSettings")
    rows = [(name, default, allowed, "".join(re.findall(r'"([^"]*)"', text))) for name, default, allowed, text in ROW.findall(body[1])]
    if len(rows) != body[1].count('"TRACETOOL_'):
        sys.exit(f"{CODE}: a row of kSettings that this script cannot read")
    return rows


def render(rows):
    lines = ["| variable | default | allowed | meaning |", "|---|---|---|---|"]
    lines += [f"| `{name}` | {f'`{default}`' if default else ''} | {allowed} | {text} |" for name, default, allowed, text in rows]
    return "<!-- settings -->\n" + "\n".join(lines) + "\n<!-- end -->"


def main():
    table = render(read_rows(open(CODE, encoding="utf-8").read()))
    document = open(PAGE, encoding="utf-8").read()
    found = TABLE.search(document)
    if not found:
        sys.exit(f"{PAGE}: no table between '<!-- settings -->' and '<!-- end -->'")
    if "--check" not in sys.argv:
        open(PAGE, "w", encoding="utf-8").write(document.replace(found[0], table))
        return 0
    for is_, should in zip(found[0].splitlines(), table.splitlines()):
        if is_ != should:
            print(f"{PAGE}: is {is_!r}, {CODE} says {should!r}; run scripts/settings_table.py", file=sys.stderr)
            return 1
    if found[0] != table:
        print(f"{PAGE}: the table has more or fewer rows than {CODE}; run scripts/settings_table.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
