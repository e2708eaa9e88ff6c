#!/usr/bin/env python3
"""Facts travel as numbers: outside readers and exporters no code contains a JSON key, or compares a name that is shown.

What derives from names stands in the files of NAMES, once per interned name.
"""
import pathlib
import re
import sys

ROOMS = ("trace", "timeline/sort", "timeline/merge", "timeline/select", "timeline/gpu", "answers/tables", "answers/derived", "answers/compare")
NAMES = {"trace/names.h", "trace/names.cpp", "trace/short_name.cpp", "timeline/gpu/name_rules.cpp", "timeline/select/step_name.cpp",
         "answers/tables/operator_flops.cpp"}  # by the inputs of operators, which are interned too
TABLES = {"answers/tables/write_tables.cpp"}  # the writers of tables, which are exporters of their own
KEY = re.compile(r'\\":')
COMPARED = re.compile(r'(?:starts_with|ends_with|find|contains|compare)\(\s*"[^"]{2,}"|[=!]= *"[^"]{2,}"|"[^"]{2,}" *[=!]=')


def faults(text: str):
    for number, line in enumerate(text.splitlines(), 1):
        code = line.split("//")[0] if '"' not in line.split("//")[0] or line.strip().startswith("//") else line
        if KEY.search(code):
            yield number, "a JSON key", line
        if COMPARED.search(code):
            yield number, "a name is compared", line


def check_that_faults_are_seen():
    for line in ('out += "\\"bytes\\": 7";', 'if (name.starts_with("Memcpy")) {', 'x = what == "gap";'):
        assert list(faults(line)), line
    for line in ('fmt::format("{} ns", n)', 'if (text == "") {', "// says \"bytes\" == 7"):
        assert not list(faults(line)), line


def check_dump_is_documented(root):
    """Each field of a payload that `dump` may print stands in docs/dump.md."""
    header = (root / "cli/trace/payload.h").read_text()
    fields = set(re.findall(r'f\.(?:number|delta|hex|string)\("(\w+)", [^;]*?(?:, (false))?\)[,;]', header))
    shown = {name for name, hidden in fields if not hidden}
    assert len(shown) > 60, shown
    text = (root / "docs/dump.md").read_text()
    missing = sorted(name for name in shown if f"`{name}`" not in text)
    assert not missing, f"docs/dump.md does not have {missing}"


def main():
    check_that_faults_are_seen()
    root = pathlib.Path(__file__).resolve().parents[2]
    check_dump_is_documented(root)
    cli = root / "cli"
    found = 0
    for room in ROOMS:
        files = sorted((cli / room).rglob("*.cpp")) + sorted((cli / room).rglob("*.h"))
        assert files, room
        for path in files:
            name = str(path.relative_to(cli))
            if name in NAMES | TABLES:
                continue
            for number, what, line in faults(path.read_text()):
                print(f"cli/{name}:{number}: {what}: {line.strip()}")
                found += 1
    sys.exit(1 if found else 0)


main()
