#!/usr/bin/env python3
"""Reports of Nsight Systems through the shipped agent: CUPTI's stand-in delivers the records of a process of a report, and what tracetool merges is
equal to SQL on the file: each kernel, copy, memset, graph launch, wait, overhead and call with its time, and which call launched what. With a
directory in TRACETOOL_NSYS_FIXTURES, also for the reports in it.

  test_replay.py --agent PATH --simulated PATH --tracetool PATH
"""
import collections
import ctypes
import glob
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from decimal import Decimal

from harness import Folder, arguments, check, clean_environment, files_below, finish, first, run, wait_until
from nsys_reports import MINIMAL, VERSIONS, write_report
from recorded import environment_of
from truth import AGENTS_OWN, read_lines, read_recording

HERE = os.path.dirname(os.path.abspath(__file__))
NSYS_REPLAY = os.path.join(HERE, "..", "..", "examples", "simulated_training", "replay", "nsys_replay.py")
FIRST_REPLAYED = 1 << 32  # `seq` of the replayed records in the truth
NOT_READY, NO_NUMBER = 600, 0xffffffff
QUERIES_ARE_MARKED = 26  # cuptiGetVersion of 12.8, which has records of queries with their result
CLUSTERS_SINCE, GRAPH_EVENTS = 18, "default,graph_launch"

# Views of the tables of a process, with the columns that the report lacks, as NULL.
GPU_WORK = "start end deviceId contextId streamId correlationId graphId graphNodeId globalPid"
VIEWS = {"kernel": ("KERNEL", GPU_WORK + " gridX gridY gridZ blockX blockY blockZ registersPerThread staticSharedMemory dynamicSharedMemory localMemoryPerThread"
                              " launchType clusterX clusterY clusterZ mangledName demangledName"),
         "memcpy": ("MEMCPY", GPU_WORK + " bytes copyKind srcKind dstKind srcDeviceId dstDeviceId"), "memset": ("MEMSET", GPU_WORK + " bytes value memKind"),
         "graph": ("GRAPH_TRACE", GPU_WORK), "wait": ("SYNCHRONIZATION", GPU_WORK + " syncType eventId eventSyncId"),
         "event": ("CUDA_EVENT", GPU_WORK + " eventId eventSyncId"), "overhead": ("OVERHEAD", "start end globalTid correlationId overheadType"),
         "call": ("RUNTIME", "start end globalTid correlationId returnValue eventClass nameId")}
WAITS = {1: "Event Sync", 2: "Stream Wait Event", 3: "Stream Sync", 4: "Context Sync"}
COPIES = dict(enumerate("? HtoD DtoH HtoA AtoH AtoA AtoD DtoA DtoD HtoH PtoP".split()))
MEMORY = dict(enumerate("Pageable Pinned Device Array Managed".split()))
LAUNCH_TYPES = {2: "cooperative", 3: "cooperative on several devices"}
OVERHEADS = {2: 1, 3: 1 << 16, 4: 2 << 16, 5: 3 << 16, 6: 4 << 16, 7: 5 << 16, 8: 6 << 16}  # CUpti_ActivityOverheadKind
# Calls of the runtime that the agent does not record, and those of the driver that it does.
NOISE = re.compile(r"cuda(GetDevice|SetDevice|GetLastError|PeekAtLastError|DeviceGetAttribute|FuncGetAttributes|FuncSetAttribute|GetFuncBySymbol|GetDriverEntry\w+|"
                   r"ThreadExchangeStreamCaptureMode|StreamIsCapturing|StreamGetCaptureInfo(_v\d)?|StreamQuery|EventQuery)(_ptsz)?(_v\d+)?")
DRIVER = re.compile(r"cu(Launch|GraphLaunch|Mem(Alloc|Free|Create|Map|Unmap|Release|cpy|set)|ModuleLoad|StreamSynchronize|CtxSynchronize|EventSynchronize)\w*")
FUTURE_CALL = "cudaOfTheFuture_v99000"

demangler = ctypes.CDLL("libstdc++.so.6").__cxa_demangle
demangler.restype, demangler.argtypes = ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]


