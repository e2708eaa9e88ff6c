"""The options of gpu_check, and the parts that they choose."""
import argparse
import os
import sys

import pack
from table import PARTS

LIMIT_S = 480


def parse(arguments, description):
    parser = argparse.ArgumentParser(prog="gpu_check", description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="name the parts, what they do, need and take, and end")
    parser.add_argument("--only", metavar="NAME,...", help="these parts instead of all, in this order")
    parser.add_argument("--simulate", action="store_true", help="against the stand-ins of a build: no GPU is needed")
    parser.add_argument("--no-skips", action="store_true", help="a part that is skipped fails")
    parser.add_argument("--limit", type=int, default=LIMIT_S, metavar="S", help=f"seconds for each part ({LIMIT_S})")
    parser.add_argument("--within", type=int, metavar="S", help="seconds for all: a part that has no time left is skipped")
    parser.add_argument("--pack", metavar="FILE", type=os.path.abspath,
                        help=f"results and evidence in one tar.gz of at most {pack.MOST_BYTES >> 20} MiB, after each part anew")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--dist", metavar="DIR", help="where libagent.so and tracetool are (beside gpu_check.sh)")
    where.add_argument("--build", metavar="DIR", help="a build of the checkout instead (build/)")
    parser.add_argument("-o", "--output", default=os.path.abspath("gpu_check_results"), metavar="DIR", type=os.path.abspath,
                        help="where results.json, results.md and what the parts left are written (gpu_check_results)")
    parser.add_argument("--run-here", help=argparse.SUPPRESS)  # one part, in this process
    parser.error = lambda message: (print(f"gpu_check: {message}; --help says more", file=sys.stderr), sys.exit(1))
    return parser, parser.parse_args(arguments)


def choose(parser, only):
    if only is None:
        return PARTS
    names = only.split(",")
    unknown = set(names) - {row.name for row in PARTS}
    if unknown:
        parser.error(f"there is no part {', '.join(sorted(unknown))}: {', '.join(row.name for row in PARTS)}")
    return [row for name in names for row in PARTS if row.name == name]


def show_list():
    for row in PARTS:
        print(f"{row.name:13} {row.minutes:2} min  needs {', '.join(row.needs)}{', simulated' if row.simulated else ''}: "
              f"{row.what}")
