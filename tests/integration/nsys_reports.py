"""Synthesized reports of Nsight Systems, as `nsys export --type sqlite` writes them: write_report() makes one of a schema version and a seed.

The schemas are the published CREATE TABLEs of 3.28.1. A column of a later version has the first version that has it, in COLUMNS. As in real exports,
a table exists only if it has rows, and nothing has an index; columns and rows are in any order, which the seed chooses.
"""
import collections
import os
import random
import re
import shutil
import sqlite3
import struct

VERSIONS = ("none", "3.1.7", "3.4.0", "3.7.2", "3.17.2", "3.24.0", "3.24.14", "3.25.0", "3.28.1")  # "none": 2021, which has no metadata
MINIMAL = "minimal"  # a report of other programs: few columns, no process ids
PRODUCTS = dict(zip(VERSIONS, ("2021.3.1", "2023.2.1", "2023.3.1", "2023.4.1", "2025.1.1", "2025.5.1", "2026.1.1", "2026.2.1", "2026.4.1")))

# Values of enumerations used here.
ENUMERATIONS = {
    "NSYS_EVENT_TYPE": {"NvtxCategory": 33, "NvtxMark": 34, "NvtxPushPopRange": 59, "NvtxStartEndRange": 60, "NvtxDomainCreate": 75},
    "NSYS_EVENT_CLASS": {"TRACE_PROCESS_EVENT_CUDA_RUNTIME": 0, "TRACE_PROCESS_EVENT_CUDA_DRIVER": 1, "TRACE_PROCESS_EVENT_OS_RUNTIME": 27},
    "CUDA_DEV_MEM_EVENT_OPER": {"CUDA_DEV_MEM_EVENT_OPR_ALLOCATION": 0, "CUDA_DEV_MEM_EVENT_OPR_DEALLOCATION": 1},
    "DIAGNOSTIC_SEVERITY_LEVEL": {"Info": 1, "Warning": 2, "Error": 3},
}

