#!/usr/bin/env python3
"""Keep common/FORMAT.md's tables equal to the structs in common/records/, layout.h and spool.h.

  format_tables.py            rewrite the tables between the markers in FORMAT.md
  format_tables.py --check    exit 1, naming the first difference, when they are not what the headers say
  format_tables.py --asserts  print C++ that asserts every offset and size, for a unit test to compile
  format_tables.py --fields   print C++ that calls a function with each field of a record and its name, for dump
"""
import glob
import os
import re
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
DOCUMENT = f"{ROOT}/common/FORMAT.md"
HEADERS = [*sorted(glob.glob(f"{ROOT}/common/records/*.h")), f"{ROOT}/common/layout.h", f"{ROOT}/common/spool_format.h"]
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
            if name not in ("RecordHead", "Choice"):  # no bytes of a file by themselves
                structs[name] = members_of(body)
    return structs


def with_continuations(body):
    """Its lines; a comment that goes on below the one behind a member stands on the member's line."""
    return re.sub(r"(//.*)((?:\n {8,}//.*)+)", lambda m: m[1] + re.sub(r"\n +//", "", m[2]), body).splitlines()


def members_of(body):
    offset, members = 0, []
    for line in with_continuations(body):
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
    if [m[2] for m in members] == ["cupti_ns", "mono_ns", "real_ns", "uncertainty_ns"]:
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
    return re.findall(r"using (\w+) = (\w+)<(k\w+)>;", text)


def bits(name):
    """The members of an enumeration, one a row."""
    body = next(found[1] for text in TEXTS if (found := re.search(rf"^enum {name} .*?\{{\n(.*?)^\}};", text, re.M | re.S)))
    rows = re.findall(r"^  k\w+ = (\d+),\s+// (.*)$", "\n".join(with_continuations(body)), re.M)
    return "\n".join(["| bit | of |", "|---|---|", *(f"| {value} | {of} |" for value, of in rows)]) + "\n"


def render(document, structs):
    def replace(match):
        name = match.group(1)
        if name not in structs:
            sys.exit(f"{DOCUMENT}: no struct {name} in the headers")
        return f"<!-- struct {name} -->\n{table(structs[name])}<!-- end -->"
    document = re.sub(r"<!-- enum (\w+) -->\n.*?<!-- end -->",
                      lambda match: f"<!-- enum {match[1]} -->\n{bits(match[1])}<!-- end -->", document, flags=re.S)
    return re.sub(r"<!-- struct (\w+) -->\n.*?<!-- end -->", replace, document, flags=re.S)


def asserts(structs):
    aliases = {template: alias for alias, template, _ in reversed(template_kinds("\n".join(TEXTS)))}
    lines = ['#include "common/record.h"', '#include "common/spool_format.h"', "namespace trace {"]
    for struct, members in structs.items():
        name = aliases.get(struct, struct)
        lines.append(f"static_assert(sizeof({name}) == {SIZES_OF_STRUCTS[current_name(members)]});")
        if name.endswith("Record"):
            lines.append(f'static_assert(is_listed<{name}>, "{name} is not in AllRecords");')
        lines += [f"static_assert(offsetof({name}, {m[2]}) == {m[0]});" for m in members]
    return "\n".join(lines + ["}  // namespace trace"])


def fields(structs):
    templates = {template for _, template, _ in template_kinds("\n".join(TEXTS))}
    lines = ["// Made by scripts/format_tables.py --fields.", "#pragma once", '#include "common/record.h"', "namespace trace {"]
    for name in (name for name in structs if name.endswith("Record")):
        template = name in templates
        lines.append(f"template <{'RecordKind K, ' if template else ''}typename F>")
        lines.append(f"void record_fields(const {name}{'<K>' if template else ''}& record, F&& field) {{")
        said = [m[2] for m in structs[name] if m[2] not in ("kind", "size_words") and not m[2].startswith("reserved")]
        lines += [f'  field("{name}", record.{name});' for name in said]
        lines.append("}")
    return "\n".join(lines + ["}  // namespace trace"])


def section(struct):
    """Of a struct that the document does not have yet: its number and name, what its header says of it, and a table."""
    for text in TEXTS:
        found = re.search(r"((?:^//[^\n]*\n)*)^struct " + struct + r" (?:final )?\{\n(.*?)^\};", text, re.M | re.S)
        if not found:
            continue
        comment = " ".join(line.strip("/ ") for line in found[1].splitlines())
        number, name = re.search(r"kKind\{(\d+)\}", found[2]), re.search(r'kName = "(\w+)"', found[2])
        kind = f"Kind {number[1]} **{name[1]}**: " if number and name else f"**{struct}**: "
        return f"\n{kind}{comment}\n\n<!-- struct {struct} -->\n<!-- end -->\n"
    return ""


def missing(document, structs):
    return [name for name in structs if f"<!-- struct {name} -->" not in document]


def main():
    structs = {name: members for name, members in read_structs().items() if members}
    if "--asserts" in sys.argv:
        print(asserts(structs))
        return 0
    if "--fields" in sys.argv:
        print(fields(structs))
        return 0
    document = open(DOCUMENT, encoding="utf-8").read()
    absent = missing(document, structs)
    if absent and "--check" in sys.argv:
        print(f"{DOCUMENT}: says nothing of {', '.join(absent)}; run scripts/format_tables.py", file=sys.stderr)
        return 1
    wanted = render(document + "".join(section(name) for name in absent), structs)
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
