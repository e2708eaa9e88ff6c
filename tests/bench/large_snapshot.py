#!/usr/bin/env python3
"""Time and memory of `tracetool mem` for a synthesized memory snapshot of PyTorch with a known peak. The file has the form that
torch.cuda.memory._dump_snapshot() writes: protocol 4, frames shared by memo, one list of frames for each allocation, shared by the entries of
its release.

  large_snapshot.py --tracetool PATH --work FOLDER [--mb N] [--small]

--mb: size of the file, 1000 if it is not given. --small: a file of 20 MB. Exit status 1: the peak is wrong, or the command used more memory than
the budget. The budget of time is in CPU time of a CRC-32 of the same file, so that it holds on any machine: 15 of them are 3 s on a machine that
needs 0.2 s for 1 GB. A missed budget of time is printed, and does not change the exit status.
"""
import argparse
import io
import json
import os
import pickle
import pickletools
import random
import struct
import sys
import time
import zlib

from large_run import MIB, measure, say

TORCH = "/opt/venv/lib/python3.12/site-packages/torch"
FIRST_US, STEP_US = 1_748_732_571_000_000, 400_000  # times take 7 bytes
LAYERS, TEMPLATES = 24, 4
MOST_CHECKSUMS = 15
POOL, BEFORE = 0x7f2000000000, 0x7f1000000000  # addresses: allocated in the history, and before it


class Stacks:
    """Lists of frames as PyTorch makes them: a frame is one dictionary, wherever it occurs; a list is made for each allocation."""

    def __init__(self, kind):
        self.frames, self.native = {}, kind == "all"

    def frame(self, name, file, line):
        return self.frames.setdefault((name, file, line), {"name": name, "filename": file, "line": line})

    def python(self, part, layer):
        main = [self.frame("main", "/home/user/train.py", 210), self.frame("<module>", "/home/user/train.py", 240)]
        if part == "optimizer":
            return [self.frame("_multi_tensor_adamw", f"{TORCH}/optim/adamw.py", 600 + layer % 7), self.frame("step", f"{TORCH}/optim/adamw.py", 243),
                    self.frame("wrapper", f"{TORCH}/optim/optimizer.py", 493), *main]
        if part == "backward":
            return [] if self.native else [self.frame("_engine_run_backward", f"{TORCH}/autograd/graph.py", 824),
                                           self.frame("backward", f"{TORCH}/_tensor.py", 648), *main]
        call = [self.frame(name, f"{TORCH}/nn/modules/module.py", line) for name, line in (("_call_impl", 1773), ("_wrapped_call_impl", 1762))]
        levels = [self.frame("forward", "/home/user/model.py", line) for line in (40 + layer % 3, 90 + layer, 300, 340)]
        return [frame for level in levels for frame in (level, *call)] + main

    def new(self, part, layer, op):
        """A new list of the frames that (part, layer, op) always has, innermost first."""
        frames = self.python(part, layer)
        if self.native:
            inner = [self.frame("torch::unwind::unwind()", "??", 0), self.frame("torch::CapturedTraceback::gather(bool, bool, bool)", "??", 0)]
            inner += [self.frame(f"c10::cuda::CUDACachingAllocator::Native::{name}", "??", 0) for name in ("malloc", "allocate")]
            inner += [self.frame(f"at::detail::empty_{i}({op % 5})", "??", 0) for i in range(4)]
            inner += [self.frame(f"at::_ops::op_{op}::{call}(at::Tensor const&)", "??", 0) for call in ("redispatch", "call")]
            inner += [self.frame(f"torch::autograd::VariableType::step_{i}_{op}", "??", 0) for i in range(5)]
            outer = [self.frame(f"torch::autograd::Engine::{name}", "??", 0) for name in ("evaluate_function", "thread_main", "thread_init")]
            outer += [self.frame(f"std::thread::{i}()", "??", 0) for i in range(12)]
            interpreter = [self.frame(f"_PyEval_{i}", "Python/ceval.c", i) for i in range(20)]
            frames = inner + frames + (outer if part == "backward" else interpreter)
        return frames