def demangled(name):
    status = ctypes.c_int()
    found = demangler(name.encode(), None, None, ctypes.byref(status)) if name.startswith("_Z") else None
    return ctypes.string_at(found).decode() if found else name


class Truth:
    """Records of one process of a report, computed in SQL. `folder` contains its recordings, which have the version of CUPTI."""

    def __init__(self, path, pid, folder):
        self.db, self.pid, self.version = sqlite3.connect(f"file:{path}?mode=ro", uri=True), pid, recordings(folder)[0].header["cupti_version"]
        self.db.create_function("demangled", 1, demangled)
        self.db.create_function("is_recorded", 2, lambda name, driver: bool(DRIVER.match(name) if driver else not NOISE.fullmatch(name) and name != FUTURE_CALL))
        for view, (table, columns) in VIEWS.items():
            known = {row[1] for row in self.db.execute(f"PRAGMA table_info(CUPTI_ACTIVITY_KIND_{table})")}
            chosen = ", ".join(f'"{column}"' if column in known else f"NULL AS {column}" for column in columns.split())
            id_column = next((column for column in ("globalPid", "globalTid") if column in known), None)
            of_process = f"WHERE ({id_column} >> 24 & 0xffffff) = {pid}" if id_column and pid is not None else ""
            source = f"FROM CUPTI_ACTIVITY_KIND_{table} {of_process}" if known else "WHERE 0"
            self.db.execute(f"CREATE TEMP VIEW {view} AS SELECT {chosen} {source}")
        self.db.execute("CREATE TEMP VIEW work AS SELECT start, end, deviceId, contextId, correlationId FROM kernel"
                        " UNION ALL SELECT start, end, deviceId, contextId, correlationId FROM memcpy WHERE copyKind <= 10"
                        " UNION ALL SELECT start, end, deviceId, contextId, correlationId FROM memset"
                        " UNION ALL SELECT start, end, deviceId, contextId, correlationId FROM graph")
        self.db.execute("CREATE TEMP TABLE device AS SELECT DISTINCT contextId, deviceId FROM work")
        self.db.execute("CREATE TEMP TABLE named AS SELECT call.*, value AS name, coalesce(eventClass, value NOT LIKE 'cuda%') AS driver FROM call JOIN StringIds ON id = nameId")
        self.db.execute("CREATE TEMP TABLE recorded AS SELECT * FROM named WHERE is_recorded(name, driver)")
        self.db.execute("CREATE INDEX temp.by_correlation ON recorded (correlationId)")

    def all(self, query):
        return self.db.execute(query).fetchall()

    def kernels(self):
        names = {row[0]: row[1] for row in self.all("SELECT id, demangled(value) FROM StringIds")}
        clusters = "clusterX, clusterY, clusterZ" if self.version >= CLUSTERS_SINCE else "0, 0, 0"
        rows = self.all("SELECT start, end, deviceId, coalesce(contextId, deviceId + 1), streamId, coalesce(correlationId, 0), coalesce(mangledName, demangledName),"
                        " gridX, gridY, gridZ, blockX, blockY, blockZ, coalesce(registersPerThread, 0),"
                        f" coalesce(staticSharedMemory + dynamicSharedMemory, 0), coalesce(localMemoryPerThread, 0), launchType, coalesce(graphId, 0), coalesce(graphNodeId, 0),"
                        f" {clusters} FROM kernel")
        for start, end, device, context, stream, correlation, name, *rest in rows:
            launch_type, cluster = LAUNCH_TYPES.get(rest[9]), tuple(rest[12:]) if rest[12] else None
            yield ("kernel", start, end, device, context, stream, correlation, names[name], tuple(rest[:3]), tuple(rest[3:6]), *rest[6:9], launch_type, *rest[10:12],
                   cluster)

    def copies(self):
        rows = self.all("SELECT start, end, deviceId, coalesce(contextId, deviceId + 1), streamId, coalesce(correlationId, 0), copyKind, srcKind, dstKind, bytes,"
                        " coalesce(graphId, 0), coalesce(graphNodeId, 0), srcDeviceId, dstDeviceId FROM memcpy WHERE copyKind <= 10")
        for *place, kind, source, target, size, graph, node, from_device, to_device in rows:
            yield "memcpy", *place, f"Memcpy {COPIES[kind]} ({MEMORY.get(source, 'Unknown')} -> {MEMORY.get(target, 'Unknown')})", size, graph, node, (from_device or 0, to_device or 0) if kind == 10 else None

    def memsets(self):
        for *place, kind in self.all("SELECT 'memset', start, end, deviceId, contextId, streamId, coalesce(correlationId, 0), bytes, value,"
                                     " coalesce(graphId, 0), coalesce(graphNodeId, 0), memKind FROM memset"):
            yield *place, f"Memset ({MEMORY.get(kind, 'Unknown')})"

    def graphs(self):
        yield from self.all("SELECT 'graph', start, end, deviceId, contextId, streamId, coalesce(correlationId, 0), graphId FROM graph")

    def waits(self, omitted=False):
        """CUPTI 12.8 and newer omits queries that found unfinished work, and with older ones the agent omits all queries. `omitted`: these."""
        of_query = f"= {NOT_READY}" if self.version >= QUERIES_ARE_MARKED else "IS NOT NULL"
        rows = self.all("SELECT wait.start, wait.end, device.deviceId, contextId, streamId, wait.correlationId, syncType, eventId FROM wait LEFT JOIN device USING"
                        " (contextId) LEFT JOIN named ON named.correlationId = wait.correlationId AND name LIKE '%Query%'"
                        f" WHERE coalesce(returnValue {of_query}, 0) = {omitted:d}")
        for start, end, device, context, stream, correlation, kind, event in rows:
            yield ("wait", start, end, device, context, None if stream == NO_NUMBER else stream, correlation or 0, WAITS[kind],
                   None if event == NO_NUMBER else event)

    def overheads(self):
        for start, end, tid, correlation, kind in self.all("SELECT start, end, globalTid & 0xffffff, coalesce(correlationId, 0), overheadType FROM overhead"):
            yield "overhead", start, end, tid, correlation, OVERHEADS.get(kind, 0)

    def calls(self):
        rows = self.all("SELECT start, end, globalTid & 0xffffff, correlationId, driver, name, coalesce(returnValue, 0) FROM recorded")
        for start, end, tid, correlation, driver, name, result in rows:
            yield "driver" if driver else "runtime", start, end, tid, correlation, re.sub(r"_v\d+$", "", name) if not driver else name, result

    def launches(self):
        """(begin of the call, begin of its GPU work). A call of the runtime makes one of the driver with the same correlation id."""
        return self.all("SELECT (SELECT r.start FROM recorded AS r WHERE r.correlationId = work.correlationId ORDER BY driver, r.start LIMIT 1) AS at, start"
                        " FROM work WHERE at IS NOT NULL")

    def awaited(self):
        """(begin of the call that records a CUDA event, begin of a wait for it): by the id of the recording, or in its absence the last call before."""
        has_ids = self.version >= QUERIES_ARE_MARKED and self.all("SELECT max(coalesce(eventSyncId, 0)) FROM event")[0][0]
        same = "event.eventSyncId = wait.eventSyncId" if has_ids else "event.eventId = wait.eventId"
        kept = ", ".join(str(wait[6]) for wait in self.waits())
        return self.all(f"SELECT (SELECT max(r.start) FROM event JOIN recorded AS r USING (correlationId) WHERE {same} AND r.start < wait.start) AS at, start"
                        f" FROM wait WHERE at IS NOT NULL AND correlationId IN ({kept})")

    def events(self):
        """Returns the rows of records with a time, as the export has them."""
        return Counter(each for rows in (self.kernels(), self.copies(), self.memsets(), self.graphs(), self.waits(), self.overheads(), self.calls())
                       for each in rows)

    def wait_facts(self):
        """Members of waits that the export does not have: the id of the awaited recording of the event, and the result."""
        facts = "coalesce(eventSyncId, 0), coalesce(max(returnValue), 0)" if self.version >= QUERIES_ARE_MARKED else "0, 0"
        kept = ", ".join(str(wait[6]) for wait in self.waits())
        return Counter(self.all(f"SELECT wait.correlationId, {facts} FROM wait LEFT JOIN named USING (correlationId) WHERE correlationId IN ({kept}) GROUP BY 1"))

    def contexts(self):
        """{context: device}, and {(context, stream): (flag, priority)}."""
        has_streams = self.all("SELECT 1 FROM sqlite_master WHERE name = 'TARGET_INFO_CUDA_STREAM'")
        streams = self.all("SELECT contextId, streamId, flag, priority FROM TARGET_INFO_CUDA_STREAM JOIN device USING (contextId)"
                           f" WHERE processId = {self.pid}") if has_streams and self.pid is not None else []
        devices = self.all("SELECT coalesce(contextId, deviceId + 1), deviceId FROM device")
        return dict(devices), {stream[:2]: (stream[2], (stream[3] + (1 << 31)) % (1 << 32) - (1 << 31)) for stream in streams}

    def cuda_events(self):
        sync_id = "coalesce(eventSyncId, 0)" if self.version >= QUERIES_ARE_MARKED else "0"
        return Counter(self.all(f"SELECT correlationId, contextId, streamId, eventId, {sync_id} FROM event"))


