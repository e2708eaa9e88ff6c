#!/usr/bin/env python3
"""Print the include folders that hold the CUDA, CUPTI and NVTX headers, one a line.

Order of search: the argument, $CUDA_HOME, /usr/local/cuda, the installed nvidia-* wheels of this Python and of the
project's own .venv. CUDA and CUPTI come from one place, so that their versions agree. NVTX stands alone: toolkits
before CUDA 13 lack its payload header, so where the chosen place lacks it the next one that has it is taken, and its
folder is printed first. Exit 1 with one line on stderr where a header is missing everywhere.
"""
import glob
import os
import sys
import sysconfig

DEFAULT_ROOT = "/usr/local/cuda"
CUDA = ("cuda.h", "cuda_runtime_api.h", "crt/host_defines.h", "cupti.h")
NVTX = ("nvtx3/nvToolsExt.h", "nvtx3/nvToolsExtPayload.h")


def toolkit_folders(root):
    return [f"{root}/include", f"{root}/extras/CUPTI/include", *sorted(glob.glob(f"{root}/targets/*/include"))]


def wheel_folders(site):
    return sorted(glob.glob(f"{site}/nvidia/*/include"), reverse=True)


def places(given):
    """Lists of folders that belong together, in the order of the search."""
    here = os.path.dirname(os.path.abspath(__file__))
    venv = os.path.normpath(os.path.join(here, "..", "..", ".venv"))
    roots = [given] if given else [os.environ.get("CUDA_HOME", ""), DEFAULT_ROOT]
    found = [toolkit_folders(root) for root in roots if root]
    sites = [sysconfig.get_paths()["purelib"], *sorted(glob.glob(f"{venv}/lib/python3*/site-packages")), f"{venv}/nvtx"]
    return found + [wheel_folders(site) for site in sites]


def choose(folders, needed):
    """The fewest of the folders, in order, that together hold every needed header; None where one is missing."""
    chosen = []
    for header in needed:
        holder = next((folder for folder in folders if os.path.exists(f"{folder}/{header}")), None)
        if holder is None:
            return None
        if holder not in chosen:
            chosen.append(holder)
    return chosen


def first(candidates, needed):
    return next(filter(None, (choose(folders, needed) for folders in candidates)), None)


def find(given):
    """(include folders, []) or ([], the headers that were not found). A given root must hold CUDA and CUPTI itself."""
    candidates = places(given)
    cuda = first(candidates[:1] if given else candidates, CUDA)
    if cuda is None:
        return [], CUDA
    # A folder that also holds another CUDA's headers would hide the chosen ones.
    alone = [[f for f in folders if f in cuda or not os.path.exists(f"{f}/cuda.h")] for folders in candidates]
    nvtx = first(alone, NVTX)
    if nvtx is None:
        return [], NVTX
    return nvtx + [folder for folder in cuda if folder not in nvtx], []


def main():
    given = sys.argv[1] if len(sys.argv) > 1 else ""
    folders, missing = find(given)
    if folders:
        print("\n".join(map(os.path.realpath, folders)))
        return 0
    everywhere = f"$CUDA_HOME, {DEFAULT_ROOT} or the nvidia-* Python wheels"
    where = given if given and missing == CUDA else everywhere
    print(f"CUDA headers ({', '.join(missing)}) not found in {where}: install the CUDA toolkit, run "
          "./scripts/setup.sh (fetches header wheels into .venv), or configure with -Dagent=disabled", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
