#!/usr/bin/env python3
"""Writes the CUDA records of one process of a Nsight Systems report (`nsys export --type sqlite`) for the replay by CUPTI's stand-in.

  nsys_replay.py REPORT -o FILE [--pid PID] [--order end|file]

Order of the records: by their end, in which the GPU and the host completed them (default), or the order of the file's rows, one table
after the other. FILE begins with the last time and the number of threads. Then it has each record as CUPTI's stand-in reads it
(standin/cupti/replay.cpp): kind, thread of the call, numbers and name, separated by tabs and ended by NUL. Times begin at 0.
"""
import argparse
import collections
import sqlite3
import sys

GPU_WORK = "start end deviceId contextId streamId correlationId graphId graphNodeId"
COLUMNS = {  # CUPTI records of each table
    "KERNEL": GPU_WORK + " gridX gridY gridZ blockX blockY blockZ registersPerThread staticSharedMemory dynamicSharedMemory localMemoryPerThread"
              " launchType clusterX clusterY clusterZ mangledName demangledName shortName",
    "MEMCPY": GPU_WORK + " bytes copyKind srcKind dstKind srcDeviceId srcContextId dstDeviceId dstContextId",
    "MEMSET": GPU_WORK + " bytes value memKind",
    "GRAPH_TRACE": GPU_WORK,
    "SYNCHRONIZATION": "start end contextId streamId correlationId syncType eventId eventSyncId",
    "CUDA_EVENT": "timestamp deviceId contextId streamId correlationId eventId eventSyncId",
    "OVERHEAD": "start end globalTid correlationId overheadType",
    "RUNTIME": "start end globalTid correlationId returnValue eventClass nameId",
}
DRIVER_CALL = 1  # eventClass
PEER_COPY, MIGRATIONS = 10, (11, 12, 13)  # copyKind; migrations of unified memory are no records of copies
# Enumerations of a report -> those of CUPTI; the others are equal.
MEMORY_KINDS = {0: 1, 1: 2, 2: 3, 3: 4, 4: 5, 5: 6, 6: 7, 7: 0}
OVERHEADS = {0: 0, 1: 0, 2: 1, 3: 1 << 16, 4: 2 << 16, 5: 3 << 16, 6: 4 << 16, 7: 5 << 16, 8: 6 << 16}
NULL_STREAM = 3  # flag of a stream

Record = collections.namedtuple("Record", "end kind thread fields")


def read_table(report, table, columns, pid=None):
    """The rows, in the order of the file, as objects; a column that the report lacks is None."""
    known = [column for _, column, *_ in report.execute(f"PRAGMA table_info({table})")]
    if not known:
        return []
    make = collections.namedtuple("Row", columns)
    chosen = ", ".join(f'"{column}"' if column in known else "NULL" for column in make._fields)
    of_process = next((f"WHERE ({column} >> 24 & 0xffffff) = {pid}" for column in ("globalPid", "globalTid") if pid is not None and column in known), "")
    return [make(*row) for row in report.execute(f"SELECT {chosen} FROM {table} {of_process} ORDER BY rowid")]


def processes(report):
    """Ids of processes with CUDA records. Empty if the report does not have them."""
    found = set()
    for table in COLUMNS:
        rows = read_table(report, f"CUPTI_ACTIVITY_KIND_{table}", "globalPid globalTid")
        found.update((row.globalPid or row.globalTid) >> 24 & 0xffffff for row in rows if row.globalPid or row.globalTid)
    return sorted(found)