def exported(trace, pid):
    """(Counter of the events of a process, list of launches), as in Truth; times from the trace's begin, in ns."""
    found, begun, launches = Counter(), {}, []
    ns = lambda value: int(Decimal(value) * 1000)
    # A thread whose number is that of a stream has another one in the export, and its own in its name.
    names = {event["tid"]: event["args"]["name"] for event in trace if event["pid"] == pid and event["name"] == "thread_name"}
    threads = {tid: int(name[7:]) for tid, name in names.items() if re.fullmatch(r"thread \d+", name)}
    for event in trace:
        if event["pid"] != pid or event["ph"] not in "Xsf" or event.get("cat") == "computed":
            continue
        start, args, cat = ns(event["ts"]), event.get("args", {}), event["cat"]
        if event["ph"] == "s":
            begun[event["id"]] = start
            continue
        if event["ph"] == "f":
            launches.append((event["id"], start))
            continue
        times = start, start + ns(event["dur"])
        place = (*times, args.get("device", args.get("inDevice")), args.get("context", args.get("inContext")), args.get("stream"), args.get("correlation", 0))
        graph = args.get("graph id", 0), args.get("graph node id", 0)
        if cat == "kernel":
            cluster = tuple(args["cluster"]) if "cluster" in args else None
            found["kernel", *place, args.get("full name", event["name"]), tuple(args["grid"]), tuple(args["block"]), args["registers per thread"],
                  args["shared memory"], args.get("local memory per thread", 0), args.get("launch type"), *graph, cluster] += 1
        elif cat == "gpu_memcpy":
            peers = (args["fromDevice"], args["toDevice"]) if "fromDevice" in args else None
            found["memcpy", *place, event["name"], args["bytes"], *graph, peers] += 1
        elif cat == "gpu_memset":
            found["memset", *place, args["bytes"], args["value"], *graph, event["name"]] += 1
        elif cat == "cuda_graph":
            found["graph", *place, args["graph id"]] += 1
        elif cat == "cuda_sync":
            found["wait", *place, args["cuda_sync_kind"], args.get("wait_on_cuda_event_id")] += 1
        elif cat == "overhead":
            found["overhead", *times, args["tid"], args.get("correlation", 0), args["overhead"]] += 1
        elif cat in ("cuda_runtime", "cuda_driver"):
            found[cat[5:], *times, threads.get(event["tid"], event["tid"]), args["correlation"], event["name"], args.get("return value", 0)] += 1
    return found, [(begun[number], start) for number, start in launches]


