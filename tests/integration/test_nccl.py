#!/usr/bin/env python3
"""The real libnccl, without a GPU: a call with a NULL communicator fails, but its NVTX range carries the real payload.

  test_nccl.py --agent PATH      exit 77 where there is no libnccl
It proves the decoding of the ranges, not identity: a NULL communicator has no hash and no init.
"""
import ctypes.util
import glob
import os
import subprocess
import sys

from harness import Folder, arguments, check, clean_environment, finish, skip

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples"))
import read_recording  # noqa: E402

PROGRAM = """
import ctypes, sys
nccl = ctypes.CDLL(sys.argv[1])
size = ctypes.c_size_t
for _ in range(3):
    nccl.ncclAllReduce(None, None, size(1000), 7, 0, None, None)       # float32, sum
nccl.ncclAllGather(None, None, size(50), 4, None, None)                # int64
nccl.ncclBroadcast(None, None, size(10), 0, 2, None, None)             # int8, root 2
nccl.ncclSend(None, size(10), 7, 3, None, None)
nccl.ncclGroupStart()
nccl.ncclGroupEnd()
"""
EXPECTED = [("ncclAllReduce", 4000, 0), ("ncclAllReduce", 4000, 1), ("ncclAllReduce", 4000, 2),
            ("ncclAllGather", 400, 3), ("ncclBroadcast", 10, 4), ("ncclSend", 40, 0)]


def find_nccl():
    places = glob.glob("/usr/local/cuda/lib64/libnccl.so.2")
    places += [path for folder in sys.path for path in glob.glob(f"{folder}/nvidia/nccl/lib/libnccl.so.2")]
    return places[0] if places else ctypes.util.find_library("nccl")


def main():
    paths = arguments("agent")
    library = find_nccl()
    if not library:
        skip("no libnccl")
    with Folder() as folder:
        environment = clean_environment(TRACETOOL_DIR=folder, TRACETOOL_BUFFER="1M", LD_PRELOAD=paths.agent)
        result = subprocess.run([sys.executable, "-c", PROGRAM, library], env=environment, capture_output=True, text=True)
        check(result.returncode == 0 and result.stderr == "", "the program runs as without us", result.stderr)
        files = glob.glob(f"{folder}/*/*.ring")
        check(len(files) == 1, "an NCCL call opens the recording", files)
        events = read_recording.read(files[0]).events
    calls = [e for e in events if e.kind == "nccl_call"]
    check([(c.name, c.bytes, c.ordinal) for c in calls] == EXPECTED, "names, bytes and ordinals", calls)
    check([c.peer for c in calls[-2:]] == [2, 3], "root and peer", calls[-2:])
    groups = [e.name for e in events if e.kind == "nvtx_push"]
    check(groups == ["ncclGroupStart", "ncclGroupEnd"], "group calls are ranges", groups)
    pops = sum(e.kind == "nvtx_pop" for e in events)
    check(pops == len(EXPECTED) + 2, "every range ends", pops)
    finish()


main()