# column[?][:type][@first version]. ?: may be NULL. The type is INTEGER if it is not given.
COLUMNS = {
    "StringIds": "id value:TEXT",
    "ThreadNames": "nameId priority? globalTid?",
    "PROCESSES": "globalPid? pid? name?:TEXT",
    "EXPORT_META_DATA": "name:TEXT value?:TEXT",
    "META_DATA_EXPORT": "name:TEXT value?:TEXT",
    "META_DATA_CAPTURE": "name:TEXT value?:TEXT",
    "TARGET_INFO_SESSION_START_TIME":
        "utcEpochNs? utcTime?:TEXT localTime?:TEXT systemClockNs?@3.24.14 sessionStartCntVctNs?@3.28.1",
    "ANALYSIS_DETAILS": "globalVid duration startTime stopTime",
    "TARGET_INFO_GPU": "vmId id name?:TEXT busLocation?:TEXT isDiscrete? l2CacheSize? totalMemory? memoryBandwidth? clockRate? smCount? pwGpuId?"
        " uuid?:TEXT luid? chipName?:TEXT cuDevice? computeMajor? computeMinor? numaNodeId?@3.28.1",
    "TARGET_INFO_CUDA_NULL_STREAM": "streamId hwId vmId processId deviceId contextId",
    "TARGET_INFO_CUDA_CONTEXT_INFO": "nullStreamId hwId vmId processId deviceId contextId parentContextId? isGreenContext?",
    "TARGET_INFO_CUDA_DEVICE": "gpuId? cudaId pid uuid?:TEXT numMultiprocessors?",
    "TARGET_INFO_CUDA_STREAM": "streamId hwId vmId processId contextId priority flag",
    "TARGET_INFO_GPU_METRICS": "typeId sourceId typeName:TEXT metricId metricName:TEXT",
    "GPU_METRICS": "rawTimestamp@3.17.2 timestamp typeId metricId value",
    "DIAGNOSTIC_EVENT": "timestamp timestampType source severity text:TEXT globalPid?",
    "MPI_RANKS": "globalTid rank",
    **{f"ENUM_{name}": "id name?:TEXT label?:TEXT" for name in ENUMERATIONS},
    "CUPTI_ACTIVITY_KIND_KERNEL": "start end deviceId contextId greenContextId?@3.17.2 streamId correlationId? globalPid? demangledName shortName"
        " mangledName?@3.1.7 launchType? cacheConfig? registersPerThread gridX gridY gridZ blockX blockY blockZ staticSharedMemory dynamicSharedMemory"
        " localMemoryPerThread localMemoryTotal gridId sharedMemoryExecuted? graphNodeId? sharedMemoryLimitConfig? qmdBulkReleaseDone?@3.24.0"
        " qmdPreexitDone?@3.24.0 qmdLastCtaDone?@3.24.0 graphId?@3.24.0 clusterX?@3.24.0 clusterY?@3.24.0 clusterZ?@3.24.0"
        " clusterSchedulingPolicy?@3.24.0 maxPotentialClusterSize?@3.24.0 maxActiveClusters?@3.24.0 sharedMemoryRequestedPercentage?@3.24.14"
        " tensorSizeMinusOneElements:TEXT@3.25.0",
    "CUPTI_ACTIVITY_KIND_MEMCPY": "start end deviceId contextId greenContextId?@3.17.2 streamId correlationId? globalPid? bytes copyKind deprecatedSrcId?"
        " srcKind? dstKind? srcDeviceId? srcContextId? dstDeviceId? dstContextId? migrationCause? graphNodeId? virtualAddress? copyCount?@3.24.0",
    "CUPTI_ACTIVITY_KIND_MEMSET": "start end deviceId contextId greenContextId?@3.17.2 streamId correlationId? globalPid? value bytes graphNodeId?"
        " memKind?",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION": "start end deviceId contextId greenContextId?@3.17.2 streamId correlationId? globalPid?"
        " deprecatedSyncType?@3.17.2 syncType eventId eventSyncId?@3.17.2",
    "CUPTI_ACTIVITY_KIND_CUDA_EVENT": "timestamp?@3.25.0 deviceId contextId greenContextId?@3.17.2 streamId correlationId? globalPid? eventId"
        " eventSyncId?@3.17.2",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE":
        "start end deviceId contextId greenContextId?@3.17.2 streamId correlationId? globalPid? graphId graphExecId",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start end eventClass globalTid? correlationId? nameId returnValue callchainId?",
    "CUDA_GRAPH_NODE_EVENTS": "start end eventClass globalTid? nameId graphNodeId originalGraphNodeId?",
    "CUDA_CALLCHAINS": "id symbol module unresolved? originalIP? stackDepth",
    "CUDA_GPU_MEMORY_USAGE_EVENTS": "start globalPid deviceId contextId address pc bytes memKind memoryOperationType name?:TEXT correlationId? streamId?",
    "OSRT_API": "start end eventClass globalTid? nameId returnValue nestingLevel? callchainId argumentsId@3.28.1",
    "OSRT_CALLCHAINS": "id symbol module kernelMode? thumbCode? unresolved? specialEntry? originalIP? unwindMethod? stackDepth",
    "NVTX_EVENTS": "start end? eventType rangeId? category? color? text?:TEXT globalTid? endGlobalTid? textId? domainId? uint64Value? int64Value?"
        " doubleValue?:REAL uint32Value? int32Value? floatValue?:REAL jsonTextId?@3.25.0 jsonText?:TEXT binaryData?:TEXT eventId@3.28.1",
    "NVTX_PAYLOAD_SCHEMAS": "domainId? schemaId? name?:TEXT type? flags? numEntries? payloadSize? alignTo?",
    "NVTX_PAYLOAD_SCHEMA_ENTRIES": "domainId schemaId idx flags? type? name?:TEXT description?:TEXT arrayOrUnionDetail? offset?",
}
KEYS = {("StringIds", "id"), ("NVTX_EVENTS", "eventId"), *((f"ENUM_{name}", "id") for name in ENUMERATIONS)}
TABLES_SINCE = {"EXPORT_META_DATA": "3.1.7", "META_DATA_EXPORT": "3.4.0", "META_DATA_CAPTURE": "3.4.0", "PROCESSES": "3.4.0", "DIAGNOSTIC_EVENT": "3.1.7",
                "GPU_METRICS": "3.1.7", "TARGET_INFO_GPU_METRICS": "3.1.7", "TARGET_INFO_CUDA_CONTEXT_INFO": "3.17.2", "TARGET_INFO_CUDA_DEVICE": "3.17.2",
                "NVTX_PAYLOAD_SCHEMAS": "3.4.0", "NVTX_PAYLOAD_SCHEMA_ENTRIES": "3.4.0"}
TABLES_SINCE.update({f"ENUM_{name}": "3.4.0" for name in ENUMERATIONS})
TABLES_BEFORE = {"EXPORT_META_DATA": "3.4.0", "TARGET_INFO_CUDA_NULL_STREAM": "3.17.2"}
MINIMAL_COLUMNS = {
    "StringIds": "id value:TEXT",
    "META_DATA_EXPORT": "name:TEXT value?:TEXT",
    "TARGET_INFO_GPU": "id name?:TEXT",
    "CUPTI_ACTIVITY_KIND_KERNEL": "start end deviceId streamId correlationId shortName demangledName gridX gridY gridZ blockX blockY blockZ",
    "CUPTI_ACTIVITY_KIND_MEMCPY": "start end deviceId streamId correlationId copyKind bytes",
    "CUPTI_ACTIVITY_KIND_RUNTIME": "start end correlationId globalTid nameId",
}