def from_begin(events, launches):
    """The same with times from the first of them."""
    begin = min((event[1] for event in events), default=0)
    moved = Counter()
    for (kind, start, end, *rest), count in events.items():
        moved[kind, start - begin, end - begin, *rest] += count
    return moved, Counter((call - begin, start - begin) for call, start in launches)


def same(found, true, what):
    """Both are Counters."""
    return check(found == true, f"{what}: {sum(true.values())}", lambda: f"not in the report: {first((found - true).elements())}; missing: {first((true - found).elements())}")


def events_of(path):
    """TRACETOOL_EVENTS for the report: graphs as a whole exclude their nodes, so they have to be asked for."""
    return GRAPH_EVENTS if sqlite3.connect(path).execute("SELECT name FROM sqlite_master WHERE name = 'CUPTI_ACTIVITY_KIND_GRAPH_TRACE'").fetchall() else None


def make_replay(path, pid, folder, *words):
    """Writes the file for the replay. Returns the environment of a process that replays it, recorded."""
    os.makedirs(folder, exist_ok=True)
    done = run([sys.executable, NSYS_REPLAY, path, "-o", f"{folder}/replay", *(("--pid", str(pid)) if pid is not None else ()), *words])
    check(done.returncode == 0, f"{os.path.basename(path)}, process {pid}: {done.stdout.strip()}", done.stderr)
    return {"SIM_CUPTI_REPLAY": f"{folder}/replay", "TRACETOOL_EVENTS": events_of(path), "TRACETOOL_BUFFER": "64M"}


