#!/usr/bin/env python3
"""Write the corpus of fuzz_nsys: small reports with the columns of the schema that Nsight Systems publishes.

  make_nsys_corpus.py            write tests/fuzz/corpus/nsys
"""
import os
import sqlite3
import struct

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus/nsys")
VM = 1 << 48
PID, TID = VM | 71 << 24, VM | 71 << 24 | 71
NAMES = ["gemm<float>", "gemm", "cudaLaunchKernel_v7000", "cuLaunchKernel", "cudaGraphLaunch_v10000", "NCCL", "ncclAllReduce",
         "ncclCommInitRank", "read", "main", "_Z4gemmv"]
ID = {name: number + 1 for number, name in enumerate(NAMES)}


def blob(schema, *fields):
    payload = b"".join(fields)
    return struct.pack("<IIIIQQ", 1, 0, schema, 0, len(payload), 32 + len(payload)) + payload


KERNEL = dict(start=1000, end=2000, deviceId=0, contextId=1, streamId=7, correlationId=11, globalPid=PID, demangledName=ID["gemm<float>"],
              shortName=ID["gemm"], mangledName=ID["_Z4gemmv"], launchType=1, registersPerThread=32, gridX=8, gridY=1, gridZ=1, blockX=128,
              blockY=1, blockZ=1, staticSharedMemory=0, dynamicSharedMemory=1024, localMemoryPerThread=0, graphNodeId=None, graphId=None)
CALL = dict(start=100, end=200, eventClass=0, globalTid=TID, correlationId=11, nameId=ID["cudaLaunchKernel_v7000"], returnValue=0)
NVTX = dict(start=50, end=400, eventType=59, category=None, color=None, text="step", globalTid=TID, textId=None, domainId=0,
            uint64Value=None, int64Value=None, doubleValue=None, uint32Value=None, int32Value=None, floatValue=None, binaryData=None)
COMMUNICATOR = struct.pack("<Q", 0xabc)
SCHEMAS = [dict(domainId=1, schemaId=schema, idx=index, type=kind, name=name, offset=offset) for schema, index, kind, name, offset in (
    (1 << 24, 0, 18, "NCCL communicator ID", None), (1 << 24, 1, 5, "No. of ranks", 8), (1 << 24, 2, 5, "Rank", 12),
    (1 << 24, 3, 5, "CUDA device", 16), ((1 << 24) + 7, 0, 18, "NCCL communicator ID", None), ((1 << 24) + 7, 1, 22, "Message size [bytes]", 8),
    ((1 << 24) + 7, 2, (1 << 24) + 16, "Reduction operation", 16))]
