#!/usr/bin/env python3
"""`tracetool mem` on made snapshots of PyTorch, against a slow program that unpickles and replays them (slow_snapshot.py); files that
are damaged, that contain code, or that are something else.

  test_mem.py --tracetool PATH
"""
import collections
import gzip
import json
import os
import pickle
import pickletools
import random

import slow_snapshot
from harness import Folder, arguments, check, finish, first, run
from slow_snapshot import Replay, made_snapshot, write

def tables(options, *words):
    done = run([options.tracetool, "mem", *words, "--format", "json"])
    return json.loads(done.stdout) if check(done.returncode == 0, f"mem {words[1:]}", done.stderr) else None


def in_use(found, device, key="line"):
    return {row[key]: row["bytes"] for row in found["in_use"] if row["device"] == device}


def kinds_of(seed):
    return {"times": seed % 3 != 0, "requested": seed % 7 != 6, "leak": seed % 2 * 2, "expandable": seed % 4 == 1}


def check_peaks(options, folder):
    for seed in range(14):
        snapshot = made_snapshot(seed, devices=1 + seed % 3, before=seed % 4, steps=2 + seed % 4, fails=seed % 5 == 0, **kinds_of(seed))
        path = os.path.join(folder, "peak.pickle")
        write(path, snapshot, protocol=2 + seed % 4)
        found = tables(options, path)
        for row in found["devices"]:
            device = row["device"]
            replay = Replay(snapshot, device)
            total, _, blocks, reserved = replay.peak()
            start = sum(size for size, _ in replay.start.values())
            check((row["peak_bytes"], row["reserved_peak_bytes"], row["start_bytes"], row["end_bytes"], row["reserved_end_bytes"]) ==
                  (total, reserved, start, replay.end, replay.reserved_end), f"seed {seed}, device {device}: peak, start and end", row)
            check(row["difference_bytes"] == 0, f"seed {seed}, device {device}: the sums agree", row["difference_bytes"])
            check(in_use(found, device) == slow_snapshot.by_line(blocks), f"seed {seed}, device {device}: the peak by line",
                  lambda: f"{in_use(found, device)} and not {slow_snapshot.by_line(blocks)}")
            check(row["out_of_memory"] == (seed % 5 == 0), f"seed {seed}, device {device}: failures are counted")


def check_categories(options, folder):
    seen = collections.Counter()
    for seed in range(6):
        snapshot = made_snapshot(seed, times=False)
        path = os.path.join(folder, "categories.pickle")
        write(path, snapshot)
        _, state, blocks, _ = Replay(snapshot, 0).peak()
        true = collections.Counter()
        for address, (size, _) in blocks.items():
            true[slow_snapshot.category_of(snapshot, 0, state, address)] += size
        found = in_use(tables(options, path, "--by", "category"), 0, "category")
        check(found == dict(true), f"seed {seed}: the peak by category", lambda: f"{found} and not {dict(true)}")
        seen.update(true)
    check({"gradients", "activations", "temporary", "before the history"} <= set(seen), "the categories occur", seen)