def replay(options, folder, environment, *words):
    """Runs the process. The time by which the records were moved, and how many were delivered; None if it failed."""
    program = os.path.join(os.path.dirname(options.simulated), "replay_report")
    done = run([program, *words], cwd=folder, **environment_of(options, folder, **environment))
    said = re.search(r"delivered (\d+) records, (\d+) ns later", done.stderr)
    ended = -signal.SIGKILL if "kill" in words else 0
    if not check(said and done.returncode == ended and "tracetool" not in done.stderr, "the process ends as it should, and the agent prints nothing", done):
        return None
    return int(said[2]), int(said[1])


def merged(options, folder, *words):
    """The events of the merged file, and what info says of its ranks."""
    done = run([options.tracetool, "merge", f"{folder}/traces", "-o", f"{folder}/run.ttrace", *words])
    check(done.returncode == 0, "its recordings are merged", done.stderr)
    done = run([options.tracetool, "export", "--chrome", f"{folder}/run.ttrace", "-o", f"{folder}/run.json"])
    check(done.returncode == 0, "and exported", done.stderr)
    with open(f"{folder}/run.json", encoding="utf-8") as file:
        trace = json.load(file, parse_float=str, parse_int=int)["traceEvents"]
    return trace, json.loads(run([options.tracetool, "info", "--json", f"{folder}/run.ttrace"]).stdout)["ranks"]


def recordings(folder):
    return [read_recording.read(path) for path in files_below(f"{folder}/traces", ".ring")]


def check_merged(options, folder, what, truth, state="clean"):
    trace, ranks = merged(options, folder)
    check([(rank["state"], rank["overwritten"], rank["lost"]) for rank in ranks] == [(state, 0, 0)], f"{what}: {state}, nothing is lost", ranks)
    found, launches = from_begin(*exported(trace, 1))
    true, joined = from_begin(truth.events(), truth.launches() + truth.awaited())
    if truth.version < QUERIES_ARE_MARKED:  # a query whose call is in the next buffer is not recognized
        queries = from_begin(truth.events() + Counter(truth.waits(omitted=True)), [])[0] - true
        extra = (found - true) & queries
        buffers = sum(line["kind"] == "handed" for line in read_lines(f"{folder}/truth"))
        check(sum(extra.values()) <= buffers, f"{what}: at most one query per buffer is taken for a wait", lambda: (buffers, first(extra)))
        found -= extra
    same(found, true, f"{what}: events")
    same(launches, joined, f"{what}: launches joined with their GPU work")
    done = run([options.tracetool, "analyze", f"{folder}/run.ttrace", "--only", "kernels", "--format", "json"])
    sums = collections.defaultdict(lambda: (0, 0))
    for kernel in truth.kernels():
        sums[kernel[7]] = sums[kernel[7]][0] + 1, sums[kernel[7]][1] + kernel[2] - kernel[1]
    table = {row["name"]: (row["count"], row["sum_ns"]) for row in json.loads(done.stdout)["kernels"]}
    check(table == sums, f"{what}: {len(sums)} kernels of the table", lambda: first(set(table.items()) ^ set(sums.items())))
    recording = recordings(folder)[0]
    recorded, (contexts, streams) = recording.events, truth.contexts()
    defined = {number: context.device for number, context in recording.contexts.items()}, {key: (each.flag, each.priority) for key, each in recording.streams.items()}
    check(all(defined[0].get(number) == device for number, device in contexts.items()) and defined[1] == streams,
          f"{what}: {len(contexts)} contexts and {len(streams)} streams", lambda: (defined, contexts, streams))
    events = Counter((e.correlation, e.context, e.stream, e.event, e.event_sync_id) for e in recorded if e.kind == "cuda_event")
    same(events, truth.cuda_events(), f"{what}: CUDA events")
    facts, true = Counter((e.correlation, e.event_sync_id, e.return_value) for e in recorded if e.kind == "sync"), truth.wait_facts()
    if truth.version < QUERIES_ARE_MARKED:
        facts &= true
    same(facts, true, f"{what}: waits")