class Process:
    """The records of one process, in the order of their tables."""

    def __init__(self, report, pid):
        self.report, self.records, self.skipped = report, [], collections.Counter()
        self.rows = {table: read_table(report, f"CUPTI_ACTIVITY_KIND_{table}", columns, pid) for table, columns in COLUMNS.items()}
        self.names = {row.id: row.value for row in read_table(report, "StringIds", "id value")}
        # A call of the runtime is later than the one of the driver that it makes with the same correlation id.
        self.calls = {row.correlationId: row for row in sorted(self.rows["RUNTIME"], key=lambda row: row.eventClass != DRIVER_CALL)}
        self.begin = min((row.start for rows in self.rows.values() for row in rows if hasattr(row, "start")), default=0)
        for table, rows in self.rows.items():
            for row in rows:
                getattr(self, table.lower())(row)
        self.contexts = self.find_contexts(pid)

    def thread(self, row):
        """The thread of a call, or of the call that made the record. CUPTI's records of both are in this thread's buffer."""
        call = row if hasattr(row, "globalTid") else self.calls.get(row.correlationId)
        return ((call.globalTid if call else None) or 0) & 0xffffff

    def add(self, kind, row, *fields):
        self.records.append(Record(row.end, kind, self.thread(row), (row.start - self.begin, row.end - self.begin, *(field or 0 for field in fields))))

    def work(self, kind, row, *fields):
        context = row.contextId if row.contextId is not None else row.deviceId + 1
        self.add(kind, row, row.deviceId, context, row.streamId, row.correlationId, row.graphId, row.graphNodeId, *fields)

    def is_async(self, row):
        """CUPTI's flag of copies and memsets; the report has only the name of the call."""
        call = self.calls.get(row.correlationId)
        return int(call is not None and "Async" in self.names.get(call.nameId, ""))

    def kernel(self, row):
        launch_type = max(0, (row.launchType or 0) - 1)  # a report has 0 for an unknown one
        name = next((self.names[number] for number in (row.mangledName, row.demangledName, row.shortName) if number in self.names), "")
        self.work("kernel", row, *row[8:18], launch_type, row.clusterX, row.clusterY, row.clusterZ, name)

    def memcpy(self, row):
        if row.copyKind in MIGRATIONS:
            self.skipped["migration of unified memory"] += 1
            return
        common = (row.bytes, row.copyKind, MEMORY_KINDS.get(row.srcKind, 0), MEMORY_KINDS.get(row.dstKind, 0), self.is_async(row))
        if row.copyKind == PEER_COPY:
            self.work("memcpy_peer", row, *common, row.srcDeviceId, row.srcContextId, row.dstDeviceId, row.dstContextId)
        else:
            self.work("memcpy", row, *common)

    def memset(self, row):
        self.work("memset", row, row.bytes, row.value, MEMORY_KINDS.get(row.memKind, 0), self.is_async(row))

    def graph_trace(self, row):
        self.work("graph_launch", row)

    def synchronization(self, row):
        """A query of an event is a synchronization. Only its call has the result."""
        call = self.calls.get(row.correlationId)
        self.add("sync", row, row.contextId, row.streamId, row.correlationId, row.syncType, row.eventId, row.eventSyncId, call and call.returnValue)

    def cuda_event(self, row):
        """It has no time in CUPTI. Its place is that of its call."""
        call = self.calls.get(row.correlationId)
        end = call.end if call else row.timestamp or self.begin
        fields = (row.deviceId, row.contextId, row.streamId, row.correlationId, row.eventId, row.eventSyncId)
        self.records.append(Record(end, "cuda_event", self.thread(row), [field or 0 for field in fields]))

    def overhead(self, row):
        self.add("overhead", row, self.thread(row), row.correlationId, OVERHEADS.get(row.overheadType, 0))

    def runtime(self, row):
        name = self.names.get(row.nameId, "")
        is_driver = row.eventClass == DRIVER_CALL if row.eventClass is not None else not name.startswith("cuda")
        self.add("driver" if is_driver else "runtime", row, self.thread(row), row.correlationId, row.returnValue, name)

    def find_contexts(self, pid):
        """CUPTI's records of contexts and streams, which a report does not have as such."""
        work = [record.fields for record in self.records if record.kind in ("kernel", "memcpy", "memcpy_peer", "memset", "graph_launch")]
        devices = {context: device for _, _, device, context, *_ in work}
        lowest = collections.defaultdict(list)
        for _, _, _, context, stream, *_ in work:
            lowest[context].append(stream)
        # A context's null stream is created with it, so it has the lowest number of its streams.
        null = {context: min(streams) for context, streams in lowest.items()}
        for table in ("TARGET_INFO_CUDA_NULL_STREAM", "TARGET_INFO_CUDA_CONTEXT_INFO"):
            for row in read_table(self.report, table, "processId contextId deviceId streamId nullStreamId"):
                if row.processId == pid:
                    devices[row.contextId] = row.deviceId
                    null[row.contextId] = row.streamId if row.streamId is not None else row.nullStreamId
        streams = [row for row in read_table(self.report, "TARGET_INFO_CUDA_STREAM", "processId contextId streamId priority flag")
                   if row.processId == pid and row.contextId in devices]
        null.update((row.contextId, row.streamId) for row in streams if row.flag == NULL_STREAM)
        signed = lambda number: (number + (1 << 31)) % (1 << 32) - (1 << 31)
        return [Record(self.begin, "context", 0, (context, device, null[context])) for context, device in sorted(devices.items())] + \
               [Record(self.begin, "stream", 0, (row.contextId, row.streamId, signed(row.priority), row.flag)) for row in streams]


def write(process, order, path):
    records = process.records if order == "file" else sorted(process.records, key=lambda record: record.end)
    last = max((record.end for record in records), default=process.begin) - process.begin
    threads = {thread: index for index, thread in enumerate(sorted({0, *(record.thread for record in records)}))}
    lines = [("report", last, len(threads)), *((record.kind, threads[record.thread], *record.fields) for record in process.contexts + records)]
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        file.writelines("\t".join(map(str, line)) + "\0" for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("report")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--pid", type=int, help="needed if the report has several processes")
    parser.add_argument("--order", choices=("end", "file"), default="end")
    options = parser.parse_args()
    report = sqlite3.connect(f"file:{options.report}?immutable=1", uri=True)
    report.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
    pids = processes(report)
    if options.pid is None and len(pids) > 1 or options.pid is not None and options.pid not in pids:
        sys.exit(f"{options.report}: choose one process by --pid: {', '.join(map(str, pids))}")
    process = Process(report, options.pid or next(iter(pids), None))
    write(process, options.order, options.output)
    counts = collections.Counter(record.kind for record in process.contexts + process.records)
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()) + "".join(f"; skipped: {count} x {what}" for what, count in process.skipped.items()))


if __name__ == "__main__":
    main()
