#!/usr/bin/env python3
"""Reports of Nsight Systems that `nsys export --type sqlite` wrote: tables, merged files and exports against SQL on the file itself (slow_nsys.py), on
synthesized reports of each schema (nsys_reports.py); files that are damaged or something else. With a directory in TRACETOOL_NSYS_FIXTURES, also the
public reports in it.

  test_nsys.py --tracetool PATH
"""
import collections
import glob
import gzip
import json
import os
import shutil
import sqlite3
from decimal import Decimal

import nsys_reports
import slow_nsys
from harness import Folder, arguments, check, finish, first, run
from nsys_reports import MINIMAL, SECRET, VERSIONS, split_report, write_report
from slow_nsys import KERNEL, RUNTIME

BAD_CONTENT = 3
SEEDS = 3
# Figures of public reports: kernels (count, ns), kernels with a launch
PUBLIC = {"mfu_2gpu_before": ((4010, 535_200_650), 3986), "mfu_2gpu_after": ((3587, 488_835_406), None), "h100_2gpu_1s": ((3442, 44_829_522), 1632),
          "healthy_1pct": ((400, 400_000_000), 400)}


def tracetool(options, *words):
    return run([options.tracetool, *map(str, words)])


def printed(options, what, *words):
    """The JSON that a command prints."""
    done = tracetool(options, *words)
    return json.loads(done.stdout) if check(done.returncode == 0, f"{what}: {' '.join(words[:1])}", done.stderr) else None


def equal(found, true, what):
    if isinstance(true, dict) and isinstance(found, dict):
        detail = lambda: first((key, found.get(key), true.get(key)) for key in sorted({*found, *true}, key=str) if found.get(key) != true.get(key))
    else:
        detail = lambda: f"{found} and not {true}"
    check(found == true, what, detail)


def added(pairs):
    """Sums of the values of each key, member by member."""
    sums = {}
    for key, values in pairs:
        sums[key] = tuple(map(sum, zip(sums.get(key, (0,) * len(values)), values)))
    return sums


def check_info(options, what, path, report):
    found = printed(options, what, "info", path, "--json")
    if found is None:
        return None
    counts = collections.Counter()
    for rank in found["ranks"]:
        counts.update(rank["counts"])
    true = {"kernel": report.count(KERNEL), "memcpy": report.count(slow_nsys.MEMCPY), "memset": report.count(slow_nsys.MEMSET),
            "runtime": report.calls_of(driver=False), "driver": report.calls_of(driver=True),
            "ranges": report.count("NVTX_EVENTS", f"{slow_nsys.RANGES} OR {slow_nsys.MARKS}"),
            "sync": report.count(slow_nsys.SYNC), "cuda_event": report.events(), "graph": report.count(slow_nsys.GRAPH)}
    counts["ranges"] = counts["nvtx"] + counts["nccl"] + counts["cpu_op"]
    equal({kind: counts[kind] for kind in true}, true, f"{what}: counts of info")
    return found["ranks"]


def check_tables(options, what, path, report):
    found = printed(options, what, "analyze", path, "--only", "kernels,copies,api,launches,regions", "--format", "json")
    if found is None:
        return
    true = report.kernels()
    equal({row["name"]: (row["count"], row["sum_ns"]) for row in found["kernels"]}, true, f"{what}: kernels by name")
    copies = added((row["direction"], (row["count"], row["bytes"], row["time_ns"])) for row in found["copies"] if row["operation"] == "memcpy")
    equal(copies, report.copies(), f"{what}: copies by direction")
    sets = added((1, (row["count"], row["bytes"], row["time_ns"])) for row in found["copies"] if row["operation"] == "memset")
    equal(sets.get(1, (0, None, None)), report.memsets(), f"{what}: memsets")
    equal({row["name"]: (row["count"], row["sum_ns"]) for row in found["api"]}, report.calls(), f"{what}: calls")
    equal(sum(row["count"] for row in found["launches"]), report.launches(), f"{what}: launches")


def exported(options, what, path, folder):
    """The events of the files that --kineto writes, each a list."""
    out = os.path.join(folder, "kineto")
    shutil.rmtree(out, ignore_errors=True)
    done = tracetool(options, "export", "--kineto", path, "-o", out)
    check(done.returncode == 0, f"{what}: export --kineto", done.stderr)
    files = []
    for name in sorted(glob.glob(f"{out}/*")):
        with (gzip.open if name.endswith(".gz") else open)(name, "rt", encoding="utf-8") as file:
            text = file.read()
        check(SECRET not in text, f"{what}: the environment is not copied")
        files.append(json.loads(text, parse_float=Decimal)["traceEvents"])
    return files


