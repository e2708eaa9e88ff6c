"""The contents of a report of Nsight Systems, computed in SQL on the file itself. test_nsys.py compares them with the output of tracetool."""
import collections
import re
import sqlite3
import statistics

DIRECTIONS = {0: "Unknown", 1: "HtoD", 2: "DtoH", 3: "HtoA", 4: "AtoH", 5: "AtoA", 6: "AtoD", 7: "DtoA", 8: "DtoD", 9: "HtoH", 10: "PtoP", 11: "HtoD",
              12: "DtoH", 13: "DtoD"}
KERNEL, MEMCPY, MEMSET, GRAPH, RUNTIME = (f"CUPTI_ACTIVITY_KIND_{kind}" for kind in ("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE", "RUNTIME"))
SYNC = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"
RANGES, MARKS = "eventType IN (59, 60)", "eventType = 34"

Sum = collections.namedtuple("Sum", "count ns")


def without_version(name):
    """cudaLaunchKernel_v7000 is cudaLaunchKernel."""
    return re.sub(r"_v\d+$", "", name)


def torch_name(text):
    """"aten::mm, seq = 7, op_id = 12" of emit_nvtx() is aten::mm."""
    return re.sub(r"(, seq = \d+)?(, op_id = \d+)?(, (sizes|input_op_ids) = \[.*)?$", "", text)


