#!/usr/bin/env python3
"""A picture of a trace in Perfetto's UI: every process open, a window of time, one kernel selected with its arrow; or of a report,
from one of its sections on.

  picture.py run.pftrace -o picture.png --like 'ncclDevKernel%' --window-us 3000
  picture.py report.html -o picture.png --section timeline --size 1180x860

The slice is the longest whose name is --like, and which has an arrow; the window is around its middle.
"""
import argparse
import os
import sys

import viewers
from chromium import find_chromium
from report_page import ReportPage

OPEN = """new Promise(done => setTimeout(() => {
  for (const track of app.trace.workspaces.currentWorkspace.flatTracks) track.expand();
  done(true);
}, 3000))"""
LOOK = """new Promise(done => {
  app.trace.selection.selectSqlEvent('slice', %d, {scrollToSelection: true});
  const at = BigInt('%d'), wide = BigInt('%d');
  app.trace.scrollTo({time: {start: at - wide / 2n, end: at + wide / 2n, behavior: 'focus'}});
  setTimeout(() => done(true), 4000);
})"""
SLICE = """select id, ts + dur / 2 from slice where name like '%s' and id in (select slice_in from flow)
  order by dur desc limit 1"""


def take_of_report(options, size):
    if not find_chromium():
        sys.exit("no Chromium: scripts/setup.sh --viewer fetches it")
    with ReportPage(options.trace, size, options.scheme) as page:
        if options.section:
            page.js(f"document.getElementById('{options.section}').scrollIntoView()")
        page.frame()
        page.picture(options.output)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", type=os.path.abspath)
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--like", default="%")
    parser.add_argument("--window-us", type=int, default=3000)
    parser.add_argument("--size", default="1500x900", help="WIDTHxHEIGHT")
    parser.add_argument("--section", help="of a report (default: its head)")
    parser.add_argument("--scheme", choices=("light", "dark"), default="light", help="of a report")
    options = parser.parse_args()
    width, height = map(int, options.size.split("x"))
    if options.trace.endswith(".html"):
        return take_of_report(options, (width, height))
    if viewers.missing():
        sys.exit(f"no {viewers.missing()}: scripts/setup.sh --viewer fetches them")
    with viewers.Perfetto(options.trace, width=width, height=height) as viewer:
        found = viewer.rows(SLICE % options.like.replace("'", "''"))
        if not found:
            sys.exit(f"{options.trace}: no slice like {options.like} that an arrow leads to")
        viewer.page.js(OPEN)
        viewer.page.js(LOOK % (*found[0], options.window_us * 1000))
        viewer.page.picture(options.output)


if __name__ == "__main__":
    sys.exit(main())
