"""The table `critical_path` of `tracetool analyze`, the slow way: by the rules of cli/answers/tables/path_walk.h, each answered by a look at all
work and all calls of the rank."""
import bisect
from collections import Counter, namedtuple

import slow_classes
import slow_idle
import slow_tables
from slow_tables import ns

LATENCY_NS = 30_000
EVER = 2**62
LAUNCHES = slow_idle.is_launch
RANGES = {"cpu_op": 0, "Operator": 0, "user_annotation": 1}  # in the order of those that start and end together
ALL_DEPEND = ("AllReduce", "AllGather", "ReduceScatter")

# `order`: of the rank's work, by start. `launched`: when, as far as it is known. `call`: of slow_idle; None: unknown.
Work = namedtuple("Work", "rank order device stream start end name klass call launched")
Segment = namedtuple("Segment", "start end klass rank name")


class Rank:
    """One process. `steps`: [(start, end, number)] of its ranges; `ranges`: [(thread, start, end, name)] of operators and ranges, those
    that enclose others first; `event_waits`: [(stream, when it was called, stream of the event, correlation of the call that recorded it)]."""

    def __init__(self, rank, work, streams, klasses, calls, steps, ranges=(), event_waits=()):
        self.rank, self.steps = rank, steps
        process = slow_idle.Process(work, calls)
        self.work, launched = [], -EVER
        for order, (each, stream, klass) in enumerate(zip(work, streams, klasses)):
            call = process.call[id(each)]
            launched = call.start if call else launched if calls else each.start
            self.work.append(Work(rank, order, each.device, stream, each.start, each.end, each.name, klass, call, launched))
        if steps:  # what is launched behind the last step is not looked at
            self.work = [each for each in self.work if each.launched < steps[-1][1]]
        self.waits = process.waits
        self.event_waits = []
        for stream, called, of_event, correlation in event_waits:
            recorded = [call for call in process.of_correlation.get(correlation, []) if call.start <= called]
            if recorded:
                self.event_waits.append((stream, called, of_event, recorded[-1].start))
        self.calls = {}  # of each thread, the driver's within the runtime's left out
        for call in calls:
            of_thread = self.calls.setdefault(call.thread, [])
            if not (of_thread and call.start < of_thread[-1].end):
                of_thread.append(call)
        self.ranges, self.known, self.longest = {}, {}, {}
        for thread, *each in ranges:
            self.ranges.setdefault(thread, []).append(each)

    def before(self, work):
        """Of what began before it on its stream what ended last."""
        if not self.longest:
            last = {}
            for each in self.work:
                self.longest[each.order] = last.get(each.stream)
                if each.stream not in last or each.end >= last[each.stream].end:
                    last[each.stream] = each
        return self.longest[work.order]

    def awaited_by(self, work):
        """What it waited for by events that its stream was told to wait for since the launch before."""
        if not work.call or not self.event_waits:
            return None
        older = [each for each in self.work if each.stream == work.stream and each.order < work.order][-1:]
        since = older[0].call.start if older and older[0].call else -EVER
        found = []
        for stream, called, of_event, recorded in self.event_waits:
            if stream == work.stream and since < called < work.call.start:
                before = [each for each in self.work if each.stream == of_event and (each.call or each).start < recorded]
                last = max(before, key=lambda each: (each.end, each.order), default=None)
                if last and last.end <= work.start and last.order < work.order:
                    found.append(last)
        return max(found, key=lambda each: (each.end, each.order), default=None)

    def pieces(self, thread):
        """[(start, end, class, name)] of what the thread was in, one after the other; name None: in nothing."""
        if thread not in self.known:
            calls, ranges = self.calls.get(thread, []), self.ranges.get(thread, [])
            starts, ends = {}, {}
            for order, (start, end, name, is_call) in enumerate([(*each, False) for each in ranges] + [(each.start, each.end, each.name, True) for each in calls]):
                starts.setdefault(start, []).append((is_call, start, order, name, end))
                ends.setdefault(end, []).append((is_call, start, order, name, end))
            times, inside, found = sorted({*starts, *ends}), set(), []
            for start, end in zip(times, times[1:]):
                inside = inside.union(starts.get(start, [])).difference(ends.get(start, []))
                is_call, _, _, name, _ = max(inside, default=(False, None, None, None, None))
                what = "launch" if is_call and LAUNCHES(name) else "host"
                if found and found[-1][2:] == (what, name, is_call):
                    found[-1] = found[-1][0], end, what, name, is_call
                else:
                    found.append((start, end, what, name, is_call))
            self.known[thread] = [each[:4] for each in found]
        return self.known[thread]

    def inside(self, thread, time):
        """(start, class, name) of what the thread was in just before this time; None: it had not begun."""
        pieces = self.pieces(thread)
        at = bisect.bisect_left(pieces, (time,)) - 1
        if at < 0:
            return None
        start, end, klass, name = pieces[at]
        return (start, klass, name) if time <= end else (end, "host", None)

    def ended_by(self, time, work=None):
        """Of what ended by then: the last; of the device of `work` and begun before that, or begun before then."""
        fits = lambda each: (each.device == work.device and each.order < work.order) if work else each.start < time
        return max((each for each in self.work if each.end <= time and fits(each)), key=lambda each: (each.end, each.order), default=None)

    def wait_by(self, time):
        return max((each for each in self.waits if each.end <= time and each.start < time), key=lambda each: (each.end, each.start), default=None)


