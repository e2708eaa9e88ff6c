#!/usr/bin/env python3
"""libagent.so is one file that any container with glibc 2.34 can load: what it needs, and what it shows to others."""
import re
import shutil

from harness import arguments, check, finish, first, run, skip

GLIBC = re.compile(r"(libc\.so\.6|lib(m|pthread|dl|rt)\.so\.\d+|ld-linux[-\w]*\.so\.\d+)$")
ENTRY_POINTS = {"InitializeInjection", "InitializeInjectionNvtx2", "InitializeInjectionNvtxExtension"}
NEWEST = (2, 34)


def readelf(option, path):
    found = run(["readelf", "-W", option, path])
    check(found.returncode == 0, f"readelf {option} reads the library", found.stderr)
    return found.stdout


def check_needed(path):
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", readelf("-d", path))
    check(needed and all(GLIBC.match(name) for name in needed), "it needs glibc's libraries only", needed)


def check_versions(path):
    wanted = set(re.findall(r"Name: (\S+)\s+Flags:", readelf("-V", path)))
    numbered = {name for name in wanted if re.match(r"GLIBC_[\d.]+$", name)}
    glibc = {tuple(map(int, name[6:].split("."))) for name in numbered}
    check(glibc and max(glibc) <= NEWEST, "it needs no glibc newer than 2.34", sorted(glibc))
    check(wanted == numbered, "it needs numbered versions of glibc only", sorted(wanted - numbered))


def check_exports(path):
    rows = [line.split() for line in readelf("--dyn-syms", path).splitlines() if re.match(r"\s*\d+:", line)]
    shown = {row[7].split("@")[0] for row in rows if len(row) > 7 and row[6] != "UND" and row[4] != "LOCAL"}
    check(shown == ENTRY_POINTS, "it exports its entry points and nothing else", first(sorted(shown ^ ENTRY_POINTS)))


def main():
    options = arguments("agent")
    if shutil.which("readelf") is None:
        skip("readelf is not installed (package binutils)")
    check_needed(options.agent)
    check_versions(options.agent)
    check_exports(options.agent)
    finish()


main()
