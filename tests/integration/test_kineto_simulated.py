#!/usr/bin/env python3
"""The Kineto profiles of a simulated training against what really happened: how the time of each GPU passed, computed
slowly from the JSON; each work joined to one call as Kineto's readers join them; steps and arrows.

  test_kineto_simulated.py --agent PATH --simulated PATH --tracetool PATH
"""
import collections
import os

from gpu_time import WORK, gaps, profile_work, shares, true_work
from harness import Folder, arguments, check, finish, first
from kineto_files import load
from simulated_profiles import STEPS, profiles, same

STREAM_WAIT_EVENT = 2  # CUpti_ActivitySynchronizationType
LAUNCH_TYPES = {"regular": 0, "cooperative": 1}
CALLS = ("cuda_runtime", "cuda_driver")


def check_times(rank, events, truth):
    found = profile_work(events)
    check(len(found) == len(truth), f"rank {rank}: all {len(truth)} pieces of work are in the profile", len(found))
    check(same(shares(found), shares(truth)), f"rank {rank}: {shares(truth)} ns", shares(found))
    check(same(gaps(found), gaps(truth)), f"rank {rank}: between the work of its streams {gaps(truth)} ns", gaps(found))


def check_joins(rank, events):
    """HTA joins by equal correlations, and has work twice that finds two."""
    calls, works, others = (collections.Counter() for _ in range(3))
    for event in (each for each in events if each["ph"] == "X"):
        to = calls if event["cat"] in CALLS else works if event["cat"] in WORK else others
        correlation = event.get("args", {}).get("correlation")
        if correlation is not None and event["cat"] != "cuda_sync":
            to[correlation] += 1
    twice = [each for each, count in calls.items() if count > 1]
    check(works and not twice and not works.keys() - calls.keys(), f"rank {rank}: {len(works)} launches have one call each",
          lambda: f"{first(twice)}; {first(works.keys() - calls.keys())}")
    check(not others, f"rank {rank}: nothing else names their correlation", first(others))
    arrows = collections.Counter((event["ph"], event["id"]) for event in events if event.get("cat") == "ac2g")
    wanted = collections.Counter([("s", each) for each in works] + [("f", each) for each in works.elements()])
    check(arrows == wanted, f"rank {rank}: an arrow to each work", lambda: first((arrows - wanted) + (wanted - arrows)))


def check_waits(rank, events, truth):
    """What HTA's critical path goes by: each wait of a stream names the call, and the stream, that recorded its event."""
    streams = {line["correlation"]: line["stream"] for line in truth.of("cuda_event")}
    wanted = {line["correlation"]: (line["stream"], line["event"], line["record"], streams.get(line["record"], -1))
              for line in truth.of("sync") if line["type"] == STREAM_WAIT_EVENT}
    waits = [event["args"] for event in events if event.get("cat") == "cuda_sync" and event["name"] == "Stream Wait Event"]
    found = {args["correlation"]: (args["stream"], args["wait_on_cuda_event_id"], args["wait_on_cuda_event_record_corr_id"],
                                   args["wait_on_stream"]) for args in waits}
    check(wanted and found == wanted, f"rank {rank}: {len(wanted)} waits of streams lead to what they wait for",
          lambda: first(found.items() ^ wanted.items()))
    times = collections.Counter(wait[1] for wait in wanted.values())
    check(times and min(times.values()) > 1, f"rank {rank}: each event is recorded again and again", times)
    calls = {event["args"]["correlation"]: event["args"] for event in events
             if event.get("cat") == "cuda_runtime" and event["name"] == "cudaEventRecord"}
    check(all(calls[wait[2]]["event_id"] == wait[1] and calls[wait[2]]["event_stream"] == wait[3]
              for wait in wanted.values() if wait[2] in calls) and {wait[2] for wait in wanted.values()} <= calls.keys(),
          f"rank {rank}: their calls are there, with event and stream", lambda: first(calls.items()))


def check_kernels(rank, events, truth):
    """Clusters, cooperation, local memory and the priority of the stream, as they were."""
    priority = {(line["context"], line["stream"]): line["priority"] for line in truth.of("stream")}
    wanted = {line["correlation"]: (line["local"], line["cluster"], line["launch_type"],
                                    priority.get((line["context"], line["stream"])))
              for line in truth.of("kernel")}
    found = {args["correlation"]: (args.get("local memory per thread", 0), args.get("cluster", [0, 0, 0]),
                                   LAUNCH_TYPES[args.get("launch type", "regular")], args.get("priority"))
             for args in (event["args"] for event in events if event.get("cat") == "kernel")}
    check(found == wanted, f"rank {rank}: {len(wanted)} kernels as they were launched",
          lambda: first([(each, found.get(each), wanted[each]) for each in wanted if found.get(each) != wanted[each]]))
    for at, what in enumerate(("local memory", "clusters", "cooperation", "a priority")):
        check(len({str(each[at]) for each in wanted.values()}) > 1, f"rank {rank}: some have {what}")


def check_steps(rank, events):
    made = [e for e in events if e["name"].startswith("ProfilerStep#")]
    own = [e for e in events if e["name"].startswith("Train step ")]
    places = [[(e["ts"], e["dur"], e["pid"], e["tid"]) for e in each] for each in (made, own)]
    check(len(made) == STEPS and places[0] == places[1], f"rank {rank}: its {STEPS} steps are ProfilerSteps", places)


def main():
    options = arguments("agent", "simulated", "tracetool")
    with Folder() as folder:
        made = profiles(options, folder)
        if made is None:
            finish()
        for truth in made[1]:
            rank = truth.rank
            _, events = load(os.path.join(made[0], f"rank{rank}.pt.trace.json.gz"))
            check_times(rank, events, true_work(truth))
            check_joins(rank, events)
            check_waits(rank, events, truth)
            check_kernels(rank, events, truth)
            check_steps(rank, events)
    finish()


main()
