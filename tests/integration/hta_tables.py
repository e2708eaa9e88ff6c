"""HTA's tables of a folder of Kineto files, as one JSON document on stdout; run by the Python that has HTA.

  hta_tables.py FOLDER [include_last]       exit 3 where HTA cannot load the folder at all
"""
import contextlib
import io
import json
import logging
import os
import sys
import warnings

os.environ.setdefault("HTA_DISABLE_NS_ROUNDING", "1")  # else it rounds every time to microseconds
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

from hta.trace_analysis import TraceAnalysis  # noqa: E402


def tables(t, ranks):
    everything = dict(visualize=False)
    return {
        "temporal breakdown": lambda: t.get_temporal_breakdown(visualize=False),
        "idle time breakdown": lambda: t.get_idle_time_breakdown(ranks=ranks, show_idle_interval_stats=True, **everything),
        "kernel breakdown": lambda: t.get_gpu_kernel_breakdown(num_kernels=10**6, **everything),
        "GPU annotations": lambda: t.get_gpu_user_annotation_breakdown(**everything),
        "CPU annotations": lambda: t.get_gpu_user_annotation_breakdown(use_gpu_annotation=False, **everything),
        "overlap": lambda: t.get_comm_comp_overlap(**everything),
        "launch stats": lambda: t.get_cuda_kernel_launch_stats(ranks=ranks, **everything),
        "queue length": lambda: t.get_queue_length_summary(ranks=ranks),
        "queue length over time": lambda: t.get_queue_length_time_series(ranks=ranks),
        "memory bandwidth": lambda: t.get_memory_bw_summary(ranks=ranks),
        "memory bandwidth over time": lambda: t.get_memory_bw_time_series(ranks=ranks),
    }


def plain(value):
    """Rows are sorted and without HTA's numbers of events: both follow the order of the file. Numbers are floats."""
    if hasattr(value, "to_dict"):
        frame = value.reset_index(drop=value.index.names == [None])
        frame = frame[[column for column in frame.columns if not str(column).startswith("index")]]
        return sorted(([plain(each) for each in row] for row in frame.itertuples(index=False)), key=repr)
    if isinstance(value, dict):
        return [[str(key), plain(each)] for key, each in value.items()]
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    try:
        return float(f"{float(value):.9g}")  # sums depend on the order, too
    except (TypeError, ValueError):
        return str(value)


def main():
    try:
        analysis = TraceAnalysis(trace_dir=sys.argv[1], include_last_profiler_step=len(sys.argv) > 2)
    except Exception as error:  # HTA's own: of any kind
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        sys.exit(3)
    ranks = sorted(analysis.t.traces)
    found = {"ranks": ranks}
    for name, table in tables(analysis, ranks).items():
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                found[name] = plain(table())
        except Exception as error:
            found[name] = f"{type(error).__name__}"
    json.dump(found, sys.stdout)


main()