def check_phases(options, folder):
    path, seen = os.path.join(folder, "phases.pickle"), collections.Counter()
    for seed in range(6):
        snapshot = made_snapshot(seed, devices=1 + seed % 2, before=seed % 3, **kinds_of(seed))
        write(path, snapshot)
        found = tables(options, path, "--by", "phase")
        for device in range(1 + seed % 2):
            true = slow_snapshot.phases(snapshot, device)
            rows = {row["phase"]: (row["peak_bytes"], row["occurrences"]) for row in found["phases"] if row["device"] == device}
            check(rows == {phase: (peak, times) for phase, (peak, _, times) in true.items()}, f"seed {seed}, device {device}: the peak of each phase",
                  lambda: f"{rows} and not {true}")
            _, state, blocks, _ = Replay(snapshot, device).peak()
            sums = collections.Counter()
            for address, (size, frames) in blocks.items():
                before = slow_snapshot.category_of(snapshot, device, state, address) == "before the history"
                part = slow_snapshot.part_of(frames)
                sums["before the history" if before else part if part in slow_snapshot.CATEGORY else "unknown"] += size
            check(in_use(found, device, "phase") == dict(sums), f"seed {seed}, device {device}: the peak by phase",
                  lambda: f"{in_use(found, device, 'phase')} and not {dict(sums)}")
            seen.update(sums.keys())
        for phase in ("forward", "backward", "optimizer"):
            peak, state, _ = slow_snapshot.phases(snapshot, 0)[phase]
            live = [dict(blocks) for blocks, _ in Replay(snapshot, 0).states()][state]
            check(in_use(tables(options, path, "--at", f"peak:{phase}"), 0) == slow_snapshot.by_line(live), f"seed {seed}: --at peak:{phase}", peak)
    check({"forward", "backward", "before the history"} <= set(seen), "the phases occur", seen)
    check(run([options.tracetool, "mem", path, "--at", "peak:middle"]).returncode == 1, "a phase that does not exist")


def check_checkpointing(options, folder):
    path, rows, several = os.path.join(folder, "checkpointing.pickle"), 0, 0
    for seed in range(12):
        snapshot = made_snapshot(seed, devices=1 + seed % 2, before=seed % 3, fails=seed % 3 == 0)
        write(path, snapshot)
        found = tables(options, path)
        for device in range(1 + seed % 2):
            _, state, blocks, _ = Replay(snapshot, device).peak()
            activations = [block for address, block in blocks.items() if slow_snapshot.may_be_activation(snapshot, device, state, address)]
            true = slow_snapshot.checkpointing(snapshot, activations)
            true = true if any(freed for _, _, _, freed in true.values()) else {}
            seen = {row["module"]: (row["activation_bytes"], row["blocks"], row["calls"], row["freed_bytes"])
                    for row in found["checkpointing"] if row["device"] == device}
            check(seen == true, f"seed {seed}, device {device}: what checkpointing frees", lambda: f"{seen} and not {true}")
            rows += len(true)
            several += sum((calls or 0) > 1 for _, _, calls, _ in true.values())
    check(rows > 20 and several > 5, "there are modules, some with several calls", (rows, several))


def check_all_devices(options, folder):
    peaks = {}
    for rank in range(3):
        snapshot = made_snapshot(20 + rank, devices=2)
        os.makedirs(os.path.join(folder, "ranks", f"rank{rank}"))
        write(os.path.join(folder, "ranks", f"rank{rank}", "memory.pickle"), snapshot)
        peaks.update({(rank, device): Replay(snapshot, device).peak()[0] for device in range(2)})
    row, = tables(options, os.path.join(folder, "ranks"))["all_devices"]
    largest = max(peaks, key=peaks.get)
    check((row["devices"], row["sum_bytes"], row["largest_peak_bytes"], row["smallest_peak_bytes"]) ==
          (6, sum(peaks.values()), peaks[largest], min(peaks.values())), "all devices: the sums", row)
    check((row["rank"], row["device"]) == largest, "all devices: the rank with the largest peak", row)
    check(tables(options, os.path.join(folder, "phases.pickle"))["all_devices"] != [], "two devices of a file")
    write(os.path.join(folder, "one.pickle"), made_snapshot(0))
    check(tables(options, os.path.join(folder, "one.pickle"))["all_devices"] == [], "one device needs no sum")


def check_growth_by_device(options, folder):
    """The rows of a GPU are next to each other, largest growth first: --limit counts the rows of each GPU."""
    path = os.path.join(folder, "growth.pickle")
    write(path, made_snapshot(5, devices=3, steps=6, **{**kinds_of(5), "leak": 2}))
    rows = [(row["device"], -row["growth_bytes_per_step"]) for row in tables(options, path, "--by", "stack")["growth"]]
    check(rows == sorted(rows) and len({device for device, _ in rows}) == 3, f"growth of 3 GPUs: {len(rows)} rows in order", rows)


