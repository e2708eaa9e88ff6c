#!/usr/bin/env python3
"""A few steps of a small GPT on several ranks, by DistributedDataParallel or FullyShardedDataParallel, and what each rank
asked of NCCL, as PyTorch itself dispatched it (c10d's operators), in the order of the calls.

  torchrun --nproc-per-node=2 torch_ranks.py --how ddp --calls DIR

Each rank writes DIR/rankN.json: {"rank", "ranks", "calls": [[group, op, bytes], ...]}. Bytes are in NCCL's own sense: the part
of one rank for all_gather and reduce_scatter. All ranks use the GPU LOCAL_RANK, or 0 with --one-gpu: NCCL allows that where
NCCL_HOSTID differs from rank to rank. --device cpu is for the tests (gloo).
"""
import argparse
import json
import os
import sys

import torch
import torch.distributed as dist
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

EXAMPLES = os.environ.get("GPU_CHECK_EXAMPLES", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..",
                                                             "examples"))
sys.path.insert(0, os.path.join(EXAMPLES, "pytorch"))
from train_small import Block, SmallGpt  # noqa: E402

# c10d's operator: NCCL's call, and which of its arguments has the tensors that count.
CALLS = {"allreduce_": ("ncclAllReduce", 0), "allreduce_coalesced_": ("ncclAllReduce", 0), "broadcast_": ("ncclBroadcast", 0),
         "reduce_": ("ncclReduce", 0), "allgather_": ("ncclAllGather", 1), "_allgather_base_": ("ncclAllGather", 1),
         "allgather_into_tensor_coalesced_": ("ncclAllGather", 1), "reduce_scatter_": ("ncclReduceScatter", 0),
         "_reduce_scatter_base_": ("ncclReduceScatter", 0), "reduce_scatter_tensor_coalesced_": ("ncclReduceScatter", 0),
         "send": ("ncclSend", 0), "recv_": ("ncclRecv", 0)}


def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [each for item in value for each in tensors(item)]


def group_of(arguments):
    """The name of the process group among the arguments of an operator."""
    for value in arguments:
        try:
            return dist.ProcessGroup.unbox(value).group_name
        except (RuntimeError, TypeError, AttributeError):
            continue
    return "unknown"


class Log(TorchDispatchMode):
    """Every collective that passes PyTorch's dispatcher, also those that DDP's and FSDP's own code asks for."""

    def __init__(self):
        super().__init__()
        self.calls, self.unknown = [], []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        space, name = function._schema.name.split("::")
        if space == "c10d":
            self.note(name, args)
        return function(*args, **(kwargs or {}))

    def note(self, name, arguments):
        if name not in CALLS:
            self.unknown.append(name)
            return
        call, place = CALLS[name]
        for values in tensors(arguments[place]):
            self.calls.append([group_of(arguments), call, values.numel() * values.element_size()])


def wrap(how, model, device):
    if how == "ddp":
        return torch.nn.parallel.DistributedDataParallel(model, bucket_cap_mb=1)
    from torch.distributed.fsdp import FullyShardedDataParallel
    from torch.distributed.fsdp.wrap import ModuleWrapPolicy
    place = torch.device("cpu") if device == "cpu" else torch.device(device)
    return FullyShardedDataParallel(model, auto_wrap_policy=ModuleWrapPolicy({Block}), device_id=place, use_orig_params=True)


def train(model, options, device):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    dice = torch.Generator().manual_seed(dist.get_rank())
    for _ in range(options.steps):
        tokens = torch.randint(options.words, (options.batch, options.length + 1), generator=dice).to(device)
        loss = functional.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return loss.item()


def parse():
    parser = argparse.ArgumentParser(description="steps of a small GPT on several ranks")
    parser.add_argument("--how", choices=("ddp", "fsdp"), required=True)
    parser.add_argument("--calls", required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--one-gpu", action="store_true")
    for name, default in (("steps", 4), ("layers", 4), ("width", 256), ("heads", 4), ("length", 128), ("words", 1024),
                          ("batch", 4)):
        parser.add_argument(f"--{name}", type=int, default=default)
    return parser.parse_args()


def main():
    options = parse()
    device = options.device
    if device == "cuda":
        device = f"cuda:{0 if options.one_gpu else int(os.environ['LOCAL_RANK'])}"
        torch.cuda.set_device(device)
    dist.init_process_group("gloo" if device == "cpu" else "nccl")
    torch.manual_seed(0)
    log = Log()
    with log:
        model = wrap(options.how, SmallGpt(options).to(device), device)
        loss = train(model, options, device)
    found = {"rank": dist.get_rank(), "ranks": dist.get_world_size(), "loss": loss, "calls": log.calls, "unknown": log.unknown}
    with open(os.path.join(options.calls, f"rank{dist.get_rank()}.json"), "w", encoding="utf-8") as file:
        json.dump(found, file)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
