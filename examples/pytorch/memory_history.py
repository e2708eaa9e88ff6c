"""The history of PyTorch's caching allocator, written as torch.cuda.memory._dump_snapshot() writes it, without PyTorch. Each block has a
segment of its own, which is used again for blocks of its size. Stacks contain the frames that matter, innermost first."""
import pickle

TORCH, TRAIN = "/usr/lib/python3/dist-packages/torch", "/home/user/train.py"
ROUNDED = 512  # bytes


def frame(name, filename, line):
    return {"name": name, "filename": filename, "line": line}


def operator(name):
    return frame(f"at::_ops::{name}::call(at::Tensor const&)", "??", 0)


MAIN = frame("main", TRAIN, 30)
MODULE_CALL = frame("_call_impl", f"{TORCH}/nn/modules/module.py", 1787)
SETUP = [frame("convert", f"{TORCH}/nn/modules/module.py", 1343), frame("_apply", f"{TORCH}/nn/modules/module.py", 968), frame("build", TRAIN, 12)]
AUTOGRAD = [frame("torch::autograd::Engine::thread_main(std::shared_ptr<torch::autograd::GraphTask> const&)", "", 0)]
RECOMPUTED = [frame("recompute_fn", f"{TORCH}/utils/checkpoint.py", 1565), frame("unpack_hook", f"{TORCH}/utils/checkpoint.py", 1129)]
OPTIMIZER = [frame("_init_group", f"{TORCH}/optim/adamw.py", 180), frame("step", f"{TORCH}/optim/adamw.py", 243), MAIN]


class History:
    """Blocks that are allocated before `recording` is set are in use, but are not in the history."""

    def __init__(self):
        self.recording, self.entries, self.live, self.free_blocks, self.segments, self.end = False, [], {}, {}, {}, 0x7F0000000000
        self.stacks = {}

    def stack(self, *frames):
        """The same list for the same frames, which the file then contains once."""
        return self.stacks.setdefault(tuple(each["name"] for each in frames), list(frames))

    def record(self, action, address, size, time_us, frames):
        if self.recording:
            self.entries.append({"action": action, "addr": address, "size": size, "stream": 0, "time_us": time_us, "frames": frames})

    def allocate(self, size, time_us, frames):
        """Returns the address."""
        frames = frames if self.recording else []
        rounded = -(-size // ROUNDED) * ROUNDED
        if self.free_blocks.get(rounded):
            address = self.free_blocks[rounded].pop()
        else:
            address = self.end
            self.end += rounded
            self.segments[address] = rounded
            self.record("segment_alloc", address, rounded, time_us, frames)
        self.live[address] = (size, frames)
        self.record("alloc", address, size, time_us, frames)
        return address

    def free(self, address, time_us):
        size, frames = self.live.pop(address)
        self.free_blocks.setdefault(self.segments[address], []).append(address)
        self.record("free_requested", address, size, time_us, frames)
        self.record("free_completed", address, size, time_us, frames)

    def write(self, path):
        segments = []
        for address, size in self.segments.items():
            used, frames = self.live.get(address, (size, []))
            state = "active_allocated" if address in self.live else "inactive"
            block = {"address": address, "size": size, "requested_size": used, "state": state, "frames": frames}
            segments.append({"device": 0, "address": address, "total_size": size, "stream": 0, "segment_type": "large", "blocks": [block]})
        with open(path, "wb") as out:
            pickle.dump({"segments": segments, "device_traces": [self.entries]}, out, 4)