def check_export(options, what, path, report, folder):
    files = exported(options, what, path, folder)
    of = lambda *kinds: [(each, int(Decimal(each["dur"]) * 1000)) for events in files for each in events if each["ph"] == "X" and each.get("cat") in kinds]
    kernels = of("kernel") if not report.has(slow_nsys.GRAPH) else [(each, ns) for each, ns in of("kernel") if "grid" in each["args"]]
    equal(added((each["name"], (1, ns)) for each, ns in kernels), report.kernels(), f"{what}: exported kernels by name")
    equal(added((each["args"]["device"], (1, ns)) for each, ns in kernels), report.kernels("t.deviceId"), f"{what}: exported kernels by device")
    equal(added((each["name"].split()[1], (1, each["args"]["bytes"], ns)) for each, ns in of("gpu_memcpy")), report.copies(), f"{what}: exported copies")
    sets = added((1, (1, each["args"]["bytes"], ns)) for each, ns in of("gpu_memset"))
    equal(sets.get(1, (0, None, None)), report.memsets(), f"{what}: exported memsets")
    equal(added((each["name"], (1, ns)) for each, ns in of("cuda_runtime", "cuda_driver")), report.calls(), f"{what}: exported calls")
    joined = 0
    for events in files:
        calls = {each["args"]["correlation"] for each in events if each.get("cat") in ("cuda_runtime", "cuda_driver") and each["ph"] == "X"}
        joined += sum(each.get("cat") == "kernel" and "grid" in each["args"] and each["args"]["correlation"] in calls for each in events)
    equal(joined, report.joined(KERNEL)[0], f"{what}: exported kernels with a launch")
    # The exporter adds steps, and ends for ranges that have none.
    ends = lambda name: not name.startswith("ProfilerStep#") and name != nsys_reports.OPEN
    ranges = added((each["name"], (1, ns)) for each, ns in of("user_annotation", "cpu_op") if ends(each["name"]))
    equal(ranges, report.ranges(), f"{what}: exported ranges")


def check_report(options, what, path, folder):
    """Tables, a merged file and an export of one report."""
    report, merged = slow_nsys.Report(path), os.path.join(folder, "merged.ttrace")
    ranks = check_info(options, what, path, report)
    check_tables(options, what, path, report)
    done = tracetool(options, "merge", path, "-o", merged)
    if check(done.returncode == 0, f"{what}: merge", done.stderr):
        check_info(options, f"{what}, merged", merged, report)
        check_tables(options, f"{what}, merged", merged, report)
        with open(merged, "rb") as file:
            check(SECRET.encode() not in file.read(), f"{what}, merged: the environment is not copied")
    check_export(options, what, path, report, folder)
    return ranks


def check_versions(options, folder):
    for version in (*VERSIONS, MINIMAL):
        for seed in range(SEEDS):
            path = os.path.join(folder, f"report-{version}-{seed}.sqlite")
            what = f"{version}, seed {seed}"
            report = write_report(path, version, seed)
            ranks = check_report(options, what, path, folder)
            if ranks is not None and report.ranks and version != MINIMAL:
                equal({rank["pid"]: rank["rank"] for rank in ranks if rank["counts"].get("kernel")},
                      {pid: rank for pid, rank in report.ranks.items() if report.options["kernels"]}, f"{what}: ranks")


def check_two_processes(options, folder):
    """Equal correlation ids in two processes: a kernel belongs to the call of its own process."""
    path = os.path.join(folder, "two.sqlite")
    write_report(path, "3.25.0", 4, processes=2, gpus=2, equal_correlations=True, kernels=True, steps=6)
    report = slow_nsys.Report(path)
    both = report.all(f"SELECT count(*) FROM (SELECT correlationId FROM {RUNTIME} GROUP BY 1 HAVING count(DISTINCT globalTid >> 24) > 1)")[0][0]
    check(both > 20, "two processes have equal correlation ids", both)
    check_report(options, "equal correlation ids", path, folder)


