"""Memory snapshots of PyTorch, made from a seed with everything that varies between its versions, and a slow second computation of
what `tracetool mem` prints: it unpickles the file and replays it forwards."""
import collections
import pickle
import random

PYTHON = "/home/user/train.py"
TORCH = "/opt/lib/python3.12/site-packages/torch"


def frame(name, filename, line):
    return {"name": name, "filename": filename, "line": line}


NATIVE = [frame("torch::unwind::unwind()", "??", 0),
          frame("c10::cuda::CUDACachingAllocator::Native::DeviceCachingAllocator::malloc(signed char, unsigned long, CUstream_st*)", "", 0),
          frame("at::_ops::empty_strided::call(c10::ArrayRef<c10::SymInt>)", "??", 0)]
MODULE = [frame("_call_impl", f"{TORCH}/nn/modules/module.py", 1773), frame("_wrapped_call_impl", f"{TORCH}/nn/modules/module.py", 1762)]
ENGINE = [frame("torch::autograd::Engine::thread_main(std::shared_ptr<torch::autograd::GraphTask> const&)", "", 0)]
STEP = [frame("step", f"{TORCH}/optim/adamw.py", 243), frame("wrapper", f"{TORCH}/optim/optimizer.py", 493)]
MAIN = [frame("<module>", PYTHON, 90)]


def forward(*lines):
    """Calls of modules in model.py, the innermost first."""
    return [each for line in lines for each in (frame("forward", "/home/user/model.py", line), *MODULE)]


# Model: lines 80 to 82. It calls Block (50 to 52), which calls Attention (30 to 32) and Norm (40) on one line. mask() is between them.
CALLS = {"linear": forward(30, 50, 80), "gelu": forward(32, 50, 80), "softmax": [frame("mask", "/home/user/model.py", 35)] + forward(32, 50, 80),
         "rsqrt": forward(40, 50, 80), "add": forward(52, 80), "embedding": forward(82)}

# part of the step -> stacks, innermost frame first
STACKS = {
    "setup": [NATIVE + [frame("_apply", f"{TORCH}/nn/modules/module.py", 927), frame("main", PYTHON, 20)] + MAIN],
    "forward": [NATIVE + [frame(f"at::_ops::{op}::call(at::Tensor const&)", "??", 0)] + calls + MAIN for op, calls in CALLS.items()],
    "backward": [NATIVE + [frame(f"at::_ops::{op}::redispatch(at::Tensor const&)", "??", 0)] + ENGINE for op in ("mm", "sum_dim_IntList")],
    "optimizer": [NATIVE + [frame("at::_ops::zeros_like::call(at::Tensor const&)", "??", 0)] + STEP + [frame("main", PYTHON, 44)] + MAIN],
    "leak": [NATIVE + [frame("append", "/home/user/metrics.py", 12)] + MAIN],
    "other": [NATIVE + [frame("load", "/home/user/data.py", 7)] + MAIN, []],
}


class Device:
    """An allocator whose history begins some time after the program."""

    def __init__(self, number, seed, times=True, requested=True, leak=0, expandable=False):
        self.random, self.number, self.times, self.requested, self.leak = random.Random(seed), number, times, requested, leak
        self.expandable = expandable
        self.trace, self.live, self.held, self.segments = [], {}, {}, {}
        self.annotations, self.now, self.next = [], 1_748_732_571_000_000 + seed, 0x7f0000000000 + (number << 40)
        self.recording = False

    def record(self, action, **more):
        self.now += self.random.randrange(1, 90)
        if not self.recording:
            return
        entry = {"action": action, "stream": 0, **more}
        if self.times:
            entry["time_us"] = self.now
        self.trace.append(entry)

    def alloc(self, part, size=None):
        """Returns the address. Every block has a segment of its own, which the allocator keeps and gives away again."""
        size = size or self.random.randrange(1, 4 << 20)
        rounded = (size + 511) // 512 * 512
        size = size if self.requested else rounded
        stack = self.random.choice(STACKS[part])
        free = [a for a in self.segments if a not in self.held and self.segments[a] >= rounded]
        if free:
            address = self.random.choice(free)
        else:
            address, self.next = self.next, self.next + (1 << 23)
            self.segments[address] = rounded + self.random.choice((0, 512, 1 << 20))
            self.record("segment_map" if self.expandable else "segment_alloc", addr=address, size=self.segments[address], frames=stack)
        self.live[address], self.held[address] = (size, rounded, stack), (size, rounded, stack)
        self.record("alloc", addr=address, size=size, frames=stack)
        return address

    def free(self, address, completed=True):
        size = self.live.pop(address)[0]
        stack = self.random.choice(STACKS["other"])
        self.record("free_requested", addr=address, size=size, frames=stack)
        if completed:
            self.record("free_completed", addr=address, size=size, frames=stack)
            del self.held[address]

    def empty_cache(self):
        for address in [a for a in self.segments if a not in self.held]:
            self.record("segment_unmap" if self.expandable else "segment_free", addr=address, size=self.segments.pop(address), frames=[])

    def fail(self, part):
        size = 80 << 30
        self.record("oom", size=size, device_free=123456789, frames=self.random.choice(STACKS[part]))

    def train(self, steps, parameters=4, layers=5):
        gradients, states = [], []
        for step in range(steps):
            if step == self.random.randrange(3):
                for _ in range(parameters):
                    self.alloc("setup")
            batch = self.alloc("other")
            kept = []
            for _ in range(layers):
                kept.append(self.alloc("forward"))
                self.free(self.alloc("forward"))
            for address in gradients:
                self.free(address)
            gradients = []
            for address in reversed(kept):
                gradients.append(self.alloc("backward"))
                self.free(self.alloc("backward"))
                self.free(address, completed=self.random.random() < 0.98)
            start = self.now
            for _ in range(parameters if not states else 0):
                states.append(self.alloc("optimizer"))
            self.free(self.alloc("optimizer"))
            for stage, at in (("START", start), ("END", self.now)):
                if self.times:
                    self.annotations.append({"stage": stage, "name": "Optimizer.step#AdamW.step", "device": self.number, "time_us": at})
            self.free(batch)
            for _ in range(self.leak):
                self.alloc("leak", 1 << 16)
            if self.random.random() < 0.2:
                self.empty_cache()

    def made_segments(self):
        made = []
        for address, total in sorted(self.segments.items()):
            blocks, used = [], 0
            if address in self.held:
                size, used, stack = self.held[address]
                blocks.append({"address": address, "size": used, "requested_size": size, "frames": stack,
                               "state": "active_allocated" if address in self.live else "active_pending_free"})
            if total > used:
                blocks.append({"address": address + used, "size": total - used, "requested_size": 0, "frames": [], "state": "inactive"})
            if not self.requested:
                for block in blocks:
                    del block["requested_size"]
            made.append({"device": self.number, "address": address, "total_size": total, "allocated_size": used, "active_size": used,
                         "stream": 0, "segment_type": "large" if total > 1 << 20 else "small", "segment_pool_id": (0, 0),
                         "is_expandable": self.expandable, "frames": [], "blocks": blocks})
        return made