# Kind of copy: the kinds of memory from and to (0 pageable, 1 pinned, 2 device, 3 array, 4 managed)
COPIES = {1: (0, 2), 2: (2, 1), 3: (0, 3), 4: (3, 1), 5: (3, 3), 6: (3, 2), 7: (2, 3), 8: (2, 2), 9: (1, 1), 10: (2, 2), 11: (4, 2), 12: (2, 4)}
UNIFIED = (11, 12)
MARK, CATEGORY, PUSH_POP, START_END, DOMAIN = 34, 33, 59, 60, 75
NO_EVENT = 0xffffffff
OPEN = "not closed"  # the name of a range without an end
SECRET = "do-not-copy"  # in the environment of the launched program
KERNELS = (("gemm_kernel", "void gemm_kernel<float, (int)128>(const float *, float *)", "_Z11gemm_kernelIfLi128EEvPKfPf"),
           ("gemm_kernel", "void gemm_kernel<__half, (int)64>(const __half *, __half *)", "_Z11gemm_kernelI6__halfLi64EEvPKS0_PS0_"),
           ("vectorized_elementwise_kernel", "void at::native::vectorized_elementwise_kernel<(int)4, at::native::AddFunctor>(int, T2)",
            "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_10AddFunctorEEEviT0_"),
           ("triton_poi_fused_add_0", "triton_poi_fused_add_0", "triton_poi_fused_add_0"),
           ("réduire \"всё\"", "réduire \"всё\"\n\\", "r\u00e9duire"))
ALL_REDUCE = ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<(unsigned long)4096>)",
              "_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE")
# NCCL's schemas: the name of the call, and the fields that it has after the communicator: (NVTX type, name, offset)
U32, U64, REDUCTION = 5, 22, 16777232
BYTES, PEER = (U64, "Message size [bytes]", 8), (U32, "Peer rank", 16)
INIT = ((U32, "No. of ranks", 8), (U32, "Rank", 12), (U32, "CUDA device", 16))
NCCL_SCHEMAS = {16777218: ("ncclCommInitRank", INIT), 16777220: ("ncclAllGather", (BYTES,)),
                16777222: ("ncclBroadcast", (BYTES, (U32, "Root", 16))), 16777223: ("ncclAllReduce", (BYTES, (REDUCTION, "Reduction operation", 16))),
                16777225: ("ncclRecv", (BYTES, PEER)), 16777226: ("ncclSend", (BYTES, PEER))}
SESSION_START = 1_780_000_000_123_456_789
FIRST = 60_000_000_000  # the first event, ns after the session began
STEP = 4_000_000


def columns(table, version):
    """[(name, type, may be NULL)] of the table in this version, or None if the version has no such table."""
    if version == MINIMAL:
        text = MINIMAL_COLUMNS.get(table)
    else:
        first, before = TABLES_SINCE.get(table, VERSIONS[0]), TABLES_BEFORE.get(table)
        known = VERSIONS[VERSIONS.index(first):VERSIONS.index(before) if before else None]
        text = COLUMNS[table] if version in known else None
    if text is None:
        return None
    found = []
    for column in text.split():
        name, null, kind, since = re.fullmatch(r"(\w+)(\?)?(?::(\w+))?(?:@([\d.]+))?", column).groups()
        if since is None or VERSIONS.index(version) >= VERSIONS.index(since):
            found.append((name, kind or "INTEGER", bool(null)))
    return found


def write_table(connection, version, table, rows, dice, shuffled=True):
    """Creates the table with its columns in any order, and inserts the rows (dictionaries) in any order."""
    found = columns(table, version)
    if found is None:
        return
    found, rows = dice.sample(found, len(found)), dice.sample(rows, len(rows)) if shuffled else rows
    kinds = [f"{name} {kind}{'' if null else ' NOT NULL'}{' PRIMARY KEY' if (table, name) in KEYS else ''}" for name, kind, null in found]
    connection.execute(f"CREATE TABLE {table} ({', '.join(kinds)})")
    default = {"TEXT": "", "INTEGER": 0}
    connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(found))})",
                           ([row.get(name, None if null else default[kind]) for name, kind, null in found] for row in rows))


def global_tid(pid, tid=0):
    return 1 << 48 | pid << 24 | tid