def check_report(options, path, pid, what, *words, **environment):
    with Folder() as folder:
        environment = {**make_replay(path, pid, folder, *words), **environment}
        if replay(options, folder, environment):
            check_merged(options, folder, what, Truth(path, pid, folder))


def add_oddities(path):
    """Cases that synthesized reports lack: launches by three threads; queries of events, finished or not; a long kernel that ends after later ones; a call of a later CUDA."""
    db = sqlite3.connect(path)
    (kernel,), (pid,) = (db.execute(f"SELECT {what} FROM CUPTI_ACTIVITY_KIND_KERNEL").fetchone() for what in ("min(rowid)", "globalPid"))
    db.execute(f"UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = start + 5000000000 WHERE rowid = {kernel}")
    db.execute("UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET globalTid = globalTid + correlationId / 8 % 3")
    db.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET launchType = 1 + rowid % 3, localMemoryPerThread = 16 * (rowid % 2)")
    db.execute("UPDATE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION SET eventSyncId = (SELECT max(eventSyncId) FROM CUPTI_ACTIVITY_KIND_CUDA_EVENT AS e"
               " WHERE e.eventId = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION.eventId AND e.correlationId < CUPTI_ACTIVITY_KIND_SYNCHRONIZATION.correlationId)"
               " WHERE syncType <= 2")
    last, = db.execute("SELECT max(end) FROM CUPTI_ACTIVITY_KIND_RUNTIME").fetchone()
    names = {1 << 20: "cudaEventQuery_v3020", (1 << 20) + 1: FUTURE_CALL}
    db.executemany("INSERT INTO StringIds (id, value) VALUES (?, ?)", names.items())
    for number, (name, result) in enumerate(((1 << 20, 0), (1 << 20, NOT_READY), ((1 << 20) + 1, 0))):
        correlation, start = 900_000 + number, last + 10_000 * number
        db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId, returnValue) VALUES (?, ?, 0, ?, ?, ?, ?)",
                   (start, start + 900, pid | 77, correlation, name, result))
        if name == 1 << 20:
            db.execute("INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (start, end, deviceId, contextId, streamId, correlationId, globalPid, syncType, eventId)"
                       " VALUES (?, ?, 0, 1, ?, ?, ?, 1, 5)", (start + 1, start + 899, NO_NUMBER, correlation, pid))
    db.commit()
    db.close()


def check_synthesized(options, folder):
    path = f"{folder}/report.sqlite"
    for seed, version in enumerate((*VERSIONS, MINIMAL)):
        report = write_report(path, version, seed, kernels=True)
        for pid in report.pids if version != MINIMAL else [None]:
            check_report(options, path, pid, f"{version}, process {pid}", "--order", ("end", "file")[seed % 2])
    write_report(path, "3.28.1", 20, processes=1, gpus=4, kernels=True, graphs="node")
    add_oddities(path)
    for version in (18, 26, 130_000, None):
        check_report(options, path, 1000, f"CUPTI {version or 'of the headers'}", SIM_CUPTI_VERSION=version)
    check_report(options, path, 1000, "one of several subscribers", SIM_CUPTI_VERSION=130_300, TRACETOOL_COEXIST="share")
    check_report(options, path, 1000, "at the report's pace", SIM_CUPTI_REPLAY_PACE=1, SIM_CUPTI_VERSION=22)