class Report:
    def __init__(self, path):
        self.db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.db.create_function("without_version", 1, without_version, deterministic=True)
        self.db.create_function("torch_name", 1, torch_name, deterministic=True)

    def all(self, query):
        return self.db.execute(query).fetchall()

    def columns(self, table):
        return {row[1] for row in self.all(f"PRAGMA table_info({table})")}

    def has(self, table, *columns):
        return self.columns(table) >= {"start", *columns}

    def count(self, table, where="1"):
        return self.all(f"SELECT count(*) FROM {table} WHERE {where}")[0][0] if self.has(table) else 0

    def sums(self, table, key, where="1", join=""):
        """{key: (count, ns)} of the rows of a table."""
        rows = self.all(f"SELECT {key}, count(*), sum(end - start) FROM {table} AS t {join} WHERE {where} GROUP BY 1") if self.has(table) else []
        return {row[0]: Sum(*row[1:]) for row in rows}

    def kernels(self, key="s.value", where="1"):
        return self.sums(KERNEL, key, where, "JOIN StringIds AS s ON s.id = t.demangledName")

    def copies(self):
        """{direction: (count, bytes, ns)}."""
        found = collections.defaultdict(lambda: (0, 0, 0))
        for kind, *numbers in self.all(f"SELECT copyKind, count(*), sum(bytes), sum(end - start) FROM {MEMCPY} GROUP BY 1") if self.has(MEMCPY) else []:
            found[DIRECTIONS[kind]] = tuple(map(sum, zip(found[DIRECTIONS[kind]], numbers)))
        return dict(found)

    def memsets(self):
        return self.all(f"SELECT count(*), sum(bytes), sum(end - start) FROM {MEMSET}")[0] if self.has(MEMSET) else (0, None, None)

    def events(self):
        """The number of CUDA events with a time. Others are only calls."""
        table = "CUPTI_ACTIVITY_KIND_CUDA_EVENT"
        return self.all(f"SELECT count(*) FROM {table} WHERE timestamp > 0")[0][0] if "timestamp" in self.columns(table) else 0

    def calls(self, where="1"):
        return self.sums(RUNTIME, "without_version(s.value)", where, "JOIN StringIds AS s ON s.id = t.nameId")

    def calls_of(self, driver):
        """The number of calls of the runtime (cudaXxx) or of the driver (cuXxx). In reports of other programs only their names differ."""
        if self.has(RUNTIME, "eventClass"):
            return self.count(RUNTIME, f"eventClass = {driver:d}")
        return self.count(RUNTIME, f"(SELECT value GLOB 'cu[A-Z]*' FROM StringIds WHERE id = nameId) = {driver:d}")

    def ranges(self):
        """{name: (count, ns)} of ranges that end."""
        name = "torch_name(coalesce(t.text, s.value))"
        return self.sums("NVTX_EVENTS", name, f"{RANGES} AND end IS NOT NULL", "LEFT JOIN StringIds AS s ON s.id = t.textId")

    def joined(self, table):
        """How many rows of GPU work have a call with their correlation id in their process, and how many such calls there are: (rows, calls)."""
        if not self.has(table) or not self.has(RUNTIME):
            return 0, set()
        pid = "(t.globalPid >> 24)" if self.has(table, "globalPid") else "(r.globalTid >> 24)"
        rows = self.all(f"SELECT t.rowid, {pid}, t.correlationId FROM {table} AS t JOIN {RUNTIME} AS r"
                        f" ON r.correlationId = t.correlationId AND (r.globalTid >> 24) = {pid}")
        return len({row[0] for row in rows}), {row[1:] for row in rows}

    def launches(self):
        """The number of calls that queued GPU work."""
        return len(set().union(*(self.joined(table)[1] for table in (KERNEL, MEMCPY, MEMSET, GRAPH))))

    def work(self):
        """SQL of all GPU work."""
        return " UNION ALL ".join(f"SELECT start, end, correlationId, globalPid, globalPid >> 24 AS pid, deviceId FROM {table}"
                                  for table in (KERNEL, MEMCPY, MEMSET, GRAPH) if self.has(table))

    def gaps(self):
        """The longest times without GPU work of each process on each GPU, longest first."""
        before = "max(end) OVER (PARTITION BY globalPid, deviceId ORDER BY start, end ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)"
        return [row[0] for row in self.all(f"SELECT start - before FROM (SELECT start, {before} AS before FROM ({self.work()}))"
                                           " WHERE start > before ORDER BY 1 DESC")]

    def projected(self):
        """{range: (instances with GPU work, sum of their projected times, GPU work)}. A range contains the work whose launch call is in it."""
        rows = self.all(f"SELECT coalesce(t.text, s.value), max(w.end) - min(w.start), count(*) FROM ({self.work()}) AS w JOIN {RUNTIME} AS r"
                        " ON r.correlationId = w.correlationId AND r.globalTid >> 24 = w.pid JOIN NVTX_EVENTS AS t ON t.globalTid = r.globalTid"
                        f" AND t.start <= r.start AND r.end <= t.end LEFT JOIN StringIds AS s ON s.id = t.textId WHERE {RANGES}"
                        " AND coalesce(t.text, s.value) NOT LIKE 'aten::%' GROUP BY t.rowid")
        names = collections.defaultdict(list)
        for name, span, count in rows:
            names[name].append((1, span, count))
        return {name: tuple(map(sum, zip(*some))) for name, some in names.items()}

    def queue_times(self):
        """The time from the return of each launch call to the start of its first work, 0 if that started before."""
        return [max(0, row[0]) for row in self.all(f"SELECT min(w.start) - r.end FROM ({self.work()}) AS w JOIN {RUNTIME} AS r"
                                                   f" ON r.correlationId = w.correlationId AND r.globalTid >> 24 = w.pid GROUP BY w.pid, w.correlationId")]


# The columns of the summaries of `nsys stats`, as its documentation describes them, but for the median: the lower of the two values in the middle.
Stats = collections.namedtuple("Stats", "share total count average low least most deviation")


def summary(rows):
    """{name: Stats} of (name, value): what cuda_gpu_kern_sum, cuda_api_sum, nvtx_sum and others compute."""
    values = collections.defaultdict(list)
    for name, value in rows:
        values[name].append(value)
    whole = sum(map(sum, values.values()))
    return {name: Stats(100 * sum(some) / whole, sum(some), len(some), statistics.fmean(some), statistics.median_low(some), min(some), max(some),
                        statistics.stdev(some) if len(some) > 1 else None) for name, some in values.items()}
