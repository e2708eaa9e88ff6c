"""Small PyTorch programs for test_pytorch.py: pytorch_programs.py NAME. Each prints the same at every run."""
import os
import signal
import sys
import threading
import time

import torch


def say(*words):
    """One line in one write: the ranks of a job share the pipe."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


class Squares(torch.utils.data.Dataset):
    def __len__(self):
        return 64

    def __getitem__(self, index):
        return torch.tensor([index * index / 4096.0])


def train(model, batches):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in batches:
        optimizer.zero_grad()
        loss = (model(batch) - 2 * batch).pow(2).mean()
        loss.backward()
        optimizer.step()
        say(f"loss {loss.item():.6f}")


def threads():
    return len(os.listdir("/proc/self/task"))


def threads_more_than(before):
    """How many threads stay, when those that are about to end have ended."""
    give_up = time.monotonic() + 2
    while threads() > before and time.monotonic() < give_up:
        time.sleep(0.01)
    return threads() - before


def loader():
    torch.manual_seed(1)
    before = threads()
    for context in ("fork", "spawn"):
        workers = 4 if context == "fork" else 1
        batches = torch.utils.data.DataLoader(Squares(), batch_size=16, num_workers=workers,
                                              multiprocessing_context=context)
        train(torch.nn.Linear(1, 1), batches)
    say("threads left", threads_more_than(before))


def start_group():
    torch.distributed.init_process_group("gloo")
    return torch.distributed.get_rank(), torch.distributed.get_world_size()


def distributed():
    rank, size = start_group()
    torch.manual_seed(rank)
    total = torch.full((1000,), float(rank + 1))
    torch.distributed.all_reduce(total)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 1))
    train(model, [torch.ones(4, 8) * step for step in range(3)])
    say(f"rank {rank} of {size}: {total.sum().item():.0f}")
    torch.distributed.destroy_process_group()
    # A normal exit after backward passes and gloo aborts in every fourth run of torch 2.15 ("terminate called without an
    # active exception"), with and without the agent. The other programs exit as usual.
    os._exit(0)


def distributed_failure():
    rank, _ = start_group()
    say(f"rank {rank}")
    torch.distributed.barrier()
    if rank == 1:
        os._exit(3)
    torch.distributed.barrier()


def exception():
    say("before")
    torch.zeros(2, 3) @ torch.zeros(2, 3)


def exit_in_thread():
    thread = threading.Thread(target=lambda: sys.exit(5))
    thread.start()
    thread.join()
    say("the program goes on", torch.ones(3).sum().item())


def exit_code():
    say(torch.ones(3).sum().item())
    threading.Thread(target=lambda: time.sleep(60), daemon=True).start()
    sys.exit(7)


def killed():
    say(torch.ones(3).sum().item())
    os.kill(os.getpid(), signal.SIGKILL)


def nvtx():
    for step in range(1000):
        torch.cuda.nvtx.range_push(f"step {step}")
        torch.cuda.nvtx.mark("here")
        torch.cuda.nvtx.range_pop()
    say((torch.ones(3) + 1).sum().item())


def profiler():
    kinds = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=kinds) as profile:
        torch.ones(100, 100) @ torch.ones(100, 100)
    say(sorted({event.key for event in profile.key_averages()}))


def cuda():
    say(torch.cuda.is_available(), torch.cuda.device_count(), torch.version.cuda, torch.cuda.nccl.version()
          if torch.version.cuda else "")
    try:
        torch.zeros(1, device="cuda")
    except (RuntimeError, AssertionError) as error:
        say(type(error).__name__, str(error).splitlines()[0])


if __name__ == "__main__":
    globals()[sys.argv[1]]()
