"""The parts, in the order in which they run. Each is parts/NAME.py with run(part); see part.py."""
from collections import namedtuple

# `needs`: what must be on the machine (machine.py says whether it is); `simulated`: it runs with --simulate too, where
# the stand-ins are its GPU and g++ is its nvcc.
Row = namedtuple("Row", "name what minutes needs simulated")
PARTS = (
    Row("first_minutes", "results that need hardware: owner of CUPTI's buffers, kill and reset under load, soak", 3,
        ("gpu", "nvcc"), True),
    Row("smoke", "a CUDA program with known work, compared with its recording", 1, ("gpu", "nvcc"), True),
    Row("torch", "step times of a GPT-2-sized training without the agent, with it, and under torch.profiler and nsys", 8,
        ("gpu", "torch"), False),
    Row("torch_compile", "the same with torch.compile", 8, ("gpu", "torch"), False),
    Row("fidelity", "names, counts and durations of kernels compared with torch.profiler's; then both at once", 4,
        ("gpu", "torch"), False),
    Row("operators", "operators, their kernels and modules compared with torch.profiler's in one process; the cost of each level", 6,
        ("gpu", "torch"), False),
    Row("memory", "allocations and a failed one, compared with the history that PyTorch records in the same process", 2, ("gpu", "torch"), False),
    Row("ranks", "2 and 4 ranks on one GPU, DDP and FSDP: every collective on all ranks, compared with PyTorch's requests", 6,
        ("gpu", "torch", "nccl"), False),
    Row("native", "a training without Python, static cudart, like llm.c", 1, ("gpu", "nvcc"), True),
    Row("kill", "ways to end a process: surviving records, and the cost of the end", 5, ("gpu", "nvcc"), True),
    Row("graphs", "cost of a node, attribution of nodes to their capture, memory over millions of nodes", 4, ("gpu", "nvcc"), True),
    Row("cost", "ns per launch of an empty kernel: kinds, sets, buffers, flush periods", 5, ("gpu", "nvcc"), True),
    Row("capture", "CUPTI's buffers and NCCL's payloads as they come, as fixtures of the tests", 2, ("gpu", "nvcc"), True),
)