def check_kinds(options, folder):
    """Reports with few GPUs, without kernels, with graphs, and so on."""
    for what, wanted in (("four GPUs in order 3, 2, 1, 0", {"gpus": 4, "processes": 4, "gpu_info": "reversed"}),
                         ("one process with four GPUs", {"gpus": 4, "processes": 1, "gpu_info": "reversed"}),
                         ("no GPUs listed", {"gpu_info": None}), ("no kernels", {"kernels": False}), ("no begin of the session", {"session": False}),
                         ("normalized times", {"normalized": True, "session": True}), ("graphs by node", {"graphs": "node", "kernels": True}),
                         ("whole graphs", {"graphs": "graph"}), ("NCCL payloads", {"payloads": "binary", "processes": 3}),
                         ("NCCL schemas alone", {"payloads": "schemas", "processes": 3}), ("a range that is not closed", {"open_range": True})):
        path = os.path.join(folder, "kind.sqlite")
        write_report(path, "3.28.1", 11, **wanted)
        ranks = check_report(options, what, path, folder)
        if ranks and wanted.get("gpu_info") == "reversed" and wanted["processes"] == 4:
            names = {rank["pid"]: rank["device"] for rank in ranks}
            equal(names, {1000 + 17 * device: f"NVIDIA H{100 + device % 2 * 100}" for device in range(4)}, f"{what}: names of GPUs by their id")


