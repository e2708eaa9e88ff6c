"""A transformer block trained for a few steps under torch.profiler, on the CPU: what it says is compared with what was recorded.

  torch_profiled.py TRACE [--ddp | --compile | --stacks]      TRACE: the profiler's own, as Chrome JSON; --stacks: with stacks, and
                                                              TRACE.modules: the names of all modules, by their addresses
"""
import json
import os
import sys
import time

import torch
from torch import nn
from torch.nn import functional

WARM_UP, PROFILED = 3, 3


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


def wrapped(model, how):
    if how == "--ddp":
        os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
        os.environ.setdefault("MASTER_PORT", "0")
        store = torch.distributed.HashStore()
        torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
        return nn.parallel.DistributedDataParallel(model)
    return torch.compile(model) if how == "--compile" else model


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    trace, how = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
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
    profile.export_chrome_trace(trace)
    step()


if __name__ == "__main__":
    main()