def check_cut(options, folder):
    """A history that max_entries cut has a round number of entries."""
    path, snapshot = os.path.join(folder, "cut.pickle"), made_snapshot(3, steps=60)
    for entries, is_cut in ((1000, True), (999, False)):
        write(path, {**snapshot, "device_traces": [snapshot["device_traces"][0][-entries:]]})
        said = run([options.tracetool, "mem", path]).stdout
        check(("exactly 1000 entries, so older ones were probably dropped" in said) == is_cut, f"a history of {entries} entries: {is_cut}", said)


def check_moments(options, folder):
    snapshot = made_snapshot(3, steps=6, leak=3, fails=True)
    path = os.path.join(folder, "moments.pickle")
    write(path, snapshot)
    states = [dict(live) for live, _ in Replay(snapshot, 0).states()]
    check(in_use(tables(options, path, "--at", "end"), 0) == slow_snapshot.by_line(states[-1]), "--at end")
    check(in_use(tables(options, path, "--at", "oom"), 0) == slow_snapshot.by_line(states[-2]), "--at oom")
    found = tables(options, path, "--at", "step:2")
    check(len(found["in_use"]) > 0, "--at step:2")
    leaked = [row for row in found["growth"] if row["line"].startswith("user/metrics.py")]
    check([(row["growth_bytes_per_step"], row["growth_bytes"], row["grew_in_steps"]) for row in leaked] == [(3 << 16, 15 << 16, 5)],
          "what grows from step to step is found", found["growth"])
    failure = found["out_of_memory"][0]
    check((failure["asked_bytes"], failure["device_free_bytes"]) == (80 << 30, 123456789), "what was asked for is shown", failure)
    check(failure["largest_free_bytes"] == max((b["size"] for s in snapshot["segments"] for b in s["blocks"] if b["state"] == "inactive"),
                                               default=0), "and the largest free block", failure)
    other = os.path.join(folder, "other.pickle")
    write(other, made_snapshot(4, steps=6))
    change = tables(options, other, "--diff", path)["change"]
    check(sum(row["baseline_bytes"] for row in change) == max(sum(size for size, _ in state.values()) for state in states),
          "--diff: the baseline's peak")
    done = run([options.tracetool, "mem", path, "--at", "step:99"])
    check(done.returncode == 0 and "no such moment" in done.stdout, "a step that is not there", done.stdout + done.stderr)


def check_timeline(options, folder):
    snapshot = made_snapshot(8)
    path = os.path.join(folder, "timeline.pickle")
    write(path, made_snapshot(8, times=False))
    done = run([options.tracetool, "mem", path, "--timeline", "-"])
    check(done.returncode == 3 and "needs times" in done.stderr, "--timeline: without times", done.stderr)
    write(path, snapshot)
    times, sizes = json.loads(run([options.tracetool, "mem", path, "--timeline", "-"]).stdout)
    states = [sum(size for size, _ in live.values()) for live, _ in Replay(snapshot, 0).states()]
    kept = [0] + [i + 1 for i, entry in enumerate(snapshot["device_traces"][0]) if entry["action"] in ("alloc", "free_completed")]
    check([sum(row) for row in sizes] == [states[i] for i in kept], "--timeline: each state's sum")
    check(times[1:] == [snapshot["device_traces"][0][i - 1]["time_us"] for i in kept[1:]], "--timeline: the times")
    peak = max(range(len(sizes)), key=lambda i: (sum(sizes[i]), -i))
    rows = in_use(tables(options, path, "--by", "category"), 0, "category")
    columns = {1: "parameters", 2: "optimizer state", 4: "temporary", 5: "activations", 6: "gradients"}
    check(all(sizes[peak][i] == rows.get(name, 0) for i, name in columns.items()), "--timeline: the categories at the peak", (sizes[peak], rows))


