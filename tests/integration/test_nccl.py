#!/usr/bin/env python3
"""The real libnccl, without a GPU: a call with a NULL communicator fails, but its NVTX range carries the real payload.

  test_nccl.py --agent PATH --simulated PATH      exit 77 where there is no libnccl
It proves the decoding of the ranges, not identity: a NULL communicator has no hash and no init. Called through our own
functions, each call must still be one record, now with type, count and stream.
"""
import ctypes
import os
import sys

from harness import Folder, arguments, check, files_below, finish, run, skip
from real_nccl import find_nccl

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples"))
import read_recording  # noqa: E402

# CDLL(path) asks libnccl itself; CDLL(None) asks the loader, as linked programs do, and finds the agent first.
PROGRAM = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
nccl = library if sys.argv[2] == "itself" else ctypes.CDLL(None)
size, stream = ctypes.c_size_t, ctypes.c_void_p(0x10)
results = [nccl.ncclAllReduce(None, None, size(1000), 7, 0, None, None) for _ in range(3)]       # float32, sum
results += [nccl.ncclAllGather(None, None, size(50), 4, None, None)]                             # int64
results += [nccl.ncclBroadcast(None, None, size(10), 0, 2, None, stream)]                        # int8, root 2
results += [nccl.ncclSend(None, size(10), 7, 3, None, None)]
results += [nccl.ncclGroupStart(), nccl.ncclGroupEnd()]
print(results)
"""
EXPECTED = [("ncclAllReduce", 4000, 0), ("ncclAllReduce", 4000, 1), ("ncclAllReduce", 4000, 2),
            ("ncclAllGather", 400, 3), ("ncclBroadcast", 10, 4), ("ncclSend", 40, 0)]
ARGUMENTS = [(7, 1000, 0)] * 3 + [(4, 50, 0), (0, 10, 0x10), (7, 10, 0)]


# The order of llm.c: NCCL makes its id, and looks for an NVTX tool in that, before anybody has called CUDA.
ID_FIRST = """
import ctypes, sys
nccl = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
size = ctypes.c_size_t
print(nccl.ncclGetUniqueId(ctypes.create_string_buffer(128)))
print(ctypes.CDLL("libcuda.so.1").cudaSetDevice(0))
print([nccl.ncclAllReduce(None, None, size(1000), 7, 0, None, None) for _ in range(3)])
"""
README = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "README.md")


def variables_of(job):
    """The variables that README's line for this job leads to the agent."""
    with open(README, encoding="utf-8") as file:
        line = next(line for line in file if line.startswith(f"| {job} |"))
    return [name for name in ("CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH") if f"{name}=" in line]


def check_id_first(options, library):
    command = [sys.executable, "-c", ID_FIRST, library]
    variables = {name: options.agent for name in variables_of("llm.c")}
    standins = os.path.join(os.path.dirname(options.simulated), "standin")
    with Folder() as folder:
        done = run(command, TRACETOOL_DIR=folder, TRACETOOL_BUFFER="1M", LD_LIBRARY_PATH=standins, **variables)
        check(done.returncode == 0 and done.stdout.startswith("0\n0\n") and not done.stderr,
              "an id before CUDA: the program runs", done)
        files = files_below(folder, ".ring")
        calls = [e for path in files for e in read_recording.read(path).events if e.kind == "nccl_call"]
    check([(c.name, c.bytes) for c in calls] == 3 * [("ncclAllReduce", 4000)],
          "an id before CUDA: NCCL is recorded with README's line for llm.c", f"{sorted(variables)}, {calls}")


def record(options, library, asked, **environment):
    """Runs the program with and without the agent; its recording."""
    command = [sys.executable, "-c", PROGRAM, library, asked]
    with Folder() as folder:
        alone = run(command)
        done = run(command, TRACETOOL_DIR=folder, TRACETOOL_BUFFER="1M", LD_PRELOAD=options.agent, **environment)
        check((done.returncode, done.stdout, done.stderr) == (0, alone.stdout, ""), f"{asked}: runs as without us", done)
        files = files_below(folder, ".ring")
        if not check(len(files) == 1, f"{asked}: an NCCL call opens the recording", files):
            finish()
        return read_recording.read(files[0])


def check_calls(recording, what):
    calls = [e for e in recording.events if e.kind == "nccl_call"]
    check([(c.name, c.bytes, c.ordinal) for c in calls] == EXPECTED, f"{what}: names, bytes and ordinals", calls)
    check([c.peer for c in calls[-2:]] == [2, 3], f"{what}: root and peer", calls[-2:])
    groups = [e.name for e in recording.events if e.kind == "nvtx_push"]
    check(groups == ["ncclGroupStart", "ncclGroupEnd"], f"{what}: group calls are ranges", groups)
    pops = sum(e.kind == "nvtx_pop" for e in recording.events)
    check(pops == len(EXPECTED) + 2, f"{what}: every range ends", pops)
    return calls


def version_of(library):
    version = ctypes.c_int()
    ctypes.CDLL(library).ncclGetVersion(ctypes.byref(version))
    return version.value


def main():
    options = arguments("agent", "simulated")
    library = find_nccl()
    if not library:
        skip("no libnccl")
    recording = record(options, library, "itself")
    calls = check_calls(recording, "its ranges")
    check(all(c.count is None for c in calls), "its ranges: no counts", calls)
    check(recording.header["nccl_version"] == version_of(library), "the header has its version",
          recording.header["nccl_version"])
    calls = check_calls(record(options, library, "the loader", TRACETOOL_NCCL="interpose"), "interposed")
    check([(c.data_type, c.count, c.stream) for c in calls] == ARGUMENTS, "interposed: type, count and stream", calls)
    check_calls(record(options, library, "the loader"), "passed on")
    check_id_first(options, library)
    finish()


main()
