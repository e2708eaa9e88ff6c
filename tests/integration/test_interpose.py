#!/usr/bin/env python3
"""NCCL's functions interposed: each caller reaches its own libnccl, and one call is one record, whoever saw it. The
callers are loaded RTLD_LOCAL, as PyTorch's libraries are; the libnccl's are stand-ins that answer 101 and 102.

  test_interpose.py --agent PATH --program PATH --silent PATH --ranges PATH --another PATH
"silent" calls an NCCL 2.10 without NVTX, "ranges" one of 2.21 with ranges whose payloads name no communicator, and
"another" needs no libnccl itself.
"""
import os
import shutil
import sys

from harness import Folder, arguments, check, files_below, finish, run

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples"))
import read_recording  # noqa: E402

SYSTEM_ERROR, TAKEN = 2, 3


def id_hash():
    """NCCL's own hash (DJB2a) of the id that the callers use: 1, 2, 3 and zeros."""
    value = 5381
    for byte in bytes([1, 2, 3]) + bytes(125):
        value = (value * 33 ^ byte) % 2**64
    return value


def answers(options, what, *callers, **environment):
    with Folder() as folder:
        done = run([options.program, what, *callers], cwd=folder, LD_PRELOAD=options.agent, TRACETOOL_DIR=folder,
                   **environment)
        return [int(line) for line in done.stdout.split()], done, files_below(folder, ".ring")


def check_forwarding(options):
    for mode in ("auto", "payload", "interpose"):
        found, done, _ = answers(options, "calls", options.silent, options.ranges, TRACETOOL_NCCL=mode)
        check(found == [101, 102, 101, 102] and not done.stderr, f"{mode}: each caller reaches its own libnccl", done)
    found, done, files = answers(options, "calls", options.silent, options.ranges, TRACETOOL_DISABLE=1)
    check(found == [101, 102] * 2 and not files and not done.stderr, "disabled: calls are passed on", done)
    found, done, _ = answers(options, "calls", options.ranges, options.another)
    check(found == [102] * 4, "a caller without a libnccl of its own reaches the only one", done)
    with Folder() as folder:
        second = shutil.copy(options.agent, os.path.join(folder, "libsecond.so"))
        done = run([options.program, "calls", options.silent, options.ranges], cwd=folder, TRACETOOL_DIR=folder,
                   LD_PRELOAD=f"{options.agent} {second}", TRACETOOL_NCCL="interpose")
        files = files_below(folder, ".ring")  # the one that the loader starts first records, it may not be the one called
        check(done.stdout.split() == ["101", "102"] * 2 and not done.stderr and len(files) <= 1,
              "two copies of the agent: each caller reaches its own libnccl", done)
    found, done, _ = answers(options, "default", options.ranges)
    check(found == [102] * 3, "dlsym(RTLD_DEFAULT): calls go to the only libnccl", done)


def check_unresolvable(options):
    found, done, _ = answers(options, "calls", options.another)
    check(found == [SYSTEM_ERROR] * 2 and done.stderr.count("\n") == 1 and "ncclAllReduce" in done.stderr,
          "no libnccl: ncclSystemError and one line", done)
    found, done, _ = answers(options, "calls", options.silent, options.ranges, options.another)
    check(found == [101, 102, SYSTEM_ERROR] * 2 and done.stderr.count("\n") == 1,
          "two of them, and a caller that is bound to none: ncclSystemError and one line", done)


def train(options, caller, what="train", code=0, **environment):
    with Folder() as folder:
        done = run([options.program, what, caller], cwd=folder, LD_PRELOAD=options.agent, TRACETOOL_DIR=folder,
                   TRACETOOL_BUFFER="1M", **environment)
        check(done.returncode == code and not done.stderr, f"{os.path.basename(caller)}: ends well, silently", done)
        files = files_below(folder, ".ring")
        if not check(len(files) == 1, f"{os.path.basename(caller)}: there is one recording", files):
            finish()
        return read_recording.read(files[0])


def described(call, *names):
    return tuple(getattr(call, name) for name in names)