def check_collectives(options, folder):
    """Collectives of one report, and of a report per rank with different clocks: the rank that is last at each is that of the report's own clock."""
    one, files = os.path.join(folder, "one.sqlite"), [os.path.join(folder, f"rank{rank}.sqlite") for rank in range(4)]
    write_report(one, "3.28.1", 6, processes=4, gpus=4, payloads="binary", kernels=True, session=True, normalized=False, steps=16)
    split_report(one, files, [0, 4_000_000, -3_000_000, 250_000])
    report, starts = slow_nsys.Report(one), collections.defaultdict(list)
    for pid, start, end in report.all(f"SELECT globalPid >> 24 & 0xffffff, start, end FROM {KERNEL} AS t JOIN StringIds AS s ON s.id = t.shortName"
                                      " WHERE s.value GLOB 'nccl*'"):
        starts[end].append((start, (pid - 1000) // 17))
    true = [max(starts[end])[1] for end in sorted(starts)]
    for what, paths in (("one report", [one]), ("a report per rank", files)):
        merged = os.path.join(folder, "collectives.ttrace")
        done = tracetool(options, "merge", *paths, "-o", merged)
        check(done.returncode == 0, f"{what}: merge", done.stderr)
        found = printed(options, what, "analyze", merged, "--only", "collectives", "--format", "json")
        equal([row["last_rank"] for row in found["collectives"]], true, f"{what}: the last rank of each collective")
        equal({row["bytes"] for row in found["collectives"]}, {1 << 20}, f"{what}: the size of each collective")


def check_ranks(options, folder):
    """Ranks of reports without ranks of NCCL or MPI. They come from the environment of one process, the file's name, or the order of the GPUs."""
    def ranks(*paths):
        found = printed(options, "ranks", "info", *paths, "--json")["ranks"]
        return {(os.path.basename(rank["source"]), rank["pid"]): rank["rank"] for rank in found}

    plain = {"payloads": None, "mpi": False, "session": True, "normalized": False, "kernels": True}
    nodes = [os.path.join(folder, f"node{node}.sqlite") for node in range(2)]
    for node, path in enumerate(nodes):
        write_report(path, "3.25.0", 30 + node, processes=4, gpus=4, **plain)
    by_device = {(f"node{node}.sqlite", 1000 + 17 * device): 4 * node + device for node in range(2) for device in range(4)}
    equal(ranks(nodes[0]), {key: rank for key, rank in by_device.items() if rank < 4}, "ranks by the order of the GPUs")
    equal(ranks(*nodes), by_device, "ranks of two reports by the order of the GPUs")
    check("ranks 0-7 follow the order of the GPUs in 2 reports" in tracetool(options, "info", *nodes).stderr, "a warning says so")
    found = printed(options, "two reports of one host each", "analyze", *nodes, "--only", "temporal", "--format", "json")
    equal([(row["rank"], row["device"]) for row in found["temporal"]], [(rank, rank % 4) for rank in range(8)], "the ranks of its rows")
    copy, merged = os.path.join(folder, "copy.sqlite"), os.path.join(folder, "merged.ttrace")
    shutil.copy(nodes[0], copy)
    done = tracetool(options, "merge", nodes[0], "-o", merged)
    for what, other in (("a copy", copy), ("a merged file", merged)):
        done = tracetool(options, "analyze", nodes[0], other)
        check(done.returncode == 1 and "duplicate rank" in done.stderr, f"a report and {what} of it are refused", done.stdout[:200])

    for names in ("report_rank{}.sqlite", "report_{}.sqlite"):
        files = [os.path.join(folder, names.format(3 - number)) for number in range(4)]
        split_report(nodes[0], files, [0] * 4)
        equal(ranks(*files), {(os.path.basename(path), 1000 + 17 * number): 3 - number for number, path in enumerate(files)}, f"ranks by names: {names}")

    one = os.path.join(folder, "one.sqlite")
    write_report(one, "3.25.0", 33, processes=1, gpus=1, environment=("RANK=5", "LOCAL_RANK=1", "WORLD_SIZE=8"), **plain)
    equal(list(ranks(one).values()), [5], "the rank in the environment")
    write_report(nodes[0], "3.25.0", 30, processes=4, gpus=4, environment=("RANK=5",), **plain)
    equal(sorted(ranks(nodes[0]).values()), [0, 1, 2, 3], "the environment of a launcher of several processes")

    write_report(one, "3.25.0", 34, processes=2, gpus=2, **{**plain, "mpi": True})
    with sqlite3.connect(one) as db:
        db.execute("UPDATE MPI_RANKS SET rank = 1 - rank")
    equal(ranks(one), {("one.sqlite", 1000): 1, ("one.sqlite", 1017): 0}, "ranks of MPI")
    with sqlite3.connect(one) as db:
        db.execute("UPDATE MPI_RANKS SET rank = 0")
    equal(ranks(one), {("one.sqlite", 1000): 0, ("one.sqlite", 1017): 1}, "two jobs of MPI with a rank each")


def near(found, true):
    return (found is None) == (true is None) and (true is None or abs(found - true) <= 1e-9 * abs(true))


def check_summary(what, rows, true, key, columns):
    """The columns of a table, each against the column of `nsys stats` with the same numbers. {ours: theirs}"""
    rows = {key(row): row for row in rows}
    check(rows.keys() == true.keys(), f"{what}: the names", lambda: first(sorted(rows.keys() ^ true.keys())))
    for ours, theirs in columns.items():
        both = [(name, rows[name][ours], getattr(stats, theirs)) for name, stats in true.items() if name in rows]
        different = [each for each in both if not near(*each[1:])]
        check(both and not different, f"{what}: {ours} is {theirs}", lambda: first(different))


def check_stats(options, folder):
    """The summaries of `nsys stats`, computed by their definitions, and the tables that docs/nsys.md names for them."""
    path = os.path.join(folder, "stats.sqlite")
    write_report(path, "3.28.1", 8, processes=2, gpus=2, kernels=True, graphs=None, payloads=None, steps=6)
    report = slow_nsys.Report(path)
    found = printed(options, "stats", "analyze", path, "--only", "kernels,api,regions,operators,copies,gaps,launches", "--format", "json")
    name = lambda row: row["name"]
    named = lambda column: f"SELECT s.value, end - start FROM {{}} AS t JOIN StringIds AS s ON s.id = t.{column}"
    check_summary("cuda_gpu_kern_sum", found["kernels"], slow_nsys.summary(report.all(named("demangledName").format(KERNEL))), name,
                  {"share_pct": "share", "sum_ns": "total", "count": "count", "mean_ns": "average", "median_ns": "low", "min_ns": "least",
                   "max_ns": "most", "stddev_ns": "deviation"})
    calls = [(slow_nsys.without_version(call), ns) for call, ns in report.all(named("nameId").format(RUNTIME))]
    check_summary("cuda_api_sum", found["api"], slow_nsys.summary(calls), name,
                  {"share_pct": "share", "sum_ns": "total", "count": "count", "median_ns": "low", "min_ns": "least", "max_ns": "most"})
    ranges = report.all("SELECT coalesce(t.text, s.value), end - start FROM NVTX_EVENTS AS t LEFT JOIN StringIds AS s ON s.id = t.textId"
                        " WHERE eventType IN (59, 60)")
    operators = added((slow_nsys.torch_name(text), (1, ns)) for text, ns in ranges if text.startswith("aten::"))
    ranges = [row for row in ranges if not row[0].startswith("aten::")]
    equal({row["name"]: (row["calls"], row["cpu_ns"]) for row in found["operators"]}, operators, "ranges of emit_nvtx() are operators")
    check(len(operators) > 1 and all("," not in text for text in operators), "there are operators", operators)
    check_summary("nvtx_sum", found["regions"], slow_nsys.summary(ranges), name,
                  {"count": "count", "host_ns": "total", "host_min_ns": "least", "host_median_ns": "low", "host_max_ns": "most",
                   "host_stddev_ns": "deviation"})
    projected = {row["name"]: (row["launching"], row["gpu_span_ns"], row["gpu_count"]) for row in found["regions"] if row["launching"]}
    true = report.projected()
    for ranges in (projected, true):  # nsys omits ranges that end on another thread
        ranges.pop("batch")
    equal(projected, true, "nvtx_gpu_proj_sum")
    copies = added((row["direction"], (row["time_ns"], row["bytes"], row["count"])) for row in found["copies"] if row["operation"] == "memcpy")
    times = {kind: (ns, size, count) for kind, (count, size, ns) in report.copies().items()}
    equal(copies, times, "cuda_gpu_mem_time_sum, cuda_gpu_mem_size_sum")
    equal([row["duration_ns"] for row in found["gaps"]], report.gaps()[:len(found["gaps"])], "gpu_gaps: the longest gaps")
    check(len(found["gaps"]) == 20, "there are gaps")
    queued = report.queue_times()
    equal((sum(row["count"] for row in found["launches"]), max(row["latency_max_ns"] for row in found["launches"])), (len(queued), max(queued)),
          "cuda_kern_exec_sum: launches, longest queue time")


def check_times(options, folder):
    """The wall time of the first event: the session's begin + its time, or its time if the export is normalized."""
    for normalized in (False, True):
        path = os.path.join(folder, "times.sqlite")
        write_report(path, "3.28.1", 2, normalized=normalized, session=True)
        info = printed(options, "times", "info", path, "--json")
        if info is not None:
            first_ns = min(rank["start_ns"] for rank in info["ranks"])
            offset = nsys_reports.SESSION_START + nsys_reports.FIRST
            check(offset - 10**6 <= first_ns < offset + 10**7, f"normalized {normalized}: the wall time of the first event", first_ns - offset)


def check_notices(options, folder):
    path = os.path.join(folder, "notices.sqlite")
    write_report(path, "3.28.1", 5, graphs="graph", processes=2)
    for words in (("info", path), ("analyze", path), ("diagnose", path)):
        done = tracetool(options, *words)
        line = done.stderr.splitlines()[:1]
        check("graph" in " ".join(line) and "node" in " ".join(line), f"{words[0]}: warns first of the graph mode, and how to record nodes", line)
    done = tracetool(options, "info", path)
    for text in ("CUDA profiling might have lost events.", "The NVTX collector failed."):
        check(text in done.stdout + done.stderr, f"info has the diagnostics of the report: {text}", done.stdout)
    write_report(path, "3.28.1", 5, payloads="schemas", processes=2)
    done = tracetool(options, "info", path)
    check("--include-blobs=true" in done.stdout + done.stderr, "schemas without blobs: how to export them", done.stdout + done.stderr)


def check_commands(options, folder):
    """Each command works on a report of each schema."""
    for seed, version in enumerate((*VERSIONS, MINIMAL)):
        path = os.path.join(folder, "command.sqlite")
        write_report(path, version, 20 + seed)
        out = os.path.join(folder, "out")
        for words in (("diagnose", path), ("analyze", path), ("report", path, "-o", f"{out}.html"), ("diff", path, path), ("info", path), (path,),
                      ("export", "--perfetto", path, "-o", f"{out}.json.gz"), ("export", "--pftrace", path, "-o", f"{out}.pftrace"),
                      ("dump", path)):
            done = tracetool(options, *words)
            check(done.returncode == 0 and SECRET not in done.stdout, f"{version}: {' '.join(words).replace(folder, '')}", done.stderr[-300:])


def bad_files(folder):
    """{what: path} of files that are no complete report."""
    whole = os.path.join(folder, "whole.sqlite")
    write_report(whole, "3.25.0", 1)
    with open(whole, "rb") as file:
        data = file.read()
    contents = {f"cut after {size} bytes": data[:size] for size in (50, 100, 4096, len(data) // 2, len(data) - 4096, len(data) - 1)}
    contents["a header and nothing else"] = data[:16] + bytes(5000)
    contents["text"] = b"kernels: none\n" * 100
    contents["pages of zeros"] = data[:4096] + bytes(len(data) - 4096)
    paths = {}
    for at, (what, content) in enumerate(contents.items()):
        paths[what] = os.path.join(folder, f"bad{at}.sqlite")
        with open(paths[what], "wb") as file:
            file.write(content)
    paths["SQLite of another program"] = os.path.join(folder, "bookmarks.sqlite")
    with sqlite3.connect(paths["SQLite of another program"]) as db:
        db.execute("CREATE TABLE bookmarks (url TEXT)")
    paths["a later major version"] = os.path.join(folder, "later.sqlite")
    shutil.copy(whole, paths["a later major version"])
    with sqlite3.connect(paths["a later major version"]) as db:
        db.execute("UPDATE META_DATA_EXPORT SET value = '4.0.0' WHERE name = 'EXPORT_SCHEMA_VERSION'")
    paths["a report that was not exported"] = os.path.join(folder, "report1.nsys-rep")
    with open(paths["a report that was not exported"], "wb") as file:
        file.write(os.urandom(4096))
    return paths


def refuses(options, what, path, *commands):
    """The exit status says that the content is bad; the message has the file's name and a command to run."""
    for words in (("info", path), ("analyze", path), ("merge", path, "-o", path + ".ttrace")):
        done = tracetool(options, *words)
        check(done.returncode == BAD_CONTENT and os.path.basename(path) in done.stderr and any(each in done.stderr for each in commands),
              f"{words[0]}: {what}", f"{done.returncode}: {done.stdout[-300:]}{done.stderr}")


def check_bad_files(options, folder):
    for what, path in bad_files(folder).items():
        refuses(options, what, path, "nsys export", "tracetool")
    # Rows in a log next to the file are not in the file, and a reader that changes nothing cannot read them.
    path = os.path.join(folder, "log.sqlite")
    write_report(path, "3.25.0", 1)
    db = sqlite3.connect(path)
    db.execute("PRAGMA journal_mode=WAL")
    db.execute("INSERT INTO StringIds VALUES (1, 'new')" if [row[1] for row in db.execute("PRAGMA table_info(StringIds)")] == ["id", "value"] else
               "INSERT INTO StringIds VALUES ('new', 1)")
    db.commit()
    check(os.path.getsize(path + "-wal") > 0, "there is a log")
    refuses(options, "a log next to it", path, "sqlite3", "nsys export")
    db.close()
    done = tracetool(options, "info", path)
    check(done.returncode == 0, "the file after its log was written into it", done.stderr)


def check_public(options, folder):
    """Public reports, if there are some: figures from their own SQL, and those that are known."""
    at = os.environ.get("TRACETOOL_NSYS_FIXTURES")
    for path in sorted(glob.glob(f"{at}/*.sqlite")) if at else []:
        what = os.path.basename(path).removesuffix(".sqlite")
        report = slow_nsys.Report(path)
        if what in PUBLIC:
            kernels, launched = PUBLIC[what]
            equal(added((1, each) for each in report.kernels().values())[1], kernels, f"{what}: known kernels")
            check(launched in (None, report.joined(KERNEL)[0]), f"{what}: known launches", report.joined(KERNEL)[0])
        if what == "mfu_2gpu_before":
            check_known(report)
        check_report(options, what, path, folder)


def check_known(report):
    equal({device: each.count for device, each in report.kernels("t.deviceId").items()}, {0: 1993, 1: 2017}, "known kernels by device")
    nccl = added((1, each) for name, each in report.kernels().items() if name.startswith("nccl"))
    equal(nccl[1], (66, 25_401_752), "known kernels of NCCL")
    equal({direction: numbers[:2] for direction, numbers in report.copies().items()}, {"HtoD": (34, 272), "DtoD": (986, 8_046_134_272)}, "known copies")
    equal(added((1, each) for each in report.calls().values())[1], (7466, 370_168_989), "known calls")
    equal(report.count("NVTX_EVENTS"), 19_118, "known ranges")


def main():
    options = arguments("tracetool")
    for each in (check_versions, check_two_processes, check_kinds, check_ranks, check_collectives, check_stats, check_times, check_notices, check_commands,
                 check_bad_files, check_public):
        with Folder() as folder:
            each(options, folder)
    finish()


if __name__ == "__main__":
    main()
