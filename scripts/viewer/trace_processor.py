#!/usr/bin/env python3
"""Perfetto's trace processor as a command, for machines that have no trace_processor_shell: the one in Perfetto's UI,
in headless Chromium. Answers as that one does, as CSV.

  trace_processor.py -Q 'select count(*) from slice' run.pftrace      -q FILE reads the query from a file
"""
import argparse
import os
import sys

import viewers


def cell(value):
    if value is None:
        return '"[NULL]"'
    if isinstance(value, list):
        return value[1]
    return '"' + value.replace('"', '""') + '"' if isinstance(value, str) else str(value)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    query = parser.add_mutually_exclusive_group(required=True)
    query.add_argument("-Q", "--query-string", metavar="SQL")
    query.add_argument("-q", "--query-file", metavar="FILE", type=argparse.FileType(encoding="utf-8"))
    parser.add_argument("trace", type=os.path.abspath)
    options = parser.parse_args()
    if viewers.missing():
        sys.exit(f"no {viewers.missing()}: scripts/setup.sh --viewer fetches them")
    with viewers.Perfetto(options.trace) as viewer:
        names, rows = viewer.table(options.query_string or options.query_file.read())
    for row in [names, *rows]:
        print(",".join(map(cell, row)))


if __name__ == "__main__":
    sys.exit(main())
