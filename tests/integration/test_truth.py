#!/usr/bin/env python3
"""With a ring that is large enough a recording is the truth: nothing missing, nothing added, nothing changed."""
import copy
import os

from compare import kind_of, match, ranges_differ
from compare_definitions import definitions_differ
from harness import Folder, arguments, check, finish, first
from truth import ALL_CUPTI_KINDS, CUPTI_KINDS, HOST_KINDS, load, recordings, train

RANKS, STEPS, RING = 8, 20, "32M"
WAITS = ("sync", "cuda_event", "overhead")  # what `default` adds to the kinds of every training
NO_EVENT = 0xFFFFFFFF
SUBSCRIBERS = 130300  # cuptiGetVersion of 13.3, the first with several subscribers
EVERYTHING = ("--graphs", "--groups", "--p2p", "--copy-engine", "--comms", 2, "--nvtx", "--memory")


def check_events(rank, recording, found):
    name = f"rank {rank.rank}"
    check(not found.missing, f"{name}: 0 of {len(rank.lines)} missing", lambda: first(found.missing))
    check(not found.extra, f"{name}: 0 extra or changed", lambda: first(found.extra))
    check(not ranges_differ(found.pairs), f"{name}: range ids join starts and ends", ranges_differ(found.pairs))
    calls = [(line, event) for line, event in found.pairs if line["kind"] == "overhead"
             and line["correlation"] != event.correlation]
    check(not calls, f"{name}: overhead has its call", lambda: first(calls))
    wrong = [(line, recording.awaited(event)) for line, event in found.pairs if line["kind"] == "sync"
             and event.event != NO_EVENT and line["record"] != getattr(recording.awaited(event), "correlation", 0)]
    check(not wrong, f"{name}: each wait for an event leads to the call that recorded it", lambda: first(wrong))
    lost = {"lost": recording.lost, "overwritten": recording.overwritten, "unknown": recording.unknown,
            "dropped": recording.dropped, "skipped": recording.blocks_skipped,
            "activities": recording.header["unknown_activities"]}
    check(not any(lost.values()), f"{name}: nothing is counted as lost", lost)
    for what, differences in definitions_differ(rank, recording, found.pairs).items():
        check(not differences, f"{name}: the {what} (recorded, true)", lambda: first(differences, 3))


def check_identity(rank, recording, communicators):
    header, identity = recording.header, recording.identity
    said = (identity["rank"], identity["world_size"], header["host"], header["boot_id"],
            {i.communicator for i in recording.identities if i.communicator})
    true = (rank.rank, RANKS, rank.clock["host"], rank.clock["boot_id"], communicators)
    check(said == true, f"rank {rank.rank}: rank, world size, host, boot id and communicator", f"{said}, not {true}")
    check(recording.state == "clean", f"rank {rank.rank}: closed cleanly", recording.state)


def check_clocks(rank, recording):
    """The agent's own clock records: read together, in order, and on the host's clocks as the truth has them."""
    reads = [event for event in recording.events if event.kind == "clock"]
    ordered = all(a.mono_ns < b.mono_ns and a.cupti_ns < b.cupti_ns for a, b in zip(reads, reads[1:]))
    near = all(event.uncertainty_ns < 50_000_000 for event in reads)
    check(reads and ordered and near, f"rank {rank.rank}: clock records are in order and near each other", reads)
    # CUPTI's stand-in tells CLOCK_REALTIME of the simulated host.
    off = [e for e in reads if abs(e.cupti_ns - e.real_ns) > e.uncertainty_ns + 1_000_000]
    check(not off, f"rank {rank.rank}: CUPTI's clock and the wall clock of a sample agree", first(off))
    ahead = rank.clock["mono"] - rank.clock["time"] - rank.clock["offset_ns"]
    far = [e for e in reads if abs((e.mono_ns - e.real_ns) - ahead) > 5_000_000]
    check(not far, f"rank {rank.rank}: the two host clocks of a sample are as far apart as they are", first(far))


def check_collectives(matches):
    """(communicator, epoch, class, ordinal) names one and the same collective on every rank."""
    names, numbers = {}, {}
    for found in matches:
        for line, event in found.pairs:
            if line["kind"] == "nccl_call":
                if "collective" not in line:
                    continue
                key = (event.communicator, event.epoch, event.nccl_class, event.ordinal)
                number = (line["communicator"], line["collective"])
                names.setdefault(number, set()).add(key)
                numbers.setdefault(key, set()).add(number)
    wrong = [each for each in [*names.items(), *numbers.items()] if len(each[1]) != 1]
    check(names and not wrong, f"{len(names)} collectives have one name each on all ranks", first(wrong))


