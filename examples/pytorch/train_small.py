#!/usr/bin/env python3
"""A small GPT on random tokens: something to record that has the shape of a real training.

  CUDA_INJECTION64_PATH=$PWD/libagent.so python3 train_small.py                            one GPU
  CUDA_INJECTION64_PATH=$PWD/libagent.so torchrun --nproc-per-node=8 train_small.py        DistributedDataParallel
  python3 train_small.py --device cpu --steps 3 --layers 2 --width 64                      no GPU, nothing to record

Nothing in it knows of the recorder. --workers N reads the tokens in DataLoader processes, --compile uses torch.compile,
--profile STEP runs torch.profiler for two steps in the middle, as a second user of CUPTI in the same process does.
"""
import argparse
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional


class Tokens(torch.utils.data.Dataset):
    """The same random tokens at every run."""

    def __init__(self, count, length, words):
        self.count, self.length, self.words = count, length, words

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        dice = torch.Generator().manual_seed(index)
        return torch.randint(self.words, (self.length + 1,), generator=dice)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_layers = nn.LayerNorm(width), nn.LayerNorm(width)
        self.inputs, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.layers = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def attend(self, x):
        batch, length, width = x.shape
        parts = self.inputs(x).view(batch, length, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(*parts, is_causal=True)
        return self.output(mixed.transpose(1, 2).reshape(batch, length, width))

    def forward(self, x):
        x = x + self.attend(self.before_attention(x))
        return x + self.layers(self.before_layers(x))


class SmallGpt(nn.Module):
    def __init__(self, options):
        super().__init__()
        self.words = nn.Embedding(options.words, options.width)
        self.places = nn.Embedding(options.length, options.width)
        self.blocks = nn.Sequential(*(Block(options.width, options.heads) for _ in range(options.layers)))
        self.head = nn.Linear(options.width, options.words, bias=False)

    def forward(self, tokens):
        places = torch.arange(tokens.shape[1], device=tokens.device)
        return self.head(self.blocks(self.words(tokens) + self.places(places)))


def parse():
    parser = argparse.ArgumentParser(description="a small GPT on random tokens")
    for name, default in (("steps", 50), ("layers", 12), ("width", 768), ("heads", 12), ("length", 1024), ("words", 50304),
                          ("batch", 8), ("workers", 0), ("profile", -1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--compile", action="store_true")
    return parser.parse_args()


def start_ranks(options):
    """(rank, device): torchrun's variables say whether there are others."""
    if "RANK" not in os.environ:
        return 0, options.device
    dist.init_process_group("nccl" if options.device == "cuda" else "gloo")
    if options.device != "cuda":
        return dist.get_rank(), options.device
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    return dist.get_rank(), f"cuda:{os.environ['LOCAL_RANK']}"


def make_model(options, device):
    torch.manual_seed(0)
    model = SmallGpt(options).to(device)
    if options.compile:
        model = torch.compile(model)
    return nn.parallel.DistributedDataParallel(model) if dist.is_initialized() else model


def make_batches(options, rank):
    ranks = dist.get_world_size() if dist.is_initialized() else 1
    tokens = Tokens(options.steps * options.batch * ranks, options.length, options.words)
    mine = torch.utils.data.Subset(tokens, range(rank, len(tokens), ranks))
    return torch.utils.data.DataLoader(mine, options.batch, num_workers=options.workers,
                                       pin_memory=options.device == "cuda")


def train_step(model, optimizer, batch, device):
    tokens = batch.to(device, non_blocking=True)
    with torch.autocast(torch.device(device).type, dtype=torch.bfloat16):
        logits = model(tokens[:, :-1])
        loss = functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return loss


def main():
    options = parse()
    rank, device = start_ranks(options)
    model = make_model(options, device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=device != "cpu")
    profiler = torch.profiler.profile() if options.profile >= 0 else None
    started = time.perf_counter()
    for step, batch in enumerate(make_batches(options, rank)):
        if profiler and step == options.profile:
            profiler.start()
        loss = train_step(model, optimizer, batch, device)
        if profiler and step == options.profile + 1:
            profiler.stop()
        if rank == 0 and step % 10 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    print(f"rank {rank}: {options.steps} steps, loss {loss.item():.4f}", flush=True)
    if rank == 0:
        print(f"{(time.perf_counter() - started) / options.steps * 1000:.1f} ms a step")
    if dist.is_initialized():
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
