#!/usr/bin/env python3
"""Print the include folders that hold cuda.h, cupti.h and nvtx3/nvToolsExt.h, one a line.

Order: the argument, $CUDA_HOME, /usr/local/cuda, the installed nvidia-* wheels of this Python and of the
project's own .venv. Exit 1 with one line on stderr where a header is missing everywhere.
"""
import glob
import os
import sys
import sysconfig

NEEDED = ("cuda.h", "cupti.h", "nvtx3/nvToolsExt.h")


def toolkit_folders(root):
    return [f"{root}/include", f"{root}/extras/CUPTI/include", *glob.glob(f"{root}/targets/*/include")]


def wheel_folders():
    here = os.path.dirname(os.path.abspath(__file__))
    venv = os.path.join(here, "..", "..", ".venv")
    sites = [sysconfig.get_paths()["purelib"], *glob.glob(f"{venv}/lib/python3*/site-packages")]
    found = []
    for site in sites:
        found += sorted(glob.glob(f"{site}/nvidia/*/include"), reverse=True)
    return [os.path.realpath(folder) for folder in found]


def choose(folders):
    """The fewest folders, in order, that together hold every needed header; None where one is missing."""
    chosen = []
    for header in NEEDED:
        holder = next((f for f in folders if os.path.exists(f"{f}/{header}")), None)
        if holder is None:
            return None
        if holder not in chosen:
            chosen.append(holder)
    return chosen


def main():
    given = sys.argv[1] if len(sys.argv) > 1 else ""
    if given:
        candidates = [toolkit_folders(given)]
    else:
        home = os.environ.get("CUDA_HOME", "")
        candidates = [toolkit_folders(home)] if home else []
        candidates += [toolkit_folders("/usr/local/cuda"), wheel_folders()]
    for folders in candidates:
        chosen = choose([f for f in folders if os.path.isdir(f)])
        if chosen:
            print("\n".join(chosen))
            return 0
    where = given or "$CUDA_HOME, /usr/local/cuda and the nvidia-* Python wheels"
    print(f"CUDA headers ({', '.join(NEEDED)}) not found in {where}: install the CUDA toolkit, run ./scripts/setup.sh "
          "(fetches header wheels into .venv), or configure with -Dagent=disabled", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