def check_processes(options, folder):
    """Two processes with equal correlation ids, as ranks of one run."""
    path = f"{folder}/two.sqlite"
    report = write_report(path, "3.25.0", 30, processes=2, gpus=2, equal_correlations=True, kernels=True)
    with Folder() as run_folder:
        for rank, pid in enumerate(report.pids):
            environment = make_replay(path, pid, f"{run_folder}/{rank}")
            replay(options, run_folder, {**environment, "RANK": rank, "WORLD_SIZE": 2, "TORCHELASTIC_RUN_ID": "replayed", "TRACETOOL_KEEP": 0})
        trace, ranks = merged(options, run_folder)
        processes = {event["args"]["name"].split()[1]: event["pid"] for event in trace if event["ph"] == "M" and event["name"] == "process_name"}
        check([rank["rank"] for rank in ranks] == [0, 1] and sorted(processes) == ["0", "1"], "two processes are two ranks", (ranks, processes))
        for rank, pid in enumerate(report.pids):
            truth = Truth(path, pid, run_folder)
            for found, true, which in zip(from_begin(*exported(trace, processes[str(rank)])), from_begin(truth.events(), truth.launches() + truth.awaited()), ("events", "launches")):
                same(found, true, f"rank {rank}: {which}")


def check_losses(options, folder):
    """Records that the ring or CUPTI could not keep are counted, and the others are complete."""
    path = f"{folder}/lossy.sqlite"
    write_report(path, "3.28.1", 40, processes=1, gpus=1, kernels=True, graphs=None, steps=400)
    with Folder() as run_folder:
        environment = make_replay(path, 1000, run_folder)
        replay(options, run_folder, {**environment, "TRACETOOL_BUFFER": "256K"})
        true = from_begin(Truth(path, 1000, run_folder).events(), [])[0]
        every = Counter(event[0] for event in true.elements())
        trace, ranks = merged(options, run_folder)
        found = Counter(event[0] for event in exported(trace, 1)[0].elements())
        gone = ranks[0]["overwritten"] + ranks[0]["lost"]
        by_kind = Counter(ranks[0]["overwritten_by_kind"]) + Counter(ranks[0]["lost_by_kind"])
        check(gone > 0 and sum(found.values()) + gone == sum(every.values()) and sum(by_kind.values()) == gone,
              f"small ring: {gone} records are lost and counted", (ranks, every, found))
    with Folder() as run_folder:
        environment = make_replay(path, 1000, run_folder)
        _, delivered = replay(options, run_folder, {**environment, "SIM_CUPTI_DROP_EVERY": 7})
        trace, ranks = merged(options, run_folder)
        recording = recordings(run_folder)[0]
        lasting = lambda events: Counter((kind, end - start, *rest) for kind, start, end, *rest in events.elements())
        kept = sum(count for kind, count in recording.kept.items() if kind not in AGENTS_OWN) + len(recording.contexts) + len(recording.streams)
        check(recording.dropped >= delivered // 6 > 0 and kept == delivered and not lasting(exported(trace, 1)[0]) - lasting(true),
              f"{recording.dropped} records are dropped and counted, all {delivered} others are there", (recording.dropped, delivered, kept))


def replayed_records(path):
    """(kind, start, end, correlation) of the records of a file for the replay, by their numbers."""
    with open(path, "rb") as file:
        records = [record.split(b"\t") for record in file.read().split(b"\0")[:-1]]
    at = {b"kernel": 7, b"memcpy": 7, b"memcpy_peer": 7, b"memset": 7, b"graph_launch": 7, b"sync": 6, b"runtime": 5, b"driver": 5, b"overhead": 5}
    return [(r[0].decode(), int(r[2]), int(r[3]), int(r[at[r[0]]])) if r[0] in at else None for r in records]


def recorded_records(recording, shift):
    kind = lambda event: event.kind.replace("_wide", "")
    return Counter((kind(e), e.start - shift, e.end - shift, e.correlation) for e in recording.events if hasattr(e, "correlation") and hasattr(e, "start"))