COMMON = {
    "TARGET_INFO_SESSION_START_TIME": [dict(utcEpochNs=1_700_000_000_000_000_000)],
    "META_DATA_EXPORT": [dict(name="EXPORT_PRODUCT_VERSION", value="2026.4"), dict(name="EXPORT_SCHEMA_VERSION", value="3.28.1")],
}
REPORTS = {
    "kernels": COMMON | {
        "CUPTI_ACTIVITY_KIND_KERNEL": [KERNEL, KERNEL | dict(start=2500, end=2600, correlationId=12, mangledName=None)],
        "CUPTI_ACTIVITY_KIND_RUNTIME": [CALL, CALL | dict(start=300, end=350, eventClass=1, correlationId=12, nameId=ID["cuLaunchKernel"])],
        "CUPTI_ACTIVITY_KIND_MEMCPY": [dict(start=3000, end=3100, deviceId=0, contextId=1, streamId=7, correlationId=13, globalPid=PID,
                                            bytes=4096, copyKind=10, srcKind=2, dstKind=2, srcDeviceId=0, dstDeviceId=1)],
        "CUPTI_ACTIVITY_KIND_MEMSET": [dict(start=3200, end=3210, deviceId=0, contextId=1, streamId=7, correlationId=14, globalPid=PID,
                                            value=0, bytes=64, memKind=2)],
        "TARGET_INFO_GPU": [dict(id=0, name="GPU", smCount=132, threadsPerWarp=32, maxWarpsPerSm=64, maxBlocksPerSm=32,
                                 maxRegistersPerSm=65536, maxShmemPerSm=233472, computeMajor=9, computeMinor=0, clockRate=1980000000)],
        "PROCESSES": [dict(globalPid=PID, pid=71, name="python3")],
        "ThreadNames": [dict(nameId=ID["main"], globalTid=TID)],
    },
    "ranges": COMMON | {
        "NVTX_EVENTS": [NVTX, NVTX | dict(eventType=75, text="NCCL", domainId=1), NVTX | dict(eventType=34, end=None, uint64Value=7),
                        NVTX | dict(text=None, textId=ID["ncclAllReduce"], domainId=1,
                                    binaryData=blob((1 << 24) + 7, COMMUNICATOR, struct.pack("<QI", 1 << 20, 0))),
                        NVTX | dict(text=None, textId=ID["ncclCommInitRank"], domainId=1,
                                    binaryData=blob(1 << 24, COMMUNICATOR, struct.pack("<iii", 2, 1, 1)))],
        "NVTX_PAYLOAD_SCHEMA_ENTRIES": SCHEMAS,
    },
    "graphs": COMMON | {
        "CUPTI_ACTIVITY_KIND_RUNTIME": [CALL | dict(nameId=ID["cudaGraphLaunch_v10000"])],
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": [dict(start=1000, end=9000, deviceId=0, contextId=1, streamId=7, correlationId=11, globalPid=PID,
                                                 graphId=3, graphExecId=4)],
        "META_DATA_CAPTURE": [dict(name="CUDA_GRAPH_TRACE_OPTIONS:MODE", value="Graph"),
                              dict(name="PROCESS_0:ENVIRONMENT_VARIABLE", value="RANK=3")],
        "DIAGNOSTIC_EVENT": [dict(timestamp=5, severity=2, text="Not all events were collected.")],
    },
    "system": COMMON | {
        "CUPTI_ACTIVITY_KIND_RUNTIME": [CALL],
        "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": [dict(start=10, end=20, deviceId=0, contextId=1, streamId=4294967295, correlationId=11,
                                                     globalPid=PID, syncType=1, eventId=5, eventSyncId=9)],
        "CUPTI_ACTIVITY_KIND_CUDA_EVENT": [dict(timestamp=15, deviceId=0, contextId=1, streamId=7, correlationId=12, globalPid=PID, eventId=5,
                                                eventSyncId=9)],
        "CUPTI_ACTIVITY_KIND_OVERHEAD": [dict(start=1, end=9, globalTid=TID, nameId=ID["main"], overheadType=7)],
        "CUDA_GPU_MEMORY_USAGE_EVENTS": [dict(start=3, globalPid=PID, deviceId=0, contextId=1, address=4096, bytes=512, memKind=2,
                                              memoryOperationType=0)],
        "OSRT_API": [dict(start=1, end=2, globalTid=TID, nameId=ID["read"])],
        "TARGET_INFO_GPU_METRICS": [dict(typeId=256, metricId=1, metricName="SM Active")],
        "GPU_METRICS": [dict(timestamp=5, typeId=256, metricId=1, value=40)],
        "MPI_RANKS": [dict(globalTid=TID, rank=1)],
        "MPI_COMMUNICATORS": [dict(size=2)],
    },
}


def write(path, tables):
    if os.path.exists(path):
        os.remove(path)
    file = sqlite3.connect(path)
    file.execute("PRAGMA page_size = 512")
    file.execute("CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT)")
    file.executemany("INSERT INTO StringIds VALUES (?, ?)", [(number, name) for name, number in ID.items()])
    for table, rows in tables.items():
        columns = list(rows[0])
        file.execute(f"CREATE TABLE {table}({', '.join(f'{chr(34)}{column}{chr(34)}' for column in columns)})")
        for row in rows:
            file.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(columns))})", [row.get(column) for column in columns])
    file.commit()
    file.close()


if __name__ == "__main__":
    os.makedirs(FOLDER, exist_ok=True)
    for report, contents in REPORTS.items():
        write(f"{FOLDER}/{report}.sqlite", contents)