# What the reader of https://pytorch.org/memory_viz supports (torch/utils/viz/MemoryViz.js, unpickle()).
VIEWER_CODES = {"PROTO", "STOP", "MARK", "EMPTY_LIST", "APPENDS", "EMPTY_DICT", "SETITEMS", "MEMOIZE", "BINGET", "LONG_BINGET",
                "BININT", "BININT1", "BININT2", "LONG1", "SHORT_BINUNICODE", "BINUNICODE", "NEWFALSE"}


def written_pickle(options, path, folder):
    """Returns the tables of a file, those of the snapshot that mem wrote from it, and that snapshot."""
    written = os.path.join(folder, "written", os.path.basename(path))
    os.makedirs(os.path.dirname(written), exist_ok=True)
    done = run([options.tracetool, "mem", path, "--pickle", written])
    check(done.returncode == 0, "--pickle", done.stderr)
    with open(written, "rb") as file:
        content = file.read()
    codes = [(code.name, argument) for code, argument, _ in pickletools.genops(content)]
    check({name for name, _ in codes} <= VIEWER_CODES and codes[0] == ("PROTO", 4), "--pickle: memory_viz knows each instruction",
          {name for name, _ in codes} - VIEWER_CODES)
    found = [[tables(options, each, "--by", by) for by in ("line", "stack", "operator", "category")] for each in (path, written)]
    return found[0], found[1], pickle.loads(content)


def check_pickle(options, folder):
    def plain(frames):
        return [{**frame, "filename": frame["filename"] or "??"} for frame in frames]

    for seed in range(8):
        path = os.path.join(folder, "source.pickle")
        snapshot = made_snapshot(seed, devices=1 + seed % 3, before=seed % 4, steps=5 if seed == 7 else 2, fails=seed % 5 == 0, **kinds_of(seed))
        for device, trace in enumerate(snapshot["device_traces"]):
            for i, entry in enumerate(trace):
                entry["stream"] = (0, 7, 0x7f1234567890, (1 << 64) - 1)[(i + device) % 4]
        write(path, snapshot, protocol=2 + seed % 4)
        source, written, loaded = written_pickle(options, path, folder)
        check(source == written, f"seed {seed}: --pickle: the tables are those of the source")
        entries = [[{**entry, "frames": plain(entry["frames"])} for entry in trace] for trace in snapshot["device_traces"]]
        check(loaded["device_traces"] == entries, f"seed {seed}: --pickle: the entries are those of the source")
        check(loaded["external_annotations"] == snapshot.get("external_annotations", []), f"seed {seed}: --pickle: the annotations")
        shared = {id(entry["frames"]) for trace in loaded["device_traces"] for entry in trace}
        stacks = {json.dumps(entry["frames"]) for trace in entries for entry in trace}
        check(len(shared) == len(stacks), f"seed {seed}: --pickle: equal stacks are one object", (len(shared), len(stacks)))
        segments = [{**segment, "blocks": [{"requested_size": block["size"], **block, "frames": plain(block["frames"])} for block in segment["blocks"]]}
                    for segment in snapshot["segments"]]
        keys = ("device", "address", "total_size", "stream", "segment_type", "frames", "blocks")
        check([[segment[key] for key in keys] for segment in segments] == [[segment[key] for key in keys] for segment in loaded["segments"]],
              f"seed {seed}: --pickle: the segments are those of the source")


def memory_event(ts, address, size, allocated, reserved=1 << 22):
    return {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": ts,
            "args": {"Device Type": 1, "Device Id": 0, "Addr": address, "Bytes": size, "Total Allocated": allocated, "Total Reserved": reserved}}


def range_event(category, name, ts, duration):
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": duration, "args": {}}