def made_snapshot(seed, devices=1, before=3, steps=4, fails=False, **kinds):
    """{...} as torch.cuda.memory._snapshot() returns it: the history begins after `before` steps and has `steps` more."""
    all_devices = [Device(number, seed + number, **kinds) for number in range(devices)]
    for device in all_devices:
        device.train(before)
        device.recording = True
        device.train(steps)
        if fails:
            device.fail("forward")
    return {"segments": [segment for device in all_devices for segment in device.made_segments()],
            "device_traces": [device.trace for device in all_devices],
            "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": ""},
            "external_annotations": [each for device in all_devices for each in device.annotations]}


def write(path, snapshot, protocol=4):
    with open(path, "wb") as file:
        pickle.dump(snapshot, file, protocol)


class Replay:
    """The states of one device, forwards from the blocks that were in use before the first entry."""

    def __init__(self, snapshot, device):
        self.trace = snapshot["device_traces"][device] if device < len(snapshot["device_traces"]) else []
        segments = [segment for segment in snapshot["segments"] if segment["device"] == device]
        blocks = [block for segment in segments for block in segment["blocks"]]
        used = {b["address"]: (b.get("requested_size", b["size"]), b["frames"] or None) for b in blocks if b["state"].startswith("active")}
        self.reserved_end = sum(segment["total_size"] for segment in segments)
        self.end = sum(size for size, _ in used.values())
        freed, made = {}, set()
        for entry in self.trace:  # what is released without having been allocated was there before
            if entry["action"] == "alloc":
                made.add(entry["addr"])
            elif entry["action"] == "free_completed":
                if entry["addr"] in made:
                    made.discard(entry["addr"])
                else:
                    freed[entry["addr"]] = entry["size"]
        self.start = {a: block for a, block in used.items() if a not in made}  # with the stack, if the file has it
        self.start.update({a: (size, None) for a, size in freed.items()})
        changes = {"segment_alloc": 1, "segment_map": 1, "segment_free": -1, "segment_unmap": -1}
        total = sum(changes.get(e["action"], 0) * e["size"] for e in self.trace)
        self.reserved_start = self.reserved_end - total

    def states(self):
        """Yields (blocks in use {address: (bytes, frames; None before the history)}, reserved bytes): one more than there are entries."""
        live, reserved = dict(self.start), self.reserved_start
        yield live, reserved
        for entry in self.trace:
            if entry["action"] == "alloc":
                live[entry["addr"]] = (entry["size"], entry["frames"])
            elif entry["action"] == "free_completed":
                del live[entry["addr"]]
            elif entry["action"] in ("segment_alloc", "segment_map"):
                reserved += entry["size"]
            elif entry["action"] in ("segment_free", "segment_unmap"):
                reserved -= entry["size"]
            yield live, reserved

    def peak(self):
        """(bytes, state, blocks in use there, peak of reserved bytes)"""
        best, top = (-1, 0, {}), 0
        for state, (live, reserved) in enumerate(self.states()):
            total = sum(size for size, _ in live.values())
            top = max(top, reserved)
            if total > best[0]:
                best = (total, state, dict(live))
        return (*best, top)