def of_kineto(rank, events, rules, found=()):
    """A Rank. `found`: its steps where no range names them."""
    for event in events:  # a copy between two devices names both, and is work of the first
        args = event.get("args", {})
        if "fromDevice" in args:
            args.setdefault("device", args["fromDevice"])
    work, calls = slow_idle.of_kineto(events)
    streams = [each.device for each in slow_idle.of_kineto(events, of="stream")[0]]
    kinds = {(each.start, each.end, each.name): each for each in slow_tables.of_kineto(events)}
    klasses = [slow_classes.class_of(kinds[each.start, each.end, each.name], rules) for each in work]
    spans_ = [(e["pid"], e["tid"], ns(e["ts"]), ns(e["ts"]) + ns(e["dur"]), e["name"], e["cat"]) for e in events
              if e.get("cat") in RANGES and e.get("ph") == "X" and "dur" in e]
    spans_.sort(key=lambda each: (each[2], -each[3], RANGES[each[5]]))
    steps = sorted({(start, end, int(name.split("#")[1])) for _, _, start, end, name, _ in spans_ if name.startswith("ProfilerStep#")}) or list(found)
    return Rank(rank, work, [(each.device, stream) for each, stream in zip(work, streams)], klasses, calls, steps,
                [((pid, tid), start, end, name) for pid, tid, start, end, name, _ in spans_], event_waits(events))


def event_waits(events):
    """In the order of calls, as Rank takes them."""
    found = []
    for event in events:
        args = event.get("args", {})
        if event.get("cat") == "cuda_sync" and event["name"] == "Stream Wait Event" and args.get("wait_on_cuda_event_record_corr_id", 0) > 0:
            device = int(args["device"])
            found.append(((device, int(args["stream"])), ns(event["ts"]), (device, int(args["wait_on_stream"])), int(args["wait_on_cuda_event_record_corr_id"])))
    return sorted(found, key=lambda each: each[1])


def of_truth(rank, rules):
    """The same, of what a simulated run did, on the true clock, which all ranks share. Communication is what NCCL launched."""
    work, calls = slow_idle.of_truth(rank, clock="")
    lines = sorted(rank.of("kernel", "memcpy", "memcpy_peer", "memset"), key=lambda line: slow_idle.ordered(line["kind"], line["start"], line["end"]))
    kind = lambda line: "comm" if "communicates" in line else "compute" if line["kind"] == "kernel" else "memory"
    klasses = [slow_classes.class_of(slow_tables.Work(None, 0, 0, kind(line), line.get("name", ""), None), rules) for line in lines]
    ranges, open_ranges = [], {}
    for line in sorted(rank.of("nvtx_push", "nvtx_pop"), key=lambda line: line["seq"]):
        stack = open_ranges.setdefault((line["tid"], line["domain"]), [])
        if line["kind"] == "nvtx_push":
            stack.append(line)
        elif stack:
            push = stack.pop()
            ranges.append((push["tid"], push["time"], line["time"], push["name"]))
    ranges.sort(key=lambda each: (each[1], -each[2]))
    steps = [(start, end, int(name.split()[2])) for _, start, end, name in ranges if name.startswith("Train step ")]
    return Rank(rank.rank, work, [(line["device"], line["stream"]) for line in lines], klasses, calls, steps, ranges)


def meetings_from_the_end(ranks):
    """{work: works of its collective}: the last kernels of NCCL of all ranks are the same collective, and so on back."""
    calls = [[each for each in rank.work if each.klass == "communication"] for rank in ranks]
    count = min(len(each) for each in calls)
    together = zip(*(each[len(each) - count:] for each in calls)) if count else ()
    return {each: some for some in together if any(word in some[0].name for word in ALL_DEPEND) for each in some}


def spans(ranks):
    """[(number or None, begin, end, its last work)] of the chosen ranks."""
    found = []
    numbers = sorted({number for rank in ranks for _, _, number in rank.steps})
    for number in numbers:
        begin, before, inside = EVER, -EVER, []
        for rank in ranks:
            for start, end, own in rank.steps:
                if own != number:
                    continue
                begin = min(begin, start)
                before = max([before, *(each.end for each in rank.work if each.launched < start)])
                inside += [each for each in rank.work if start <= each.launched < end]
        begin = before if before > -EVER else begin
        last = max(inside, key=lambda each: (each.end, -each.rank, -each.order), default=None)
        if last and last.end > begin:
            found.append((number, begin, last.end, last))
    if not numbers:
        work = [each for rank in ranks for each in rank.work]
        if work:
            last = max(work, key=lambda each: (each.end, -each.rank, -each.order))
            found.append((None, min(each.start for each in work), last.end, last))
    return [each for each in found if each[2] > each[1]]