class Step:
    """The entries of a training step. Everything that it allocates is released in it, so that each step begins with the same memory."""

    def __init__(self, seed, stacks, begin_us=FIRST_US):
        self.random, self.stacks = random.Random(seed), stacks
        self.entries, self.now, self.in_use, self.most, self.next, self.free = [], begin_us, 0, 0, POOL, {}
        self.train()

    def add(self, action, address, size, frames):
        self.now += self.random.randrange(3, 30)
        # PyTorch makes the text of the context for each entry; that of the metadata is the empty text, of which Python has one.
        context = "".join(("N", "/", "A"))
        self.entries.append({"action": action, "addr": address, "size": size, "stream": 0, "time_us": self.now, "compile_context": context,
                             "user_metadata": "", "frames": frames})

    def alloc(self, part, layer, op):
        size = self.random.randrange(1, 1 << 12) << self.random.randrange(2, 14)
        rounded = (size + 511) // 512 * 512
        if self.free.get(rounded):
            address = self.free[rounded].pop()
        else:
            address, self.next = self.next, self.next + rounded
        self.in_use += size
        self.most = max(self.most, self.in_use)
        self.add("alloc", address, size, self.stacks.new(part, layer, op))
        return address, size, rounded

    def release(self, block, part, layer, op):
        address, size, rounded = block
        frames = self.stacks.new(part, layer, op)
        self.add("free_requested", address, size, frames)
        self.add("free_completed", address, size, frames)
        self.in_use -= size
        self.free.setdefault(rounded, []).append(address)

    def train(self):
        kept, gradients = [], []
        for layer in range(LAYERS):
            for op in range(9):
                kept.append((self.alloc("forward", layer, op), layer, op))
                for _ in range(self.random.randrange(3)):
                    self.release(self.alloc("forward", layer, op + 20), "forward", layer, op + 30)
        for block, layer, op in reversed(kept):
            if op % 3 == 0:
                gradients.append(self.alloc("backward", layer, op + 40))
            self.release(self.alloc("backward", layer, op + 50), "backward", layer, op + 50)
            self.release(block, "backward", layer, op + 60)
        for layer in range(LAYERS):
            self.release(self.alloc("optimizer", layer, 80), "optimizer", layer, 81)
        for block in gradients:
            self.release(block, "optimizer", 0, 90)


class Template:
    """A pickled list of entries whose items can be written again and again, with later times and with the memo's numbers of that place."""

    def __init__(self, first_memo, pickled):
        self.data, self.times, self.references, self.memos = bytearray(pickled), [], [], -1  # the list itself is not written
        frames = []
        for code, value, at in pickletools.genops(pickled):
            if code.name == "MEMOIZE":
                self.memos += 1
            elif code.name == "FRAME":
                frames.append((at, value))
            elif code.name == "LONG1" and value >= FIRST_US:  # patched with the byte behind it
                self.times.append((at + 2, value | pickled[at + 9] << 56))
            elif code.name == "LONG_BINGET" and value >= first_memo:
                self.references.append((at + 1, value - first_memo - 1))
        # Without PROTO, EMPTY_LIST and MEMOIZE at the begin, and without STOP at the end
        at, size = frames[-1]
        struct.pack_into("<BQ", self.data, at, 0x95, size - 1)
        size = struct.unpack_from("<Q", self.data, 3)[0]
        struct.pack_into("<BQ", self.data, 4, 0x95, size - 2)
        self.view = memoryview(self.data)[4:-1]

    def items(self, later_us, memo):
        for at, value in self.times:
            struct.pack_into("<Q", self.data, at, value + later_us)
        for at, value in self.references:
            struct.pack_into("<I", self.data, at, value + memo)
        return self.view


def framed(pickled):
    """Without PROTO and STOP."""
    data, at = bytearray(pickled), 2
    while at + 9 + (size := struct.unpack_from("<Q", data, at + 1)[0]) < len(data):
        at += 9 + size
    struct.pack_into("<Q", data, at + 1, size - 1)
    return data[2:-1]


class Memoizing:
    """Pickles objects one after the other with one memo."""

    def __init__(self):
        self.out = io.BytesIO()
        self.pickler = pickle.Pickler(self.out, 4)

    def dump(self, value):
        self.out.seek(0)
        self.out.truncate()
        self.pickler.dump(value)
        return self.out.getvalue()

    def memos(self):
        return len(self.pickler.memo.copy())


