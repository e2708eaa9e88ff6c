#!/usr/bin/env python3
"""libagent.so is one file that any container with glibc 2.34 can load: what it needs, and what it shows to others."""
import re
import shutil

from elf import check_needed, check_versions, readelf
from harness import arguments, check, finish, first, skip

# CUDA's door, NVTX's two, and NCCL's functions that every NCCL since 2.18 has: who asks the loader for a newer one must
# not find ours.
ENTRY_POINTS = {"InitializeInjection", "InitializeInjectionNvtx2", "InitializeInjectionNvtxExtension"} | {
    "nccl" + name for name in ("AllReduce", "Broadcast", "Reduce", "AllGather", "ReduceScatter", "Send", "Recv",
                               "GroupStart", "GroupEnd", "CommInitRank", "CommInitRankConfig", "CommInitAll",
                               "CommSplit", "CommDestroy", "CommAbort")}


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
