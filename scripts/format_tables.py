#!/usr/bin/env python3
"""Keep common/FORMAT.md's tables equal to the structs in common/records/, layout.h and spool.h.

  format_tables.py            rewrite the tables between the markers in FORMAT.md
  format_tables.py --check    exit 1, naming the first difference, when they are not what the headers say
  format_tables.py --asserts  print C++ that asserts every offset and size, for a unit test to compile
"""
import glob
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
DOCUMENT = f"{ROOT}/common/FORMAT.md"
HEADERS = [f"{ROOT}/common/record_kind.h", *sorted(glob.glob(f"{ROOT}/common/records/*.h")), f"{ROOT}/common/layout.h",
           f"{ROOT}/common/spool.h"]
TEXTS = [open(path, encoding="utf-8").read() for path in HEADERS]
CONSTANTS = {name: int(value) for name, value in re.findall(r"^inline constexpr .* (k\w+) = (\d+);", "\n".join(TEXTS), re.M)}
SIZES = {"char": 1, "std::uint8_t": 1, "std::uint16_t": 2, "std::uint32_t": 4, "std::int32_t": 4, "std::uint64_t": 8}
STRUCT = re.compile(r"^struct (\w+) (?:final )?\{\n(.*?)^\};", re.M | re.S)
MEMBER = re.compile(r"^\s+([\w:]+) ([\w, ]+?)((?:\[\w+\])*);(?:\s*// (.*))?$")


def read_structs():
    """{name: [(offset, type, name, count, comment)]} and sizes, in the order of the headers."""
    structs = {}
    for text in TEXTS:
        for name, body in STRUCT.findall(text):
            structs[name] = members_of(body)
    return structs


def members_of(body):
    offset, members = 0, []
    for line in body.splitlines():
        match = MEMBER.match(line)
        if not match or line.strip().startswith(("static", "//")):
            continue
        kind, names, brackets, comment = match.groups()
        count = 1
        for bound in re.findall(r"\[(\w+)\]", brackets):
            count *= CONSTANTS.get(bound) or int(bound)
        for name in names.split(", "):
            offset = -(-offset // min(SIZES[kind], 8)) * min(SIZES[kind], 8) if kind != "ClockSample" else -(-offset // 8) * 8
            members.append((offset, kind, name, count, comment or ""))
            offset += SIZES[kind] * count
    SIZES_OF_STRUCTS[current_name(members)] = offset
    if [m[2] for m in members] == ["cupti_ns", "mono_ns", "real_ns", "bracket_ns"]:
        SIZES["ClockSample"] = offset
    return members


SIZES_OF_STRUCTS = {}


def current_name(members):
    return tuple(m[2] for m in members)


def short(kind, count):
    plain = kind.replace("std::", "").replace("uint", "u").replace("int", "i").replace("_t", "")
    return f"{plain}[{count}]" if count > 1 else plain


def table(members):
    rows = ["| offset | type | field | meaning |", "|---|---|---|---|"]
    rows += [f"| {o} | {short(k, c)} | `{n}` | {m} |" for o, k, n, c, m in members]
    return "\n".join(rows) + f"\n\n{SIZES_OF_STRUCTS[current_name(members)]} bytes.\n"


def template_kinds(text):
    """RuntimeRecord etc. are aliases of templates; the tables show the template once."""
    return re.findall(r"using (\w+) = (\w+)<RecordKind::(\w+)>;", text)


def render(document, structs):
    def replace(match):
        name = match.group(1)
        if name not in structs:
            sys.exit(f"{DOCUMENT}: no struct {name} in the headers")
        return f"<!-- struct {name} -->\n{table(structs[name])}<!-- end -->"
    return re.sub(r"<!-- struct (\w+) -->\n.*?<!-- end -->", replace, document, flags=re.S)


def asserts(structs):
    aliases = {template: alias for alias, template, _ in reversed(template_kinds("\n".join(TEXTS)))}
    lines = ['#include "common/record.h"', '#include "common/spool.h"', "namespace trace {"]
    for struct, members in structs.items():
        name = aliases.get(struct, struct)
        lines.append(f"static_assert(sizeof({name}) == {SIZES_OF_STRUCTS[current_name(members)]});")
        lines += [f"static_assert(offsetof({name}, {m[2]}) == {m[0]});" for m in members]
    return "\n".join(lines + ["}  // namespace trace"])


def missing(document, structs):
    return [name for name in structs if f"<!-- struct {name} -->" not in document]


def main():
    structs = {name: members for name, members in read_structs().items() if members}
    structs.pop("RecordHead", None)
    if "--asserts" in sys.argv:
        print(asserts(structs))
        return 0
    document = open(DOCUMENT, encoding="utf-8").read()
    if absent := missing(document, structs):
        print(f"{DOCUMENT}: says nothing of {', '.join(absent)}: add '<!-- struct NAME -->' and '<!-- end -->'",
              file=sys.stderr)
        return 1
    wanted = render(document, structs)
    if "--check" in sys.argv:
        if wanted == document:
            return 0
        for number, (is_, should) in enumerate(zip(document.splitlines(), wanted.splitlines()), 1):
            if is_ != should:
                print(f"{DOCUMENT}:{number}: is {is_!r}, the headers say {should!r}; run scripts/format_tables.py",
                      file=sys.stderr)
                break
        return 1
    open(DOCUMENT, "w", encoding="utf-8").write(wanted)
    return 0


if __name__ == "__main__":
    sys.exit(main())