def segments(stacks, steps):
    """The memory of before the history, and the segment in which the steps allocate."""
    made, before = [], 0
    for i in range(800):
        size = (1 + i % 40) << 18
        before += size
        address = BEFORE + (i << 26)
        block = {"address": address, "size": size, "requested_size": size, "state": "active_allocated", "frames": stacks.new("forward", i % LAYERS, 0)}
        made.append({"device": 0, "address": address, "total_size": size, "allocated_size": size, "active_size": size, "requested_size": size,
                     "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False, "frames": [], "blocks": [block]})
    pool = max(step.next for step in steps) - POOL
    block = {"address": POOL, "size": pool, "requested_size": 0, "state": "inactive", "frames": []}
    made.append({**made[0], "address": POOL, "total_size": pool, "allocated_size": 0, "active_size": 0, "requested_size": 0, "blocks": [block]})
    return made, before


def write_snapshot(path, size, kind="all"):
    """Writes a snapshot of about `size` bytes. Returns what is known of it: its peak, its entries and its steps."""
    stacks, dices = Stacks(kind), random.Random(7)
    steps = [Step(seed, stacks, FIRST_US + seed * STEP_US) for seed in range(TEMPLATES)]
    first = [entry for step in steps for entry in step.entries]
    head, before = segments(stacks, steps)
    known = {"peak_bytes": before + max(step.most for step in steps), "start_bytes": before, "entries": len(first), "steps": TEMPLATES}
    memo, annotations = Memoizing(), []

    def annotate(first_us):
        end_us = first_us + STEP_US - 1
        annotations.extend({"stage": stage, "name": "Optimizer.step#AdamW.step", "device": 0, "time_us": at}
                           for stage, at in (("START", end_us - 1), ("END", end_us)))

    with open(path, "wb") as file:
        # The outer objects need no number in the memo. The first steps define all frames; the list of the trace is their list.
        file.write(b"\x80\x04}(" + framed(memo.dump("segments")) + framed(memo.dump(head)) + framed(memo.dump("device_traces")) + b"]")
        file.write(framed(memo.dump(first)))
        for seed in range(TEMPLATES):
            annotate(FIRST_US + seed * STEP_US)
        number = memo.memos()
        templates = [Template(memo.memos(), memo.dump(Step(seed, stacks).entries)) for seed in range(TEMPLATES)]
        while file.tell() < size:
            which = dices.randrange(TEMPLATES)
            file.write(templates[which].items(known["steps"] * STEP_US, number))
            annotate(FIRST_US + known["steps"] * STEP_US)
            number += templates[which].memos
            known["entries"] += len(steps[which].entries)
            known["steps"] += 1
        memo.pickler.fast = True  # what follows refers to nothing
        file.write(b"a" + b"".join(framed(memo.dump(value)) for value in ("allocator_settings", {"PYTORCH_CUDA_ALLOC_CONF": ""},
                                                                          "external_annotations", annotations)) + b"u.")
    return known


def checksum_s(path):
    """CPU time of a checksum of the file, read in blocks: the fastest of three."""
    seconds = []
    for _ in range(3):
        begin, crc = time.process_time(), 0
        with open(path, "rb", buffering=0) as file:
            while block := file.read(1 << 20):
                crc = zlib.crc32(block, crc)
        seconds.append(time.process_time() - begin)
    return min(seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tracetool", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--mb", type=int, default=1000)
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    os.makedirs(options.work, exist_ok=True)
    path, failed = os.path.join(options.work, "large.pickle"), False
    for kind in ("all", "python"):
        known = write_snapshot(path, 20_000_000 if options.small else options.mb * 1_000_000, kind)
        checksum = checksum_s(path)
        cost = min((measure(options.tracetool, "mem", path, "--format", "json") for _ in range(3)), key=lambda each: each.cpu_s)
        device = json.loads(cost.stdout)["devices"][0]
        found = {key: device[key] for key in ("peak_bytes", "start_bytes", "difference_bytes")}
        right = found == {"peak_bytes": known["peak_bytes"], "start_bytes": known["start_bytes"], "difference_bytes": 0}
        small = cost.peak_bytes <= 256 * MIB
        failed |= not right or not small
        size = os.path.getsize(path)
        say(f"mem, {size / 1e6:.0f} MB, {known['entries']} entries, stacks={kind}", f"<= {MOST_CHECKSUMS}x a checksum of it",
            cost.cpu_s <= MOST_CHECKSUMS * checksum, f"{cost.cpu_s / checksum:.1f}x, {cost.cpu_s:.2f} s of CPU, {cost.wall_s:.2f} s")
        say("... its peak memory", "<= 256 MiB", small, f"{cost.peak_bytes / MIB:.0f} MiB")
        say("... the peak of the snapshot", "as it was made", right, f"{found}" + ("" if right else f" and not {known}"))
    os.remove(path)
    sys.exit(failed)


if __name__ == "__main__":
    main()