def chosen(seed):
    """Options of a report that follow from its seed. A caller can replace each."""
    dice = random.Random(seed * 7919 + 1)
    processes = dice.randint(1, 4)
    return {"processes": processes, "gpus": dice.randint(1, 4), "steps": dice.randint(3, 6), "equal_correlations": dice.random() < 0.5,
            "graphs": dice.choice((None, "node", "graph")), "payloads": dice.choice((None, "schemas", "binary")),
            "gpu_info": dice.choice(("shuffled", "reversed", None)), "session": dice.random() < 0.8, "normalized": dice.random() < 0.2,
            "kernels": dice.random() < 0.9, "mpi": dice.random() < 0.4, "environment": (), "open_range": False}


class Report:
    """The rows of a report, by table. `ranks`: the rank of each process id, where the report has NCCL's or MPI's."""

    def __init__(self, version, seed, options):
        self.version, self.seed, self.options, self.dice = version, seed, options, random.Random(seed)
        self.rows, self.strings, self.ranks = collections.defaultdict(list), {}, {}
        self.pids = [1] if version == MINIMAL else [1000 + 17 * i for i in range(options["processes"])]
        self.free, self.correlation, self.calls, self.end = collections.Counter(), {}, {}, FIRST
        # Times of a normalized export are UTC, the others count from the begin of the session. Those of the minimal report begin below 0.
        self.offset = -FIRST - 50_000 if version == MINIMAL else SESSION_START if options["normalized"] else 0
        for index, pid in enumerate(self.pids):
            self.correlation[pid] = 5000 if options["equal_correlations"] else 5000 + 100_000 * index
            self.calls[pid] = FIRST + self.dice.randrange(100_000)
        self.add_events()
        self.add_information()
        for text, number in self.strings.items():
            self.rows["StringIds"].append({"id": number, "value": text})

    def add(self, table, **values):
        for key in ("start", "end", "timestamp"):
            if values.get(key) is not None:
                values[key] += self.offset
        self.rows[table].append(values)

    def text(self, text):
        return self.strings.setdefault(text, 10 + 3 * len(self.strings))

    def devices(self, pid):
        """A process alone uses all GPUs, several use one each."""
        count = self.options["gpus"]
        return list(range(count)) if len(self.pids) == 1 else [self.pids.index(pid) % count]

    def call(self, pid, name, driver=False, ns=None, tid=0, recorded=True):
        """A call of the process's main thread, after its last one. Returns its correlation id, begin and end."""
        begin = self.calls[pid] + self.dice.randrange(500, 4000)
        end = begin + (ns or self.dice.randrange(1500, 9000))
        self.calls[pid] = end
        self.correlation[pid] += self.dice.randrange(1, 5)
        if recorded:
            chain = self.dice.randrange(1, 4) if self.dice.random() < 0.2 else None
            self.add("CUPTI_ACTIVITY_KIND_RUNTIME", start=begin, end=end, eventClass=int(driver), globalTid=global_tid(pid, pid + tid),
                     correlationId=self.correlation[pid], nameId=self.text(name), returnValue=0, callchainId=chain)
        return self.correlation[pid], begin, end

    def place(self, pid, device, stream, correlation, after, ns):
        """The columns that all GPU work has. It starts when its stream is free."""
        begin = max(after + self.dice.randrange(1000, 6000), self.free[pid, device, stream] + self.dice.randrange(300, 2000))
        self.free[pid, device, stream] = begin + ns
        self.end = max(self.end, begin + ns)
        return {"start": begin, "end": begin + ns, "deviceId": device, "contextId": device + 1, "streamId": stream, "correlationId": correlation,
                "globalPid": global_tid(pid)}

    def kernel(self, place, names, graph=None):
        short, demangled, mangled = names
        grid = self.dice.choice(((128, 1, 1), (64, 4, 1), (18, 93600, 2)))
        self.add("CUPTI_ACTIVITY_KIND_KERNEL", **place, shortName=self.text(short), demangledName=self.text(demangled), mangledName=self.text(mangled),
                 launchType=1, cacheConfig=1, registersPerThread=32, gridX=grid[0], gridY=grid[1], gridZ=grid[2], blockX=256, blockY=1, blockZ=1,
                 staticSharedMemory=1024, dynamicSharedMemory=16384, localMemoryTotal=250871808, gridId=len(self.rows), sharedMemoryExecuted=32768,
                 graphNodeId=graph, graphId=graph and graph >> 32, clusterX=0, clusterY=0, clusterZ=0, tensorSizeMinusOneElements="[]")

    def launch(self, pid, device, stream, names=None, ns=None, recorded=True):
        driver = self.dice.random() < 0.3
        name = self.dice.choice(("cuLaunchKernel", "cuLaunchKernelEx") if driver else ("cudaLaunchKernel_v7000", "cudaLaunchKernelExC_v11060"))
        correlation, begin, _ = self.call(pid, name, driver, recorded=recorded)
        place = self.place(pid, device, stream, correlation, begin, ns or self.dice.randrange(2_000, 200_000))
        self.kernel(place, names or self.dice.choice(KERNELS))
        return place

    def copy(self, pid, device, stream, kind):
        if kind in UNIFIED:  # a migration has no call
            correlation, begin = 0, self.calls[pid]
        else:
            correlation, begin, _ = self.call(pid, "cudaMemcpyPeerAsync_v4000" if kind == 10 else "cudaMemcpyAsync_v3020")
        place, peer = self.place(pid, device, stream, correlation, begin, self.dice.randrange(1_000, 90_000)), None
        if kind == 10:
            peer = (device + 1) % max(2, self.options["gpus"])
        source, target = COPIES[kind]
        self.add("CUPTI_ACTIVITY_KIND_MEMCPY", **place, bytes=self.dice.randrange(1, 1 << 30), copyKind=kind, srcKind=source, dstKind=target,
                 srcDeviceId=None if peer is None else device, dstDeviceId=peer, migrationCause=1 if kind in UNIFIED else None, copyCount=1)

    def memset(self, pid, device, stream):
        correlation, begin, _ = self.call(pid, "cudaMemsetAsync_v3020")
        place = self.place(pid, device, stream, correlation, begin, self.dice.randrange(700, 3000))
        self.add("CUPTI_ACTIVITY_KIND_MEMSET", **place, value=self.dice.randrange(256), bytes=self.dice.randrange(1, 1 << 24), memKind=2)

    def synchronize(self, pid, device, stream, kind):
        """An event is recorded on the stream, and the host (or another stream) waits for it; or the host waits for the stream or the context."""
        event = self.dice.randrange(1, 99)
        if kind <= 2:
            correlation, begin, _ = self.call(pid, "cudaEventRecord_v3020")
            self.add("CUPTI_ACTIVITY_KIND_CUDA_EVENT", timestamp=self.dice.choice((begin + 5000, None)), deviceId=device, contextId=device + 1,
                     streamId=stream, correlationId=correlation, globalPid=global_tid(pid), eventId=event, eventSyncId=correlation * 2)
        name = {1: "cudaEventSynchronize_v3020", 2: "cudaStreamWaitEvent_v3020", 3: "cudaStreamSynchronize_v3020", 4: "cudaDeviceSynchronize_v3020"}[kind]
        waits = None if kind == 2 else max(2000, self.free[pid, device, stream] - self.calls[pid])
        correlation, begin, end = self.call(pid, name, ns=waits)
        self.add("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", start=begin + 300, end=end - 300, deviceId=device, contextId=device + 1,
                 streamId=NO_EVENT if kind in (1, 4) else stream, correlationId=correlation, globalPid=global_tid(pid), syncType=kind,
                 eventId=event if kind <= 2 else NO_EVENT, eventSyncId=0)

    def graph(self, pid, device, stream, number):
        """Node mode records the kernels of a graph, Graph mode only its span."""
        correlation, begin, _ = self.call(pid, "cudaGraphLaunch_v10000")
        if self.options["graphs"] == "graph":
            place = self.place(pid, device, stream, correlation, begin, self.dice.randrange(50_000, 300_000))
            self.add("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", **place, graphId=number, graphExecId=number + 1)
            return
        for node in range(4):
            place = self.place(pid, device, stream, correlation, begin, self.dice.randrange(2_000, 40_000))
            self.kernel(place, KERNELS[node], graph=(number + 1) << 32 | node)

    def nvtx(self, pid, kind, begin, end=None, name=None, tid=0, **values):
        """The name is a registered string (textId) or a text of its own."""
        text = {"textId": self.text(name)} if self.dice.random() < 0.5 else {"text": name}
        self.add("NVTX_EVENTS", start=begin, end=end, eventType=kind, globalTid=global_tid(pid, pid + tid), eventId=1 + len(self.rows["NVTX_EVENTS"]),
                 **text, **{"domainId": 0, **values})

    def nccl(self, pid, schema, begin, end, *fields):
        """A call of NCCL with its payload: 32 bytes about it, the communicator, and the fields of the schema."""
        name, entries = NCCL_SCHEMAS[schema]
        payload = bytearray(24)
        struct.pack_into("<Q", payload, 0, 0x1234_5678_9abc)
        for (kind, _, offset), value in zip(entries, fields):
            struct.pack_into("<Q" if kind == U64 else "<I", payload, offset, value)
        head = struct.pack("<IIIIQQ", 1, 0, schema, 0, len(payload), 32 + len(payload))
        self.nvtx(pid, PUSH_POP, begin, end, name, domainId=1, binaryData=head + payload if self.options["payloads"] == "binary" else None)

    def all_reduce(self, until):
        """Each process has one, on a stream of its own; all end when the last has begun and the data moved."""
        begun = {}
        for pid in self.pids:
            device = self.devices(pid)[0]
            correlation, begin, end = self.call(pid, "cudaLaunchKernelExC_v11060")
            if self.options["payloads"]:
                self.nccl(pid, 16777223, begin - 400, end + 400, 1 << 20, 0)
                self.calls[pid] = end + 500
            begun[pid] = self.place(pid, device, 20 + device, correlation, begin, 1)
        end = max(place["start"] for place in begun.values()) + until
        for pid, place in begun.items():
            self.free[pid, place["deviceId"], place["streamId"]] = end
            self.end = max(self.end, end)
            self.kernel({**place, "end": end}, ALL_REDUCE)

    def step(self, pid, number):
        begin, dice = self.calls[pid] + 100, self.dice
        for _ in range(dice.randint(6, 14)):
            device = dice.choice(self.devices(pid))
            stream, name, first = dice.choice((7, 7, 7, 13)), self.operator(), self.calls[pid] + 200
            what = dice.random()
            if what < 0.6:
                self.launch(pid, device, stream)
            elif what < 0.75:
                self.copy(pid, device, stream, dice.choice(list(COPIES)))
            elif what < 0.85:
                self.memset(pid, device, stream)
            else:
                self.synchronize(pid, device, stream, dice.randint(1, 4))
            self.nvtx(pid, PUSH_POP, first, self.calls[pid] + 200, name, color=dice.choice((None, 0xff00ff00)))
            self.calls[pid] += 300
        if self.options["graphs"]:
            self.graph(pid, self.devices(pid)[0], 7, number)
        self.call(pid, "cudaStreamIsCapturing_v10000")
        self.nvtx(pid, PUSH_POP, begin, self.calls[pid] + 500, f"step {number}", **self.value())
        self.nvtx(pid, START_END, begin + 50, self.calls[pid] + 900, "batch", rangeId=100 + number, endGlobalTid=global_tid(pid, pid + 5), category=3)
        self.nvtx(pid, MARK, begin + 60, None, f"loss {number % 2}", category=3)
        self.calls[pid] += 1000

    def operator(self):
        """The text of an operator's range, as PyTorch's emit_nvtx() writes it."""
        dice = self.dice
        text = f"aten::{dice.choice(('mm', 'add', 'copy_'))}"
        text += f", seq = {dice.randrange(50)}" if dice.random() < 0.5 else ""
        text += f", op_id = {1 + dice.randrange(900)}"
        return text + (", sizes = [[2, 3], [3, 4]], input_op_ids = [(1,0)]" if dice.random() < 0.2 else "")

    def value(self):
        """A payload of one number."""
        return self.dice.choice(({}, {"uint64Value": 42}, {"int64Value": -42}, {"doubleValue": 0.25}, {"uint32Value": 7}, {"int32Value": -7},
                                 {"floatValue": 1.5}, {"jsonText": '{"loss": 0.5}'}))

    def memory(self, pid, device):
        for at in range(6):
            correlation, begin, _ = self.call(pid, "cudaFree_v3020" if at >= 3 else "cudaMalloc_v3020")
            self.add("CUDA_GPU_MEMORY_USAGE_EVENTS", start=begin + 100, globalPid=global_tid(pid), deviceId=device, contextId=device + 1,
                     address=0x7f0000000000 + (at % 3 << 24), bytes=(at % 3 + 1) << 20, memKind=2, memoryOperationType=at // 3, correlationId=correlation)

    def add_events(self):
        options, minimal = self.options, self.version == MINIMAL
        for rank, pid in enumerate(self.pids):
            device = self.devices(pid)[0]
            for _ in range(self.dice.randint(0, 3)):  # their launches were before the capture
                self.launch(pid, device, 7, recorded=False)
            if options["payloads"]:
                begin = self.calls[pid]
                self.nccl(pid, 16777218, begin, begin + 5000, len(self.pids), rank, device)
                self.calls[pid] = begin + 6000
            self.memory(pid, device)
            self.nvtx(pid, DOMAIN, self.calls[pid], None, "NCCL", domainId=1)
            self.nvtx(pid, DOMAIN, self.calls[pid], None, "loader", domainId=2)
            self.nvtx(pid, CATEGORY, self.calls[pid], None, "data", category=3)
            self.nvtx(pid, PUSH_POP, self.calls[pid], self.calls[pid] + 700, "fetch", domainId=2, tid=5)
            self.osrt(pid)
        for number in range(options["steps"]):
            for pid in self.pids:
                self.calls[pid] = max(self.calls[pid], FIRST + number * STEP + self.dice.randrange(50_000))
                self.step(pid, number)
            if len(self.pids) > 1:
                self.all_reduce(self.dice.randrange(10_000, 300_000))
        if options["open_range"]:
            self.nvtx(self.pids[0], PUSH_POP, self.calls[self.pids[0]], None, OPEN)
        if minimal:
            for row in self.rows["CUPTI_ACTIVITY_KIND_RUNTIME"]:
                row["globalTid"] = 1
        if not options["kernels"]:
            del self.rows["CUPTI_ACTIVITY_KIND_KERNEL"]

    def osrt(self, pid):
        for name in ("poll", "pthread_cond_wait", "open"):
            begin = self.calls[pid] + 100
            self.add("OSRT_API", start=begin, end=begin + 50_000, eventClass=27, globalTid=global_tid(pid, pid + 9), nameId=self.text(name),
                     returnValue=1, nestingLevel=0, callchainId=1)
        if pid == self.pids[0]:
            for depth, symbol in enumerate(("poll", "loop", "main")):
                chain = {"symbol": self.text(symbol), "module": self.text("/usr/lib/libc.so.6"), "unresolved": 0, "originalIP": 4096 + depth,
                         "stackDepth": depth}
                self.add("OSRT_CALLCHAINS", id=1, kernelMode=0, unwindMethod=1, **chain)
                for number in (1, 2, 3):
                    self.add("CUDA_CALLCHAINS", id=number, **chain)

    def add_information(self):
        options, metadata = self.options, "EXPORT_META_DATA" if self.version == "3.1.7" else "META_DATA_EXPORT"
        version = "3.24.14" if self.version == MINIMAL else self.version
        exported = {"EXPORT_PRODUCT_NAME": "NVIDIA Nsight Systems", "EXPORT_PRODUCT_VERSION": PRODUCTS[version], "EXPORT_SCHEMA_VERSION": version,
                    "EXPORT_PARAM_INCLUDE_BLOBS": str(options["payloads"] == "binary").lower(),
                    "EXPORT_PARAM_TIME_NORMALIZE": str(self.offset > 0).lower(), "EXPORT_PARAM_TIME_SHIFT": "0"}
        for name, value in exported.items():
            self.add(metadata, name=name, value=value)
        captured = {"CUDA_GRAPH_TRACE_OPTIONS:MODE": "Node" if options["graphs"] == "node" else "Graph", "PROCESS_0:COMMAND": "torchrun"}
        for name, value in captured.items():
            self.add("META_DATA_CAPTURE", name=name, value=value)
        for variable in (f"SECRET_TOKEN={SECRET}", *options["environment"]):
            self.add("META_DATA_CAPTURE", name="PROCESS_0:ENVIRONMENT_VARIABLE", value=variable)
        for name, values in ENUMERATIONS.items():
            for value, number in values.items():
                self.add(f"ENUM_{name}", id=number, name=value, label=value)
        if options["session"]:
            self.add("TARGET_INFO_SESSION_START_TIME", utcEpochNs=SESSION_START, utcTime="2026-05-28T20:26:40", localTime="2026-05-28T20:26:40",
                     systemClockNs=28254349605)
        self.add("ANALYSIS_DETAILS", globalVid=1 << 48, duration=self.end, startTime=28254349605, stopTime=28254349605 + self.end)
        if options["gpu_info"]:
            for device in reversed(range(options["gpus"])):
                self.add("TARGET_INFO_GPU", vmId=1 << 48, id=device, cuDevice=device, name=f"NVIDIA H{100 + device % 2 * 100}",
                         busLocation=f"0000:{device + 1:02x}:00.0", isDiscrete=1, totalMemory=80 << 30, memoryBandwidth=3_352_320_000_000, clockRate=1_980_000_000, smCount=132,
                         uuid=f"GPU-{device:08x}-0000-0000-0000-000000000000", chipName="GH100", computeMajor=9, computeMinor=0)
        for rank, pid in enumerate(self.pids):
            for device in self.devices(pid):
                same = {"hwId": 0, "vmId": 1, "processId": pid, "contextId": device + 1}
                self.add("TARGET_INFO_CUDA_NULL_STREAM", streamId=7, deviceId=device, **same)
                self.add("TARGET_INFO_CUDA_CONTEXT_INFO", nullStreamId=7, deviceId=device, isGreenContext=0, **same)
                self.add("TARGET_INFO_CUDA_STREAM", streamId=13, priority=-1, flag=2, **same)
                self.add("TARGET_INFO_CUDA_DEVICE", gpuId=device, cudaId=device, pid=pid, numMultiprocessors=132)
            self.add("PROCESSES", globalPid=global_tid(pid), pid=pid, name="python3")
            for tid, name in ((0, "python3"), (5, "pt_data_worker"), (9, "poller")):
                self.add("ThreadNames", nameId=self.text(name), priority=20, globalTid=global_tid(pid, pid + tid))
            if options["mpi"]:
                self.add("MPI_RANKS", globalTid=global_tid(pid, pid), rank=rank)
            if options["mpi"] or options["payloads"] == "binary":
                self.ranks[pid] = rank
            if options["payloads"]:  # NCCL declares its schemas in each process
                for schema, (_, entries) in NCCL_SCHEMAS.items():
                    self.add("NVTX_PAYLOAD_SCHEMAS", domainId=1, schemaId=schema, type=1, numEntries=1 + len(entries), payloadSize=24)
                    for at, (kind, name, offset) in enumerate(((18, "NCCL communicator ID", None), *entries)):
                        self.add("NVTX_PAYLOAD_SCHEMA_ENTRIES", domainId=1, schemaId=schema, idx=at, type=kind, name=name, offset=offset)
        for severity, text in ((1, "Profiling has started."), (2, "CUDA profiling might have lost events."), (3, "The NVTX collector failed.")):
            self.add("DIAGNOSTIC_EVENT", timestamp=FIRST, timestampType=1, source=1, severity=severity, text=text, globalPid=global_tid(self.pids[0]))
        for device in range(options["gpus"]):
            kind = 0x100_0000_0000 | device  # the low 8 bits are the GPU
            begin = FIRST + self.dice.randrange(100_000)
            for metric, name in enumerate(("SMs Active [Throughput %]", "DRAM Read Bandwidth [Throughput %]")):
                self.add("TARGET_INFO_GPU_METRICS", typeId=kind, sourceId=1, typeName="GPU Metrics", metricId=metric, metricName=name)
                for at in range(20):
                    self.add("GPU_METRICS", rawTimestamp=at, timestamp=begin + at * 100_000, typeId=kind, metricId=metric, value=self.dice.randrange(101))
        if options["graphs"] == "node":
            for node in range(4):
                self.add("CUDA_GRAPH_NODE_EVENTS", start=FIRST - 1000, end=FIRST - 500, eventClass=77, globalTid=global_tid(self.pids[0], self.pids[0]),
                         nameId=self.text("cudaGraphInstantiate_v12000"), graphNodeId=1 << 32 | node)


def write_report(path, version, seed, **options):
    """Writes a report and returns it. `version`: one of VERSIONS, or MINIMAL."""
    options = {**chosen(seed), **options}
    if version == MINIMAL:
        options.update(processes=1, gpus=1, graphs=None, mpi=False, session=False, normalized=False)
    if version == "none":
        options.update(normalized=False)
    if columns("NVTX_PAYLOAD_SCHEMAS", version) is None:
        options.update(payloads=None)
    report = Report(version, seed, options)
    if os.path.exists(path):
        os.remove(path)
    connection = sqlite3.connect(path)
    connection.text_factory = str
    for table, rows in report.rows.items():
        write_table(connection, version, table, rows, report.dice, shuffled=table != "TARGET_INFO_GPU" or options["gpu_info"] != "reversed")
    connection.commit()
    connection.close()
    return report


def split_report(path, paths, ahead_ns):
    """Writes one report per process of a report, as if each process had been recorded by an nsys of its own. `paths` and `ahead_ns` have one file and
    one offset of the clock per process."""
    with sqlite3.connect(path) as db:
        pids = sorted(row[0] for row in db.execute("SELECT DISTINCT globalPid >> 24 FROM CUPTI_ACTIVITY_KIND_KERNEL"))
    db.close()
    for pid, to, ahead in zip(pids, paths, ahead_ns):
        shutil.copy(path, to)
        with sqlite3.connect(to) as db:
            for table, in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                for column in {row[1] for row in db.execute(f"PRAGMA table_info({table})")} & {"globalPid", "globalTid"}:
                    db.execute(f"DELETE FROM {table} WHERE {column} >> 24 != ?", (pid,))
            db.execute("UPDATE TARGET_INFO_SESSION_START_TIME SET utcEpochNs = utcEpochNs + ?", (ahead,))
        db.close()
