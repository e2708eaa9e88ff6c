#!/usr/bin/env python3
"""libagent.so is one file that any container with glibc 2.34 can load: what it needs, and what it shows to others."""
import re
import shutil

from elf import check_needed, check_versions, readelf
from harness import arguments, check, finish, first, skip

ENTRY_POINTS = {"InitializeInjection", "InitializeInjectionNvtx2", "InitializeInjectionNvtxExtension"}


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
