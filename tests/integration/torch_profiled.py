"""A transformer block trained for a few steps under torch.profiler, on the CPU: what it says is compared with what was recorded.

  torch_profiled.py TRACE [HOW]      TRACE: the profiler's own, as Chrome JSON. HOW: --ddp, --compile; --fsdp, --fsdp2: with a second rank,
                                     which is not looked at, or exit code 77 and why, where this PyTorch has no such thing on a CPU;
                                     --stacks: with stacks, and TRACE.modules: the names of all modules, by their addresses
"""
import importlib
import json
import os
import subprocess
import sys
import time

import torch
from torch import nn
from torch.nn import functional

WARM_UP, PROFILED = 3, 3
CANNOT = 77


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.into, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        query, key, value = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.into(x).chunk(3, dim=-1))
        return self.out(functional.scaled_dot_product_attention(query, key, value, is_causal=True).transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.first, self.second, self.attention = nn.LayerNorm(width), nn.LayerNorm(width), Attention(width, heads)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(0.1))

    def forward(self, x):
        x = x + self.attention(self.first(x))
        return x + self.mlp(self.second(x))


class Model(nn.Module):
    def __init__(self, words=64, width=32, layers=2):
        super().__init__()
        self.embedding, self.head = nn.Embedding(words, width), nn.Linear(width, words)
        self.blocks = nn.ModuleList(Block(width, 4) for _ in range(layers))

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def why_not(how):
    """Where this PyTorch cannot do it on a CPU: why; else None."""
    version = tuple(int(part) for part in torch.__version__.split("+")[0].split(".")[:2])
    if how == "--fsdp" and version < (2, 5):
        return f"FSDP of PyTorch {torch.__version__} asks for streams that a CPU does not have"
    if how == "--fsdp2" and not hasattr(torch.distributed.fsdp, "fully_shard"):
        return f"FSDP2 of PyTorch {torch.__version__} runs on CUDA alone, where there is one"
    return None


def join_group(trace):
    """As one of two ranks; the first one starts the other, which nobody observes."""
    rank = int(os.environ.get("RANK_OF_TWO", 0))
    if rank == 0:
        environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD" and not name.startswith("TRACETOOL_")}
        join_group.other = subprocess.Popen([sys.executable, *sys.argv], env={**environment, "RANK_OF_TWO": "1"})
    torch.distributed.init_process_group("gloo", store=torch.distributed.FileStore(f"{trace}.store", 2), rank=rank, world_size=2)


def leave_group():
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()
    if hasattr(join_group, "other"):
        assert join_group.other.wait() == 0


def sharded(model, how):
    if how == "--fsdp":
        return torch.distributed.fsdp.FullyShardedDataParallel(model, device_id=torch.device("cpu"), use_orig_params=True)
    mesh = torch.distributed.device_mesh.init_device_mesh("cpu", (2,))
    for block in (*model.blocks, model):
        torch.distributed.fsdp.fully_shard(block, mesh=mesh)
    return model


def wrapped(model, how):
    if how == "--ddp":
        os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
        os.environ.setdefault("MASTER_PORT", "0")
        store = torch.distributed.HashStore()
        torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
        return nn.parallel.DistributedDataParallel(model)
    if how.startswith("--fsdp"):
        return sharded(model, how)
    return torch.compile(model) if how == "--compile" else model


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    trace, how = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    if how.startswith("--fsdp"):
        importlib.import_module("torch.distributed.fsdp")
        if why_not(how):
            print(why_not(how))
            sys.exit(CANNOT)
        join_group(trace)
    model = wrapped(Model(), how)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loader = iter(torch.utils.data.DataLoader(torch.randint(0, 64, (64, 2, 9)), batch_size=None))

    def step():
        batch = next(loader)
        loss = functional.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    if how == "--stacks":
        time.sleep(1)  # for an observer of Python's frames
        with open(f"{trace}.modules", "w", encoding="utf-8") as file:
            json.dump({id(module): name for name, module in model.named_modules()}, file)
    for _ in range(WARM_UP):
        step()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], record_shapes=True, with_stack=how == "--stacks") as profile:
        for _ in range(PROFILED):
            step()
    if "RANK_OF_TWO" not in os.environ:
        profile.export_chrome_trace(trace)
    step()
    if how.startswith("--fsdp"):
        leave_group()


if __name__ == "__main__":
    main()
