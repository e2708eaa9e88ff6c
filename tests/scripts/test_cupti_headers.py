#!/usr/bin/env python3
"""Compares what the agent reads of CUPTI's records with CUPTI's headers, of as many versions as are at hand.

  test_cupti_headers.py [--compiler CC] [--root CUDA_ROOT] [FOLDER ...]

Every FOLDER, and every folder in $TRACETOOL_CUPTI_HEADERS (separated by `:`), is an include folder with cupti.h: of a
toolkit (extras/CUPTI/include) or of an unpacked wheel (`pip download --no-deps nvidia-cuda-cupti-cu12==12.4.127`, then
`python3 -m zipfile -e WHEEL PLACE`: PLACE/nvidia/cuda_cupti/include). The headers that the build uses are always
looked at. Exit 77 where there are none.

A record is read through the oldest struct of its family that is named here; all later ones must have the same field in
the same place. All 34 wheels of PyPI agree, from 11.7.101 to 13.5.25. From 13.3 on this also compares what
agent/cupti/subscriber_functions.cpp declares of the functions of version 2.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, f"{ROOT}/scripts/cuda")
import find_headers  # noqa: E402

WORK = "start=16 end=24"
# Family of structs: (the oldest that is used, its fields and their places). A number after the family's name is the
# version of the struct, none is 1.
FIELDS = {
    "Kernel": (5, f"{WORK} registersPerThread=6 deviceId=40 contextId=44 streamId=48 gridX=52 gridY=56 gridZ=60 "
                  "blockX=64 blockY=68 blockZ=72 staticSharedMemory=76 dynamicSharedMemory=80 "
                  "localMemoryPerThread=84 correlationId=92 name=104 launchType=136 graphNodeId=144 graphId=156"),
    "Memcpy": (4, f"copyKind=4 srcKind=5 dstKind=6 flags=7 bytes=8 {WORK} deviceId=32 contextId=36 streamId=40 "
                  "correlationId=44 graphNodeId=64 graphId=72"),
    "MemcpyPtoP": (3, f"copyKind=4 srcKind=5 dstKind=6 flags=7 bytes=8 {WORK} deviceId=32 contextId=36 streamId=40 "
                      "srcDeviceId=44 srcContextId=48 dstDeviceId=52 dstContextId=56 correlationId=60 graphNodeId=72 "
                      "graphId=80"),
    "Memset": (3, f"value=4 bytes=8 {WORK} deviceId=32 contextId=36 streamId=40 correlationId=44 flags=48 "
                  "memoryKind=50 graphNodeId=64 graphId=72"),
    "API": (1, "cbid=4 start=8 end=16 threadId=28 correlationId=32 returnValue=36"),
    "Synchronization": (1, "type=4 start=8 end=16 correlationId=24 contextId=28 streamId=32 cudaEventId=36"),
    "CudaEvent": (1, "correlationId=4 contextId=8 streamId=12 eventId=16"),
    "Overhead": (1, "overheadKind=4 objectKind=8 objectId=12 start=24 end=32"),
    "GraphTrace": (1, "correlationId=4 start=8 end=16 deviceId=24 graphId=28 contextId=32 streamId=36"),
    "Memory": (3, "memoryOperationType=4 memoryKind=8 correlationId=12 address=16 bytes=24 timestamp=32 deviceId=52 "
                  "contextId=56 streamId=60 isAsync=72 memoryPoolConfig.memoryPoolType=80 memoryPoolConfig.address=88"),
    "MemoryPool": (2, "memoryPoolOperationType=4 memoryPoolType=8 correlationId=12 deviceId=20 address=32 size=40 "
                      "releaseThreshold=48 timestamp=56 utilizedSize=64"),
    "Context": (1, "contextId=4 deviceId=8 nullStreamId=14"),
    "Stream": (1, "contextId=4 streamId=8 priority=12 flag=16"),
}
# agent/translate/gpu_work.h: (struct, field, place, the first CUPTI_API_VERSION that has it)
LATE = [("Overhead3", "correlationId", 40, 22), ("Synchronization2", "returnValue", 48, 26),
        ("Synchronization2", "cudaEventSyncId", 40, 26), ("CudaEvent2", "cudaEventSyncId", 48, 26),
        ("Kernel8", "clusterX", 176, 18), ("Kernel8", "clusterY", 180, 18), ("Kernel8", "clusterZ", 184, 18)]
SUBSCRIBERS = 130300  # the first CUPTI_API_VERSION with all of these functions: (name, parameters after the subscriber)
FUNCTIONS = [("cuptiGetTimestamp_v2", "uint64_t *"),
             ("cuptiActivityRegisterCallbacks_v2", "CUpti_BuffersCallbackRequestFunc_v2, CUpti_BuffersCallbackCompleteFunc_v2"),
             ("cuptiActivityEnable_v2", "CUpti_ActivityKind, CUpti_ActivityConfig *"),
             ("cuptiActivityEnableAndDump_v2", "CUpti_ActivityKind, CUpti_ActivityConfig *"),
             ("cuptiActivityDisable_v2", "CUpti_ActivityKind, CUpti_ActivityConfig *"),
             ("cuptiActivityGetNextRecord_v2", "uint8_t *, size_t, CUpti_Activity **"),
             ("cuptiActivityGetNumDroppedRecords_v2", "CUcontext, uint32_t, size_t *"),
             ("cuptiActivitySetAttribute_v2", "CUpti_ActivityAttribute, size_t *, void *"),
             ("cuptiActivityGetAttribute_v2", "CUpti_ActivityAttribute, size_t *, void *"),
             ("cuptiActivityEnableRuntimeApi_v2", "CUpti_CallbackId, uint8_t"),
             ("cuptiActivityEnableDriverApi_v2", "CUpti_CallbackId, uint8_t"),
             ("cuptiActivityGetEnabledKinds", "CUpti_ActivityKind *, uint32_t *, uint32_t *")]
CALLBACKS = [("CUpti_BuffersCallbackRequestFunc_v2", "uint8_t **, size_t *, size_t *, CUpti_BufferCallbackRequestInfo *"),
             ("CUpti_BuffersCallbackCompleteFunc_v2", "uint8_t *, size_t, size_t, CUpti_BufferCallbackCompleteInfo *")]
ATTRIBUTES = {"ENABLE_ALL_SYNC_RECORDS": 16, "ENABLE_MULTI_SUBSCRIBER_GRAPH_TRACE": 20, "THREAD_ID_TYPE": 21}
PARAMS = "structSize=0 subscriberName=8 oldSubscriberName=16 oldSubscriberSize=24 allowMultipleSubscribers=32"
RECORD = re.compile(r"^\}\s*CUpti_Activity(\w+?)(\d*);", re.M)


def read(folder, name):
    path = f"{folder}/{name}"
    return open(path, encoding="utf-8", errors="replace").read() if os.path.exists(path) else ""


def api_version(folder):
    found = re.search(r"#define\s+CUPTI_API_VERSION\s+(\d+)", read(folder, "cupti_version.h"))
    return int(found[1]) if found else 0


def structs(folder):
    """family -> versions of its struct in these headers"""
    found = {}
    for family, version in RECORD.findall(read(folder, "cupti_activity.h") + read(folder, "cupti_activity_deprecated.h")):
        found.setdefault(family, set()).add(int(version or 1))
    return found


def expectations(folder):
    """(struct, field, place) that must hold, and the complaints that need no compiler."""
    have, version = structs(folder), api_version(folder)
    wanted, wrong = [], []
    for family, (oldest, fields) in FIELDS.items():
        if oldest not in have.get(family, ()):
            wrong.append(f"there is no CUpti_Activity{family}{oldest if oldest > 1 else ''}")
        for number in sorted(n for n in have.get(family, ()) if n >= oldest):
            places = (field.split("=") for field in fields.split())
            wanted += [(f"CUpti_Activity{family}{number if number > 1 else ''}", *place) for place in places]
    for name, field, place, since in LATE:
        family, number = re.match(r"(\D+)(\d+)", name).groups()
        if (int(number) in have.get(family, ())) != (version >= since):
            wrong.append(f"CUpti_Activity{name} is not what came with version {since}: this is {version}")
        newer = sorted(n for n in have.get(family, ()) if n >= int(number))
        wanted += [(f"CUpti_Activity{family}{n}", field, place) for n in newer]
    return wanted, wrong


def subscribers():
    """Lines that compile where the functions are as the agent declares them."""
    has_type = '_Static_assert(_Generic({}, {}: 1, default: 0), "{}");'
    yield from (has_type.format(f"&{name}", f"CUptiResult (*)(CUpti_SubscriberHandle, {more})", name)
                for name, more in FUNCTIONS)
    yield from (has_type.format(f"({name})0", f"void (*)({parameters})", name) for name, parameters in CALLBACKS)
    yield from (f'_Static_assert(CUPTI_ACTIVITY_ATTR_{name} == {number}, "{name}");' for name, number in ATTRIBUTES.items())
    yield from (f'_Static_assert(offsetof(CUpti_SubscriberParams, {name}) == {place}, "{name}");'
                for name, place in (field.split("=") for field in PARAMS.split()))
    yield '_Static_assert(sizeof(CUpti_SubscriberParams) == 40, "CUpti_SubscriberParams");'


def source(wanted, more):
    # Not all of cupti.h, whose other parts need the runtime's headers of the same version.
    headers = ("stddef.h", "stdint.h", "cuda.h", "cupti_result.h", "cupti_callbacks.h", "cupti_activity.h")
    lines = [*(f"#include <{name}>" for name in headers), *more]
    lines += [f'_Static_assert(offsetof({struct}, {field}) == {place}, "{struct}::{field}");'
              for struct, field, place in wanted]
    return "\n".join(lines) + "\n"


def compile_errors(compiler, folder, others, wanted, more):
    with tempfile.TemporaryDirectory() as place:
        path = f"{place}/layouts.c"
        with open(path, "w", encoding="utf-8") as file:
            file.write(source(wanted, more))
        includes = [f"-I{each}" for each in [folder, *others]]
        done = subprocess.run([compiler, "-std=c11", "-w", "-fsyntax-only", *includes, path], stderr=subprocess.PIPE,
                              text=True, errors="replace", check=False)
        return [line for line in done.stderr.splitlines() if "error" in line]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", default="cc")
    parser.add_argument("--root", default="")
    parser.add_argument("folders", nargs="*")
    arguments = parser.parse_args()
    build, _ = find_headers.find(arguments.root)
    given = arguments.folders + [each for each in os.environ.get("TRACETOOL_CUPTI_HEADERS", "").split(":") if each]
    folders = [each for each in given + build if os.path.exists(f"{each}/cupti.h")]
    if not folders:
        print("skipped: no CUPTI headers here")
        return 77
    failed = 0
    for folder in folders:
        wanted, wrong = expectations(folder)
        more = list(subscribers()) if api_version(folder) >= SUBSCRIBERS else []
        wrong += compile_errors(arguments.compiler, folder, build, wanted, more)
        failed += bool(wrong)
        print(f"{'FAIL' if wrong else 'ok  '}  CUPTI {api_version(folder)} in {folder}: {len(wanted) + len(more)} places")
        for line in wrong[:10]:
            print(f"      {line}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
