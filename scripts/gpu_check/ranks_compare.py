"""What ranks asked of NCCL against what was recorded of it. Plain functions."""
from collections import defaultdict, namedtuple

# communicator and ordinal as recorded; bytes in NCCL's own sense.
Call = namedtuple("Call", "communicator op bytes ordinal")


def issued_by_group(calls):
    """{group: [(op, bytes), ...]} in the order of the calls, from [[group, op, bytes], ...]."""
    groups = defaultdict(list)
    for group, op, size in calls:
        groups[group].append((op, size))
    return dict(groups)


def recorded_calls(recording):
    """The collectives of a recording, in the order of their times. Sends and receives are not among them."""
    calls = [event for event in recording.events if event.kind == "nccl_call" and event.nccl_class == 1]
    return [Call(call.communicator, call.name, call.bytes, call.ordinal) for call in sorted(calls, key=lambda call: call.time)]


def by_communicator(calls):
    """{communicator: [(op, bytes), ...]} by ordinal."""
    found = defaultdict(list)
    for call in sorted(calls, key=lambda call: (call.communicator or 0, call.ordinal or 0)):
        found[call.communicator].append((call.op, call.bytes))
    return dict(found)


def ordinal_gaps(calls):
    """{communicator: its ordinals} where these are not 0, 1, 2, ... or 1, 2, 3, ..., each once."""
    ordinals = defaultdict(list)
    for call in calls:
        ordinals[call.communicator].append(call.ordinal)
    return {communicator: found for communicator, found in ordinals.items() if not is_counted(found)}


def is_counted(ordinals):
    if None in ordinals:
        return False
    first = min(ordinals)
    return first in (0, 1) and sorted(ordinals) == list(range(first, first + len(ordinals)))


def different(issued, recorded):
    """None where each group of a rank is one communicator with the same calls in the same order; else what differs, short."""
    wanted, seen = sorted(issued.values()), sorted(recorded.values())
    if wanted == seen:
        return None
    if len(wanted) != len(seen):
        return f"{len(wanted)} groups asked, {len(seen)} communicators recorded, of {list(map(len, seen))} calls"
    for asked, found in zip(wanted, seen):
        if asked != found:
            return first_difference(asked, found)
    return None


def first_difference(asked, found):
    if len(asked) != len(found):
        return f"{len(asked)} calls asked, {len(found)} recorded"
    at = next(i for i, pair in enumerate(zip(asked, found)) if pair[0] != pair[1])
    return f"call {at}: asked {asked[at]}, recorded {found[at]}"


def ranks_differ(of_ranks):
    """None where every rank has the same communicators with the same calls by ordinal; else the rank that differs from the
    first. (Ranks that belong to other groups differ by right: for jobs with one group.)"""
    for rank, found in enumerate(of_ranks):
        if found != of_ranks[0]:
            return f"rank {rank}"
    return None
