"""TraceLens' tables of one Kineto file, as one JSON document on stdout; run by the Python that has TraceLens.

  tracelens_tables.py FILE
"""
import contextlib
import io
import json
import logging
import sys
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)

from TraceLens import TreePerfAnalyzer  # noqa: E402


def plain(value):
    try:
        return float(f"{float(value):.7g}")
    except (TypeError, ValueError):
        return str(value)


def rows(frame):
    """In no order: it follows that of the file."""
    return sorted(([plain(each) for each in row] for row in frame.itertuples(index=False)), key=repr)


def main():
    with contextlib.redirect_stdout(io.StringIO()):
        tree = TreePerfAnalyzer.from_file(sys.argv[1], add_python_func=False)
        launchers = tree.get_df_kernel_launchers()
        found = {"GPU timeline": rows(tree.get_df_gpu_timeline()),
                 "operators": rows(tree.get_df_kernel_launchers_summary(launchers)),
                 "categories": rows(tree.get_df_kernel_launchers_summary_by_category(launchers)),
                 "kernels": len(tree.get_df_kernels())}
    json.dump(found, sys.stdout)


main()
