#!/usr/bin/env python3
"""With a ring that is too small: what is kept, overwritten, lost and dropped by CUPTI is together the truth, per kind;
what is kept is true, and it is the newest.

The newest means: the events of one writer that are kept are the last that it wrote. A host thread writes its NVTX and
NCCL events in the order of its calls. The agent's own flushing writes what CUPTI hands over, buffer by buffer.
"""
import os
from collections import defaultdict

from compare import match, totals
from harness import Folder, arguments, check, finish, first
from truth import AGENTS_OWN, ALL_CUPTI_KINDS, HOST_KINDS, load, recordings, train

WRAPS = 3


def drops(rank):
    """Of every kind, those too that become no event, as contexts and streams."""
    return sum(line.get("fate") == "dropped" for line in rank.lines)


def check_counts(name, rank, recording):
    said = totals(recording.kept + recording.overwritten + recording.lost)
    for own in AGENTS_OWN:
        del said[own]
    true = rank.counts()
    check(said == true, f"{name}: kept + overwritten + lost = truth, {dict(true)}", said)
    dropped = drops(rank)
    check(recording.dropped == dropped, f"{name}: CUPTI's {dropped} drops are counted", recording.dropped)
    wraps = recording.header["claimed_blocks"] // recording.header["block_count"] - 1
    check(wraps >= WRAPS, f"{name}: the ring wrapped {wraps} times", f"expected {WRAPS} or more")


def check_newest_of_threads(name, rank, found):
    kept, calls, wrong = {line["seq"] for line, event in found.pairs}, defaultdict(list), []
    for line in rank.of(*HOST_KINDS):
        calls[line["tid"]].append(line["seq"])
    for tid, seqs in calls.items():
        count = len(kept.intersection(seqs))
        if kept.intersection(seqs) != set(seqs[len(seqs) - count:]):
            wrong.append((tid, count))
    check(calls and not wrong, f"{name}: of {len(calls)} threads the last events are kept", first(wrong))


def check_newest_of_cupti(name, rank, recording, found):
    """The last buffers whole, in the order in which they were handed over, after the end of the one before."""
    known = {line["seq"] for line in rank.of(*ALL_CUPTI_KINDS)}
    buffers = [[seq for begin, end in handed["seqs"] for seq in range(begin, end + 1) if seq in known]
               for handed in rank.handed]
    buffers = [seqs for seqs in buffers if seqs]
    buffer_of = {seq: number for number, seqs in enumerate(buffers) for seq in seqs}
    seq_of = {id(event): line["seq"] for line, event in found.pairs if line["kind"] in ALL_CUPTI_KINDS}
    kept = defaultdict(list)  # buffer -> its kept events, oldest first, as the blocks have them
    for event in recording.events:
        if id(event) in seq_of:
            kept[buffer_of[seq_of[id(event)]]].append(seq_of[id(event)])
    order = list(kept)
    ends = [number for number in order if kept[number] != buffers[number][-len(kept[number]):]]
    check(order and not ends, f"{name}: of {len(order)} of {len(buffers)} buffers the last events are kept",
          first(ends))
    parts = [number for number in order if len(kept[number]) < len(buffers[number])]
    check(parts in ([], order[:1]), f"{name}: all of them, but for the oldest buffer", parts)
    gone = [number for number in range(len(buffers)) if number not in kept]
    whole = [number for number in order if number not in parts]
    check(max(gone, default=-1) < min(whole, default=len(buffers)), f"{name}: what is gone was handed over before",
          f"gone {gone}, whole {whole}")


def check_job(options, what, *more, **environment):
    print(f"-- {what}")
    with Folder() as folder:
        done = train(options, folder, "--ranks", 2, *more, **environment)
        check(done.returncode == 0 and not done.stderr, "the training ends well and says nothing", done)
        ranks, found = load(os.path.join(folder, "truth")), recordings(folder)
        check(sorted(found) == sorted(rank.pid for rank in ranks), "one recording per rank", sorted(found))
        for rank in ranks:
            if rank.pid not in found:
                continue
            name, recording = f"rank {rank.rank}", found[rank.pid]
            matched = match(rank, recording.events)
            check(not matched.extra, f"{name}: all {len(matched.pairs)} kept events are true",
                  lambda: first(matched.extra))
            check_counts(name, rank, recording)
            check_newest_of_threads(name, rank, matched)
            check_newest_of_cupti(name, rank, recording, matched)


def check_all_dropped(options):
    """No buffer is ever handed over; the drops are counted all the same."""
    print("-- CUPTI drops every record")
    with Folder() as folder:
        done = train(options, folder, "--ranks", 1, "--steps", 5, SIM_CUPTI_DROP_EVERY=1)
        rank = load(os.path.join(folder, "truth"))[0]
        dropped = drops(rank)
        found = recordings(folder)[rank.pid]
    check(done.returncode == 0 and dropped > 100 and found.dropped == dropped, f"all {dropped} drops are counted",
          found.dropped)


def main():
    options = arguments("agent", "simulated")
    check_all_dropped(options)
    check_job(options, "bursts through 512K", "--ring-bytes", "512K", "--steps", 10, "--burst", 4000)
    check_job(options, "bursts through 1M, CUPTI drops every 7th", "--ring-bytes", "1M", "--steps", 20, "--burst", 4000,
              SIM_CUPTI_DROP_EVERY=7)
    check_job(options, "a long training through 256K", "--ring-bytes", "256K", "--steps", 200, "--step-us", 4000)
    finish()


main()
