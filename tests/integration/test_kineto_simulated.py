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
            check_steps(rank, events)
    finish()


main()
