"""A file through trace_processor, Perfetto's own reader, v58 or newer: what it holds, and what it complains of."""
import collections
import csv
import io
import re
import subprocess

from harness import run

OLDEST = 58


def text(column):
    """Its CSV does not double quotation marks within a text."""
    return f"""replace({column}, '"', '""')"""


# Each row begins with what it is of.
ASKED = [
    "select 'error', name, value from stats where severity in ('error', 'data_loss') and value > 0",
    f"""select 'process', upid, {text('process.name')}, {text('machine.name')} from process
        left join machine on machine.id = machine_id where pid > 0
        order by extract_arg(process.arg_set_id, 'process_sort_index_hint')""",
    f"""select 'slice', slice.id, coalesce(thread.upid, process_track.upid, gpu_slice.upid), {text('slice.name')},
        slice.ts, slice.dur from slice left join thread_track on slice.track_id = thread_track.id
        left join thread using (utid) left join process_track on slice.track_id = process_track.id
        left join gpu_slice using (id)""",
    "select 'flow', slice_out, slice_in from flow",
    # As text, because its CSV has six decimals.
    """select 'counter', upid, counter.ts, printf('%.17g', counter.value) from counter
        left join process_counter_track on process_counter_track.id = track_id""",
    # `gpu` is the number within a machine, `ugpu` that in the table.
    f"""select 'stage', gpu_slice.upid, {text('gpu.name')},
        {text("extract_arg(track.dimension_arg_set_id, 'hwqueue_name')")}, {text('gpu_slice.name')}, gpu_slice.ts,
        gpu_slice.dur from gpu_slice join track on track.id = gpu_slice.track_id
        left join gpu on gpu.id = extract_arg(track.dimension_arg_set_id, 'ugpu')""",
]
NULL = "[NULL]"

Slice = collections.namedtuple("Slice", "process name start duration")


class Unreadable(Exception):
    pass


class Reading:
    """What a file holds: `slices` (instants too), `flows` (pairs of slices, the one that starts first in front) and
    `counters` (process, time, value), all Counters; `stages` (process, GPU, queue, name, start, duration); `processes`
    by name with their machines, in the order in which Perfetto's UI shows them; `errors`."""

    def __init__(self, processor, path):
        rows = collections.defaultdict(list)
        for row in ask(processor, path):
            rows[row[0]].append(row[1:])
        names = {upid: name for upid, name, _ in rows["process"]}
        self.errors = {name: int(value) for name, value in rows["error"]}
        self.processes = {name: None if machine == NULL else machine for _, name, machine in rows["process"]}
        by_id = {number: Slice(names.get(upid), name, int(start), int(duration))
                 for number, upid, name, start, duration in rows["slice"]}
        self.slices = collections.Counter(by_id.values())
        self.flows = collections.Counter(in_order(by_id[a], by_id[b]) for a, b in rows["flow"])
        self.counters = collections.Counter((names.get(upid), int(ns), float(value)) for upid, ns, value in rows["counter"])
        self.stages = collections.Counter((names.get(upid), gpu, queue, name, int(start), int(duration))
                                          for upid, gpu, queue, name, start, duration in rows["stage"])


def in_order(a, b):
    return tuple(sorted((a, b), key=lambda s: (s.start, s)))


def ask(processor, path):
    result = run([processor, "query", path, ";\n".join(ASKED)], timeout=300)
    if result.returncode != 0:
        raise Unreadable(result.stderr[-1000:])
    return (row for row in csv.reader(io.StringIO(result.stdout)) if row and not row[0].startswith("'"))


def why_not(processor):
    """Why this program cannot be used, or None."""
    try:
        result = subprocess.run([processor, "--version"], capture_output=True, text=True, timeout=120)
    except OSError as error:
        return f"{processor}: {error.strerror}"
    version = re.search(r"v(\d+)\.", result.stdout)
    if result.returncode != 0 or not version:
        return f"{processor}: {result.stderr.strip() or result.stdout.strip()}"
    return None if int(version[1]) >= OLDEST else f"{processor} is v{version[1]}, older than v{OLDEST}"