def check_training(options, caller, version):
    what = os.path.basename(caller)
    recording = train(options, caller)
    calls = [e for e in recording.events if e.kind == "nccl_call"]
    found = [described(c, "name", "bytes", "ordinal", "data_type", "count", "stream") for c in calls]
    expected = [("ncclAllReduce", 4000, i, 7, 1000, 0x10) for i in range(3)] + [
        ("ncclSend", 20, 0, 7, 5, 0), ("ncclRecv", 20, 0, 7, 5, 0)]
    check(found[:5] == expected, f"{what}: calls with type, count and stream, each once", calls)
    check(len(calls) == 6 and described(calls[5], "ordinal", "data_type", "count", "reduction_op") == (0, 9, 20, 2),
          f"{what}: the split's call", calls[5:])
    check([c.peer for c in calls[3:5]] == [2, 0], f"{what}: peers", calls)
    world, part = calls[0].communicator, calls[5].communicator
    check(world == id_hash() and {c.communicator for c in calls[:5]} == {world}, f"{what}: NCCL's own hash of the id",
          calls)
    made = [described(c, "communicator", "rank", "ranks", "parent", "color", "key") for c in recording.communicators]
    check(made == [(world, 1, 4, 0, -1, -1), (part, -1, -1, world, 1, 1)] and part not in (0, None, world),
          f"{what}: the communicators that were made", made)
    check(recording.identity["rank"] == 1 and recording.identity["world_size"] == 4, f"{what}: who we are",
          recording.identity)
    pushes = [e.name for e in recording.events if e.kind == "nvtx_push"]
    check(pushes == ["ncclCommInitRank", "ncclGroupStart", "ncclGroupEnd", "ncclCommSplit", "ncclCommDestroy"],
          f"{what}: other calls are ranges, each once", pushes)
    pops = sum(e.kind == "nvtx_pop" for e in recording.events)
    check(pops == len(pushes) + len(calls), f"{what}: each range ends once", pops)
    check(recording.header["nccl_version"] == version, f"{what}: its version", recording.header["nccl_version"])


def check_nested(options):
    for caller in (options.silent, options.ranges):
        calls = [e for e in train(options, caller, "nested").events if e.kind == "nccl_call"]
        check(described(calls[0], "name", "communicator", "ordinal") == ("ncclAllReduce", id_hash(), 0),
              f"{os.path.basename(caller)}: a communicator that is made in a group within a group has its name", calls)


def train_both(options, what, *callers, **environment):
    """Trainings through both libraries in one process. Its calls of NCCL."""
    with Folder() as folder:
        done = run([options.program, what, *callers], cwd=folder, TRACETOOL_DIR=folder, TRACETOOL_BUFFER="1M", timeout=60, **environment)
        check((done.returncode, done.stderr) == (0, ""), f"{what}: ends well, silently", done)
        files = files_below(folder, ".ring")
        if not check(len(files) == 1, f"{what}: there is one recording", files):
            finish()
        return [e for e in read_recording.read(files[0]).events if e.kind == "nccl_call"]


def check_both(options):
    """Two libraries in one process. Both make a communicator of the same name, one after the other: it has an epoch each."""
    calls = train_both(options, "in_turn", options.silent, options.ranges, LD_PRELOAD=options.agent)
    world = [described(c, "epoch", "ordinal") for c in calls if c.name == "ncclAllReduce" and c.communicator == id_hash()]
    check(world == [(epoch, ordinal) for epoch in range(1, 5) for ordinal in range(3)] and len(calls) == 24,
          "in turn, with callers that are unloaded: each training has its own communicators", calls)
    calls = train_both(options, "namespace", options.silent, options.ranges, LD_PRELOAD=options.agent)
    found = [c.count for c in calls if c.name == "ncclAllReduce"]
    check(found == [1000] * 3 + [20] + [None] * 4 + [1000] * 3 + [20],
          "a libnccl in a namespace of its own (dlmopen): its NVTX ranges are in the same recording", calls)
    calls = train_both(options, "namespace", options.silent, options.ranges, NVTX_INJECTION64_PATH=options.agent)
    check(len(calls) == 6, "the same without LD_PRELOAD: what it says by NVTX is recorded", calls)


def check_modes(options):
    recording = train(options, options.ranges, TRACETOOL_NCCL="payload")
    calls = [e for e in recording.events if e.kind == "nccl_call"]
    check(len(calls) == 6 and all(c.count is None and c.communicator is None for c in calls),
          "payload: only what NCCL's ranges say", calls)
    recording = train(options, options.ranges, NVTX_INJECTION64_PATH="/another/tool.so")
    check(recording.header["nvtx_state"] == TAKEN and recording.kept["nccl_call"] == 6,
          "another NVTX tool: NCCL is known by its functions", recording.kept)
    with Folder() as folder:
        done = run([options.program, "train", options.ranges], cwd=folder, LD_PRELOAD=options.agent,
                   TRACETOOL_DIR=folder, TRACETOOL_VERBOSE=1, NVTX_INJECTION64_PATH="/another/tool.so",
                   CUDA_INJECTION64_PATH="/a/third.so")
        said = done.stderr.splitlines()
        check(all(sum(path in line for line in said) == 1 for path in ("/another/tool.so", "/a/third.so")),
              "other tools are named, each in one line", said)
    recording = train(options, options.silent, "abort", code=-6)
    check(recording.kept["nccl_call"] == 1, "abort inside a call: its record is there", recording.kept)


def main():
    options = arguments("agent", "program", "silent", "ranges", "another")
    check_forwarding(options)
    check_unresolvable(options)
    check_training(options, options.silent, 21000)
    check_training(options, options.ranges, 22105)
    check_nested(options)
    check_both(options)
    check_modes(options)
    finish()


main()