class Walk:
    def __init__(self, ranks, meetings, span):
        self.ranks, self.meetings = {rank.rank: rank for rank in ranks}, meetings
        self.segments, self.inferred = [], 0
        _, self.begin, self.now, work = span
        while work and self.now > self.begin:
            work = self.in_work(work)
        self.hold("unexplained", self.begin, span[3].rank)

    def hold(self, klass, start, rank, name=None):
        start = min(self.now, max(start, self.begin))
        if start < self.now:
            self.segments.append(Segment(start, self.now, klass, rank, name))
        self.now = start

    def in_work(self, work):
        some = self.meetings.get(work)
        if some:
            last = max(some, key=lambda each: (each.start, -each.rank))
            if last.start < self.now:
                self.hold(work.klass, last.start, None, work.name)
                last = max((each for each in some if each.rank in self.ranks), key=lambda each: (each.start, -each.rank))
                self.hold("unexplained", last.start, last.rank)
                return self.at_start(last)
        self.hold(work.klass, work.start, work.rank, work.name)
        return self.at_start(work)

    def at_start(self, work):
        if self.now <= self.begin:
            return None
        rank, start, call = self.ranks[work.rank], self.now, work.call
        before = rank.before(work)
        known = None  # (when it was done, the work; of a call None)
        if before:
            known = min(before.end, start), before
        if call and (not before or before.end <= call.start):
            known = min(call.end, start), None
        awaited = rank.awaited_by(work)
        if awaited and (not known or awaited.end > known[0]):
            known = awaited.end, awaited
        if known and start - known[0] <= LATENCY_NS:
            self.hold("queued", known[0], work.rank)
        else:
            other = rank.ended_by(start, work)
            if other and (not known or other.end > known[0]):
                known = other.end, other
                near = start - other.end <= LATENCY_NS
                self.inferred += near
                self.hold("queued" if near else "unexplained", other.end, work.rank)
            elif known:
                self.hold("unexplained", known[0], work.rank)
            else:
                return None
        if self.now <= self.begin:
            return None
        if known[1]:
            return known[1]
        self.hold("launch", call.start, work.rank, call.name)
        return self.on_host(rank, call.thread)

    def on_host(self, rank, thread):
        while self.now > self.begin:
            wait = rank.wait_by(self.now)
            self.in_calls(rank, thread, wait.end if wait else self.begin)
            if not wait:
                return None
            awaited = rank.ended_by(wait.end)
            if awaited and awaited.end > wait.start:
                self.hold("sync", awaited.end, rank.rank, wait.name)
                return awaited
            self.hold("sync", wait.start, rank.rank, wait.name)
            thread = wait.thread
        return None

    def in_calls(self, rank, thread, since):
        since = max(since, self.begin)
        while self.now > since:
            found = rank.inside(thread, self.now)
            if not (found and found[2]):
                threads = sorted({*rank.calls, *rank.ranges}, key=lambda each: int(each[1]) if isinstance(each, tuple) else each)
                others = {each: inside for each in threads if (inside := rank.inside(each, self.now))}
                busy = [each for each in others if others[each][2]]
                if busy:
                    thread = max(busy, key=lambda each: others[each][0])
                    continue
                found = max((inside[0] for inside in others.values()), default=since), "host", None
            self.hold(found[1], max(found[0], since), rank.rank, found[2])


def tables(ranks, meetings):
    """Of the chosen ranks, which met in `meetings` with others: rows as the table has them, of all and by step, in its order but for
    ties; and how many starts were inferred."""
    found, inferred = [], 0
    for span in spans(ranks):
        walk = Walk(ranks, meetings, span)
        assert sum(each.end - each.start for each in walk.segments) == span[2] - span[1]
        found.append((span, walk.segments))
        inferred += walk.inferred
    whole = sums([each for _, segments in found for each in segments])
    return whole, [{"step": span[0], **row} for span, segments in found for row in sums(segments)], inferred


def sums(segments):
    groups, whole = {}, sum(each.end - each.start for each in segments)
    for each in segments:
        groups.setdefault((each.rank, each.klass), []).append(each)
    rows_ = []
    for (rank, klass), some in groups.items():
        names = Counter()
        for each in some:
            names[each.name] += each.end - each.start
        time = sum(names.values())
        rows_.append({"rank": rank, "class": klass, "time_ns": time, "share_pct": 100.0 * time / whole, "segments": len(some),
                      "top_ns": max(names.values())})
    return sorted(rows_, key=lambda row: (-row["time_ns"], row["rank"] is not None, row["rank"] or 0))
