"""What a program said it had issued (programs/issue.h, programs/ends.py), beside what of it is in a recording."""
from collections import namedtuple

GRIDS = 61  # kGrids of issue.h: launch i has 1 + i % GRIDS blocks

# `issued`, `recorded`: launches; `tail_ms`: from when the newest recorded one had been issued to the last line of the
# file, None where nothing is recorded; `holes`: launches that are missing between recorded ones.
Survived = namedtuple("Survived", "issued recorded tail_ms holes")


def read_issued(path):
    """(pid, [(launches so far, CLOCK_REALTIME ns)]); a last line that was cut does not count."""
    with open(path, encoding="ascii") as file:
        text = file.read()
    pid, *lines = text[:text.rfind("\n") + 1].splitlines()
    return int(pid), [tuple(map(int, line.split())) for line in lines]


def survived(lines, blocks):
    """`blocks`: of each recorded launch of the loop, in the order of their correlation."""
    reached = [time_ns for count, time_ns in lines if count >= len(blocks)]
    tail_ns = max(0, lines[-1][1] - reached[0]) if reached else 0  # none: launches of the batch that was under way
    return Survived(lines[-1][0] if lines else 0, len(blocks), tail_ns / 1e6 if blocks else None, holes(blocks))


def holes(blocks):
    """How often the launch after a recorded one is not the next one."""
    return sum(after != before % GRIDS + 1 for before, after in zip([0, *blocks], blocks))