def check_killed(options, folder):
    """kill -9 after the last record: buffers that CUPTI has handed over are in the recording, and all that is there is true."""
    path = f"{folder}/killed.sqlite"
    write_report(path, "3.28.1", 50, processes=1, gpus=2, kernels=True, graphs="node", steps=300)
    with Folder() as run_folder:
        environment = make_replay(path, 1000, run_folder)
        said = replay(options, run_folder, environment, "kill")
        shift, delivered = said if said else (0, 0)
        recording, records = recordings(run_folder)[0], replayed_records(f"{run_folder}/replay")
        handed = [seq - FIRST_REPLAYED for line in read_lines(f"{run_folder}/truth") if line["kind"] == "handed" for begin, end in line["seqs"]
                  for seq in range(begin, end + 1) if seq > FIRST_REPLAYED]
        found = recorded_records(recording, shift)
        due = Counter(records[number] for number in handed if records[number] is not None)
        check(recording.state == "recovered" and not due - found and not found - Counter(filter(None, records)),
              f"killed at once: of {delivered} records all {sum(due.values())} that were handed over are there, {sum(found.values())} in all",
              lambda: (recording.state, first((due - found).elements()), first((found - Counter(filter(None, records))).elements())))
    with Folder() as run_folder:
        environment = environment_of(options, run_folder, **make_replay(path, 1000, run_folder))
        program = os.path.join(os.path.dirname(options.simulated), "replay_report")
        with subprocess.Popen([program, "wait"], env=clean_environment(**environment), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as job:
            job.stdout.readline()
            truth = Truth(path, 1000, run_folder)
            count = sum(truth.events().values())
            wait_until(lambda: sum(recorded_records(recordings(run_folder)[0], 0).values()) >= count, job=job)
            job.kill()
        check_merged(options, run_folder, "killed later", truth, state="recovered")


def check_refused(options, folder):
    """Invalid replay files end with a message."""
    path, program = f"{folder}/malformed", os.path.join(os.path.dirname(options.simulated), "replay_report")
    report = "report\t1\t1\0"
    for what, text, environment in (("no agent", report, {"CUDA_INJECTION64_PATH": None}), ("no file", report, {"SIM_CUPTI_REPLAY": f"{folder}/none"}),
                                    ("an empty file", "", {}), ("a kind that CUPTI does not have", report + "fence\t0\0", {}),
                                    ("a thread that is not counted", report + "stream\t1\t1\t13\t0\t1\0", {}),
                                    ("a number too few", report + "stream\t0\t1\t13\t0\0", {}),
                                    ("a number too many", report + "stream\t0\t1\t13\t0\t1\t1\0", {}),
                                    ("a priority beyond 32 bits", report + "stream\t0\t1\t13\t4294967296\t1\0", {})):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        with Folder() as run_folder:
            done = run([program], cwd=run_folder, **environment_of(options, run_folder, **{"SIM_CUPTI_REPLAY": path, **environment}))
        check(done.returncode == 1 and "no replay" in done.stderr, f"{what} is refused", done)


def check_fixtures(options):
    fixtures = os.environ.get("TRACETOOL_NSYS_FIXTURES")
    for path in sorted(glob.glob(f"{fixtures}/*.sqlite")) if fixtures else []:
        pids = {row[0] for row in sqlite3.connect(path).execute("SELECT DISTINCT globalTid >> 24 & 0xffffff FROM CUPTI_ACTIVITY_KIND_RUNTIME")}
        for pid in sorted(pids):
            check_report(options, path, pid, f"{os.path.basename(path)}, process {pid}")
            check_report(options, path, pid, f"{os.path.basename(path)}, process {pid}, by table", "--order", "file", SIM_CUPTI_VERSION=26)
            check_report(options, path, pid, f"{os.path.basename(path)}, process {pid}, CUPTI 12.4", SIM_CUPTI_VERSION=22)


def main():
    options = arguments("agent", "simulated", "tracetool")
    with Folder() as folder:
        check_synthesized(options, folder)
        check_processes(options, folder)
        check_losses(options, folder)
        check_killed(options, folder)
        check_refused(options, folder)
    check_fixtures(options)
    finish()


if __name__ == "__main__":
    main()