def check_pickle_of_profile(options, folder):
    """A profile has no segments. PyTorch's own programs expect that the blocks of a segment fill it."""
    base = 0x7f0000000000
    events = [range_event("python_function", "train.py(12): step", 1, 90), range_event("cpu_op", "aten::m\u00fc\"m", 10, 20), memory_event(15, base, 512, 5512, 1 << 21),
              memory_event(16, base + 512, 1 << 20, 5512 + (1 << 20), 1 << 22), range_event("cpu_op", "aten::add", 40, 20),
              memory_event(45, base, -512, 5000 + (1 << 20), 1 << 22), memory_event(50, base, 300, 5300 + (1 << 20), 1 << 22)]
    path = os.path.join(folder, "profile.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"traceEvents": events}, file)
    source, written, loaded = written_pickle(options, path, folder)
    check(source == written and source[0]["devices"][0]["peak_bytes"] == 5512 + (1 << 20), "--pickle of a profile: the tables", (source[0], written[0]))
    segments = loaded["segments"]
    check(all(s["address"] == s["blocks"][0]["address"] and s["total_size"] == sum(b["size"] for b in s["blocks"]) for s in segments),
          "--pickle of a profile: blocks fill their segments", segments)
    check(sum(s["total_size"] for s in segments) == 1 << 22, "--pickle of a profile: the reserved memory", segments)
    frames = loaded["device_traces"][0][0]["frames"]
    check(frames == [{"name": "aten::m\u00fc\"m", "filename": "??", "line": 0}, {"name": "step", "filename": "train.py", "line": 12}],
          "--pickle of a profile: the stack", frames)
    done = run([options.tracetool, "mem", path, os.path.join(folder, "source.pickle"), "--pickle", "-"])
    check(done.returncode == 1 and "2 processes" in done.stderr, "--pickle of several processes is refused", done.stderr)


def check_counters(options, folder):
    """The counters of memory by category add up to those of the allocator."""
    events = []
    total, address = 7000, 0
    for step in range(4):
        at, kept = 100 * step, []
        for function, start in (("model.py(9): forward", 0), ("model.py(20): backward", 40), ("torch/optim/adam.py(3): step", 80)):
            events.append(range_event("python_function", function, at + start, 19))
            for i in range(3):
                address, size = address + 4096, 512 * (1 + i + step)
                total += size
                events.append(memory_event(at + start + 2 * i + 1, address, size, total))
                kept.append((address, size))
            if start == 40:
                for i, (old, size) in enumerate(kept[:4]):
                    total -= size
                    events.append(memory_event(at + start + 8 + 2 * i, old, -size, total))
    path, output = os.path.join(folder, "counters.json"), os.path.join(folder, "counters-chrome.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"schemaVersion": 1, "baseTimeNanoseconds": 1700000000000000000, "traceEvents": events}, file)
    done = run([options.tracetool, "export", path, "--chrome", "-o", output])
    check(done.returncode == 0, "export with memory", done.stderr)
    now, sums, names = {}, {}, set()
    with open(output, encoding="utf-8") as file:
        counters = sorted((e for e in json.load(file)["traceEvents"] if e["ph"] == "C"), key=lambda event: event["ts"])
    for event in counters:
        name, value = event["name"], event["args"].get("bytes")
        if "memory" in name and not name.startswith("memory reserved"):
            now[name] = value
            total = sum(bytes for each, bytes in now.items() if not each.startswith("memory allocated"))
            sums[event["ts"]] = total, next((bytes for each, bytes in now.items() if each.startswith("memory allocated")), None)
            names.add(name)
    check(len(names) >= 5 and any("activations" in name for name in names), "the counters have categories", names)
    check(len(sums) > 30 and all(parts == whole for parts, whole in sums.values()), "the categories add up to the memory allocated", first(sums.items()))


def check_page(options, folder):
    path, page = os.path.join(folder, "page.pickle"), os.path.join(folder, "page.html")
    write(path, made_snapshot(9, devices=2, fails=True))
    done = run([options.tracetool, "mem", path, "--html", page])
    with open(page, encoding="utf-8") as file:
        text = file.read()
    check(done.returncode == 0 and text.count("<h2>") == 2 and text.count("<path ") >= 12, "--html: a chart for each device", done.stderr)
    check("activations" in text and "before the history" in text and "allocations that failed" in text, "--html: the legend and the tables")
    check("://" not in text.replace("chrome://tracing", ""), "--html: nothing is loaded from elsewhere")


def check_files(options, folder):
    snapshot = made_snapshot(1)
    plain = os.path.join(folder, "rank3", "a.pickle")
    os.makedirs(os.path.dirname(plain))
    write(plain, snapshot)
    with open(plain, "rb") as file, gzip.open(os.path.join(folder, "rank3", "b.pickle.gz"), "wb") as packed:
        packed.write(file.read())
    found = tables(options, os.path.join(folder, "rank3"))
    check(len(found["devices"]) == 2 and len({row["peak_bytes"] for row in found["devices"]}) == 1, "a directory with a compressed file", found["devices"])
    check(len(tables(options, os.path.join(folder, "rank*", "*.pickle*"))["devices"]) == 2, "a glob")
    check(run([options.tracetool, "mem"]).returncode == 1, "no path")
    bare = dict(snapshot, device_traces=[[]])
    write(plain, bare)
    done = run([options.tracetool, "mem", plain])
    check(done.returncode == 0 and "_record_memory_history" in done.stderr, "a snapshot without history names the call", done.stderr)


class Evil:
    def __reduce__(self):
        return os.system, ("touch /tmp/tracetool_was_here",)


def check_refusals(options, folder):
    path = os.path.join(folder, "bad.pickle")

    def refused(content, *words):
        with open(path, "wb") as file:
            file.write(content)
        done = run([options.tracetool, "mem", path])
        return done.returncode == 3 and all(word in done.stderr for word in (path, "byte", *words))

    good = pickle.dumps(made_snapshot(0, before=1, steps=1), 4)
    for protocol in (2, 4, 5):
        check(refused(pickle.dumps({"segments": [Evil()]}, protocol), "would load Python code"), f"code is refused, protocol {protocol}")
    check(refused(b"\x80\x04" + b"cos\nsystem\n."), "GLOBAL is refused")
    check(refused(b""), "an empty file")
    check(refused(b"\x80\x06."), "a newer protocol")
    check(refused(b"\x80\x04" + b"]" * 5_000_000 + b".", "unfinished"), "millions of objects are refused")
    check(refused(b"\x80\x04j\xff\xff\xff\xff."), "an object that was never made")
    check(refused(b"\x80\x04\x8d" + b"\xff" * 8), "a text that is too long")
    step = max(1, len(good) // 60)
    cut = [size for size in range(2, len(good) - 1, step) if not refused(good[:size])]
    check(not cut, "every file that ends too early is refused with its byte", cut)
    dices = random.Random(5)
    for _ in range(60):
        broken = bytearray(good)
        for _ in range(3):
            broken[dices.randrange(len(broken))] = dices.randrange(256)
        with open(path, "wb") as file:
            file.write(broken)
        done = run([options.tracetool, "mem", path])
        if done.returncode not in (0, 3):
            check(False, "a changed file is read or refused", f"exit {done.returncode}: {done.stderr}")
    for other in ([1, 2, 3], {"a": 1}, "text", {"segments": 5}):
        with open(path, "wb") as file:
            pickle.dump(other, file)
        done = run([options.tracetool, "mem", path])
        check(done.returncode == 3, f"another pickle: {other}", done.stderr)
    done = run([options.tracetool, "mem", folder + "/missing.pickle"])
    check(done.returncode == 2, "a missing file", done.stderr)


def main():
    options = arguments("tracetool")
    with Folder() as folder:
        for test in (check_peaks, check_categories, check_phases, check_checkpointing, check_all_devices, check_growth_by_device, check_cut, check_moments, check_timeline, check_pickle, check_pickle_of_profile, check_counters, check_page, check_files, check_refusals):
            test(options, str(folder))
    finish()


if __name__ == "__main__":
    main()