def check_comparison(rank, recording):
    """The comparison itself notices what is taken away, added or changed."""
    for kind in ALL_CUPTI_KINDS + HOST_KINDS:
        at = next((i for i, e in enumerate(recording.events) if kind_of(e.kind) == kind), None)
        if at is None:
            continue
        events, event = recording.events, recording.events[at]
        field = "stream" if kind == "cuda_event" else "end" if kind in ALL_CUPTI_KINDS else "tid"
        changed = event._replace(**{field: getattr(event, field) + 1})
        noticed = (match(rank, events[:at] + events[at + 1:])[1:], match(rank, events + [event])[1:],
                   match(rank, events[:at] + [changed] + events[at + 1:])[1:])
        sizes = [tuple(map(len, each)) for each in noticed]
        check(sizes == [(1, 0), (0, 1), (1, 1)],
              f"the comparison notices a {kind} that is gone, double or changed", sizes)


def without_one(found):
    """A list or dict without its first; of graph nodes, one that was captured and is worked for."""
    if isinstance(found, list):
        return found[1:]
    gone = next(key for key, each in found.items() if not getattr(each, "captured_node", 0))
    return {key: each for key, each in found.items() if key != gone}


def check_definitions(rank, recording):
    """The comparison of definitions notices what is gone."""
    pairs = match(rank, recording.events).pairs
    for name in ("devices", "contexts", "streams", "resource_names", "categories", "communicators", "graph_nodes"):
        less = copy.copy(recording)
        setattr(less, name, without_one(getattr(recording, name)))
        noticed = [what for what, differences in definitions_differ(rank, less, pairs).items() if differences]
        check(len(noticed) == 1, f"the comparison notices that one of the {name} is gone", noticed)


def check_job(options, what, *more, kinds=CUPTI_KINDS + HOST_KINDS + WAITS, **environment):
    print(f"-- {what}")
    with Folder() as folder:
        done = train(options, folder, "--ranks", RANKS, "--steps", STEPS, "--ring-bytes", RING, *more, **environment)
        check(done.returncode == 0 and not done.stderr, "the training ends well and says nothing", done)
        ranks, found = load(os.path.join(folder, "truth")), recordings(folder)
        check(sorted(found) == sorted(rank.pid for rank in ranks), "one recording per rank", sorted(found))
        total = sum((rank.counts() for rank in ranks), type(ranks[0].counts())())
        check(all(total[kind] for kind in kinds), "every kind happened", total)
        ranks = [rank for rank in ranks if rank.pid in found]
        matches = [match(rank, found[rank.pid].events) for rank in ranks]
        worlds = {line["communicator"] for rank in ranks for line in rank.of("nvtx_pop")
                  if line.get("init") == "ncclCommInitRank"}
        for rank, each in zip(ranks, matches):
            check_events(rank, found[rank.pid], each)
            check_identity(rank, found[rank.pid], worlds)
            check_clocks(rank, found[rank.pid])
        check_collectives(matches)
        return ranks[0], found[ranks[0].pid]


def main():
    options = arguments("agent", "simulated")
    rank, recording = check_job(options, "one host")
    check_comparison(rank, recording)
    check_job(options, "two hosts whose clocks differ", "--hosts", 2, "--clock-offset-us", 50_000, "--drift-ppm", 50)
    check_job(options, "graphs, groups, send and receive, split communicators, all of NVTX", *EVERYTHING)
    graphless = [kind for kind in ALL_CUPTI_KINDS if kind != "graph_launch"]
    rank, recording = check_job(options, "the same, every kind of event", *EVERYTHING, kinds=graphless + [*HOST_KINDS],
                                TRACETOOL_EVENTS="all")
    check_comparison(rank, recording)
    check_definitions(rank, recording)
    check_job(options, "the same, graphs as a whole", *EVERYTHING, kinds=[*CUPTI_KINDS, *HOST_KINDS, "graph_launch"],
              TRACETOOL_EVENTS="default,graph_launch")
    shared = {"TRACETOOL_COEXIST": "share", "SIM_CUPTI_VERSION": SUBSCRIBERS}
    check_job(options, "every kind of event, as a subscriber of CUPTI's version 2", *EVERYTHING,
              kinds=graphless + [*HOST_KINDS], TRACETOOL_EVENTS="all", **shared)
    check_job(options, "the same, graphs as a whole, a kernel that never ends", *EVERYTHING, "--hang", 5,
              kinds=[*CUPTI_KINDS, *HOST_KINDS, "graph_launch"], TRACETOOL_EVENTS="default,graph_launch", **shared)
    _, recording = check_job(options, "CUPTI of 12.5, whose waits do not name what they wait for", SIM_CUPTI_VERSION=23)
    check(not any(getattr(event, "event_sync_id", 0) for event in recording.events), "it has no ids of waits")
    check_job(options, "a kernel that never ends, and times that are wrong", "--hang", 5, SIM_CUPTI_BAD_TIMES=7,
              SIM_CUPTI_ZERO_TIMES=11)
    finish()


main()