def line_of(frames):
    """As `--by line` names it."""
    if frames is None:
        return "before the history"
    python = [f for f in frames if f["filename"].endswith(".py")]
    own = [f for f in python if "-packages/torch/" not in f["filename"]]
    if own or python:
        f = (own or python)[0]
        return f"{short(f['filename'])}({f['line']}): {f['name']}"
    operators = [f["name"].split("::")[2] for f in frames if f["name"].startswith("at::_ops::")]
    return f"aten::{operators[-1]}" if operators else "no stack in the history"


def short(path):
    """Without the directory of packages, or the last two names."""
    return path.split("-packages/")[1] if "-packages/" in path else "/".join(path.split("/")[-2:])


CATEGORY = {"setup": "parameters", "backward": "gradients", "optimizer": "optimizer state", "forward": "activations"}


def part_of(frames):
    for part, stacks in STACKS.items():
        if frames in stacks:
            return part
    return None


def category_of(snapshot, device, state, address):
    """Of a block in use: its part, and whether it is released before another part begins."""
    trace = snapshot["device_traces"][device]
    allocations = [i for i in range(state) if trace[i]["action"] == "alloc" and trace[i]["addr"] == address]
    if not allocations:
        return "before the history"
    at = allocations[-1]
    part = part_of(trace[at]["frames"])
    if part not in CATEGORY:
        return "unknown"
    released = next((i for i in range(state, len(trace)) if trace[i]["action"] == "free_completed" and trace[i]["addr"] == address), None)
    end = len(trace) if released is None else released
    parts = {part_of(entry["frames"]) for entry in trace[at + 1:end] if entry["action"] == "alloc"} & set(CATEGORY)
    if part == "forward":
        return CATEGORY[part] if "backward" in parts else "unknown" if released is None else "temporary"
    return CATEGORY[part] if released is None or parts - {part} else "temporary"


def may_be_activation(snapshot, device, state, address):
    """An activation, or memory of a forward pass whose allocation failed, which is never released."""
    trace = snapshot["device_traces"][device]
    category = category_of(snapshot, device, state, address)
    made = [entry for entry in trace[:state] if entry["action"] == "alloc" and entry["addr"] == address]
    released = any(entry["action"] == "free_completed" and entry["addr"] == address for entry in trace[state:])
    failed = trace[-1]["action"] == "oom" and not released and category != "before the history" and part_of(made[-1]["frames"]) == "forward"
    return category == "activations" or failed


def phases(snapshot, device):
    """phase -> (peak, state, occurrences). A phase lasts until another one allocates memory."""
    replay = Replay(snapshot, device)
    found, now = {"unknown": [-1, 0, 1]}, "unknown"
    for state, (live, _) in enumerate(replay.states()):
        entry = replay.trace[state - 1] if state > 0 else None
        part = part_of(entry["frames"]) if entry and entry["action"] == "alloc" else None
        if part in CATEGORY and part != now:
            now = part
            found.setdefault(now, [-1, 0, 0])[2] += 1
        total = sum(size for size, _ in live.values())
        if total > found[now][0]:
            found[now][:2] = total, state
    return {phase: tuple(each) for phase, each in found.items()} if len(found) > 2 else {}


# The lines of each module in STACKS; a module is named after those that occur in a snapshot.
MODULES = {"Attention": range(30, 33), "Norm": range(40, 41), "Block": range(50, 53), "Model": range(80, 83)}


def checkpointing(snapshot, activations):
    """[(bytes, frames)] -> {name: (bytes, blocks, calls, freed bytes)}; `calls` is None if no activation is the module's own."""
    sums, own = collections.defaultdict(list), collections.defaultdict(collections.Counter)
    stacks = [entry["frames"] for trace in snapshot["device_traces"] for entry in trace]
    stacks += [block["frames"] for segment in snapshot["segments"] for block in segment["blocks"]]
    occurring = {f["line"] for frames in stacks for f in frames if f["name"] == "forward"}
    for size, frames in activations:
        modules = [(name, i) for i, f in enumerate(frames) if f["name"] == "forward" for name, lines in MODULES.items() if f["line"] in lines]
        for module, _ in modules:
            sums[module].append(size)
        module, i = modules[0]
        own[module][tuple((f["name"], f["filename"], f["line"]) for f in frames[:i + 1])] += 1
    found = {}
    for module, sizes in sums.items():
        lines = sorted(occurring & set(MODULES[module]))
        name = "user/model.py({}): forward".format("-".join(str(line) for line in sorted({lines[0], lines[-1]})))
        calls = sorted(own[module].values())[(len(own[module]) - 1) // 2] if module in own else None
        found[name] = (sum(sizes), len(sizes), calls, sum(sizes) - sum(sizes) // calls if calls else None)
    return found


def by_line(blocks):
    sums = collections.Counter()
    for size, frames in blocks.values():
        sums[line_of(frames)] += size
    return dict(sums)
