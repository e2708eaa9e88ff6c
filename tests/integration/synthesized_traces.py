#!/usr/bin/env python3
"""Writes small Kineto traces that have the oddities of real ones, each named where it is made; the same bytes every time.

    synthesized_traces.py FOLDER

FOLDER gets a directory for each job (its files are the ranks of one run: JOBS), `single` (one rank each, rank 0 in most
of them, so that they cannot be merged together) and `odd` (what readers stumble over). Members, categories, names and
the forms of numbers are those that libkineto's output_json.cpp and roctracer's writer use, or used.
"""
import gzip
import json
import os
import re
import sys

BASE_NS = 1759300074000000000          # baseTimeNanoseconds: times count from there
EPOCH_US = 1694128201435418            # of older traces, which count from 1970
JOBS = ("job-ns", "job-old-us", "job-sampled")
PID = 4242
LAUNCH = {"grid": [4, 1, 1], "block": [128, 1, 1], "registers per thread": 32, "shared memory": 0}


def us(ns):
    """As Kineto writes ns since it does: microseconds with exactly three decimals, which a double may not hold."""
    return f"@{'-' if ns < 0 else ''}{abs(ns) // 1000}.{abs(ns) % 1000:03}@"


def write(path, events, after=None, compact=False, **members):
    """`after`: members behind the events, where Kineto appends what it learns last."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    separators = (",", ":") if compact else None
    lines = ",\n".join(json.dumps(event, separators=separators) for event in events)
    head = "".join(f"{json.dumps(key)}: {json.dumps(value)},\n" for key, value in members.items())
    tail = "".join(f",\n{json.dumps(key)}: {json.dumps(value)}" for key, value in (after or {}).items())
    text = f'{{\n{head}"traceEvents": [\n{lines}\n]{tail}\n}}\n' if members or after else f"[\n{lines}\n]\n"
    data = re.sub(r'"@(-?[0-9.]+)@"', r"\1", text).encode()
    with open(path, "wb") as out:
        out.write(gzip.compress(data, mtime=0) if path.endswith(".gz") else data)


class Rank:
    """The events of one process, on a clock of ns that `time` writes down."""

    def __init__(self, pid=PID, gpu=0, time=us, flow="ac2g", old=False):
        self.pid, self.gpu, self.time, self.flow, self.old = pid, gpu, time, flow, old
        self.events, self.correlation = [], 100

    def add(self, phase, category, name, start, pid=None, tid=None, **more):
        event = {"ph": phase, "cat": category, "name": name, "pid": self.pid if pid is None else pid,
                 "tid": self.pid if tid is None else tid, "ts": self.time(start)}
        if category is None:
            del event["cat"]
        if "dur" in more:
            event["dur"] = self.time(more.pop("dur")) if self.time is not absolute else us_only(more.pop("dur"))
        self.events.append({**event, **more})

    def op(self, name, start, dur, category="cpu_op", tid=None, **args):
        self.add("X", "Operator" if self.old and category == "cpu_op" else category, name, start, tid=tid, dur=dur,
                 args={"External id": len(self.events), **args})

    def start(self, at, correlation):
        self.add("s", self.flow, self.flow, at, id=correlation)

    def end(self, at, correlation, tid=None, on_gpu=True):
        self.add("f", self.flow, self.flow, at, pid=self.gpu if on_gpu else None, tid=tid, id=correlation, bp="e")

    def call(self, name, at, dur, category="cuda_runtime", correlation=None, key="cbid"):
        """A call of the API; returns its correlation."""
        if correlation is None:
            self.correlation += 1
            correlation = self.correlation
        self.add("X", "Runtime" if self.old else category, name, at, dur=dur, args={key: 211, "correlation": correlation})
        return correlation

    def gpu_work(self, category, name, at, dur, stream, correlation, flow=True, **args):
        category = {"kernel": "Kernel", "gpu_memcpy": "Memcpy", "gpu_memset": "Memset"}[category] if self.old else category
        self.add("X", category, name, at, pid=self.gpu, tid=stream, dur=dur,
                 args={"device": self.gpu, "context": 1, "stream": stream, "correlation": correlation,
                       **(LAUNCH if category.lower() == "kernel" else {}), **args})
        if flow:
            self.end(at, correlation, stream)

    def launch(self, name, at, gpu_at, dur, stream=7, call="cudaLaunchKernel", category="cuda_runtime", flow=True, **args):
        correlation = self.call(call, at, 4500, category)
        if flow:
            self.start(at, correlation)
        self.gpu_work("kernel", name, gpu_at, dur, stream, correlation, flow, **args)

    def names(self, at, streams=(7,)):
        for name, pid, tid, args in (("process_name", self.pid, 0, {"name": "python"}),
                                     ("process_labels", self.pid, 0, {"labels": "CPU"}),
                                     ("process_sort_index", self.pid, 0, {"sort_index": self.pid}),
                                     ("process_name", self.gpu, 0, {"name": "python"}),
                                     ("process_labels", self.gpu, 0, {"labels": f"GPU {self.gpu}"}),
                                     ("thread_name", self.pid, self.pid, {"name": f"thread {self.pid} (python)"}),
                                     *(("thread_name", self.gpu, s, {"name": f"stream {s} "}) for s in streams),
                                     ("process_sort_index", "Spans", 0, {"sort_index": 0x20000000})):
            self.add("M", None, name, at, pid=pid, tid=tid, args=args)

    def frame(self, first, last):
        """What Kineto writes around it all: a span and two marks, of processes whose ids are words or nothing."""
        self.add("X", "Trace", "PyTorch Profiler (0)", first, pid="Spans", tid="PyTorch Profiler", dur=last - first,
                 args={"Op count": 0})
        self.add("i", None, "Iteration Start: PyTorch Profiler", first, pid="Traces", tid="Trace PyTorch Profiler", s="g")
        self.add("i", None, "Record Window End", last, pid="", tid="", s="g")


def absolute(ns):
    """Older traces: whole microseconds since 1970."""
    return EPOCH_US + ns // 1000


def us_only(ns):
    return ns // 1000


def device(index, name="NVIDIA H100 80GB HBM3"):
    return {"id": index, "name": name, "totalGlobalMem": 85028896768, "computeMajor": 9, "computeMinor": 0, "numSms": 132}


def collective(name, elements, ranks):
    return {"Collective name": name, "In msg nelems": elements, "Out msg nelems": elements * ranks, "Group size": ranks,
            "dtype": "BFloat16", "Process Group Name": "0", "Process Group Description": "default_pg",
            "Process Group Ranks": str(list(range(ranks)))}


def job_ns(folder, ranks=8, steps=4):
    """A job of today: times below a microsecond, relative to a base. Rank 1 is late. What is odd:
    - the first GPU work was launched before the window: ends of flows without a start, collectives without metadata,
      and a number of them that differs from rank to rank, so that only counting from the end matches them;
    - kernels are launched by the runtime and by the driver (Triton), and some run before the one ahead of them has ended
      (programmatic dependent launch);
    - NCCL's stream is 23 on rank 0 and 37 elsewhere; the pid of a GPU is its index, which a container's pid can be too;
    - overhead lies on pid -1, annotations on the GPU begin 1 ns early and end 1 ns late, calls without work end a flow."""
    for rank in range(ranks):
        r, late, nccl = Rank(75 + rank, rank), 400_000 if rank == 1 else 0, 37 if rank else 23
        r.names(0, (7, nccl))
        for i in range(3 + rank % 3):
            r.gpu_work("kernel", "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)", 1000 + 40_001 * (i + 2 - rank % 3), 8003,
                       nccl, 10 + i)
        for step in range(steps):
            at = 200_000 + 2_000_000 * step + 1237 * rank
            r.op(f"ProfilerStep#{step + 10}", at, 1_990_000, "user_annotation")
            r.op("## Call CompiledFxGraph f7p6 ##", at + 1000, 900_003, "user_annotation")
            r.add("X", "gpu_user_annotation", "## Call CompiledFxGraph f7p6 ##", at + 49_999, pid=rank, tid=7, dur=600_002,
                  args={"External id": 7})
            r.op("aten::mm", at + 2000, 40_001, **{"Sequence number": step, "Input Dims": [[768, 768], [], [1]]})
            r.add("C", "counter", "allocated", at + 4500, args={"MiB": 12.25 + step} if rank else {"MiB": 512})
            r.op("aten::cat", at + 4000, 3001, **{"Input Dims": [[[768, 2], [768, 3]], []], "Input Strides": [[[2, 1], [3, 1]], []],
                 "Input type": ["TensorList", "Scalar"], "Concrete Inputs": ["", "1"]})
            r.op("autograd::engine::evaluate_function: MmBackward0", at + 950_000, 90_001, tid=r.pid + 80)
            r.add("s", "fwdbwd", "fwdbwd", at + 2000, id=step + 1)
            r.add("f", "fwdbwd", "fwdbwd", at + 950_000, tid=r.pid + 80, id=step + 1, bp="e")
            for i in range(6):
                triton = {"call": "cuLaunchKernel", "category": "cuda_driver"} if i % 2 else {}
                r.launch(f"triton_poi_fused_{i}" if i % 2 else "nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NNT", at + 3000 + 9000 * i,
                         at + 50_000 + 90_000 * i, 90_000 + 701 * (i % 2), **triton)
            copy = r.call("cudaMemcpyAsync", at + 80_000, 31_493)
            r.start(at + 80_000, copy)
            r.gpu_work("gpu_memcpy", "Memcpy DtoD (Device -> Device)", at + 640_000, 1760, 7, copy, bytes=24,
                       **{"memory bandwidth (GB/s)": 0.013636363636363636})
            fill = r.call("cudaMemsetAsync", at + 120_000, 3000)
            r.start(at + 120_000, fill)
            r.gpu_work("gpu_memset", "Memset (Device)", at + 650_000, 1344, 7, fill, bytes=4)
            for i, name in enumerate(("_reduce_scatter_base", "_allgather_base")):
                word = "ReduceScatter_Sum_bf16" if i == 0 else "AllGather"
                begin = at + 700_000 + 500_000 * i + late
                r.launch(f"ncclDevKernel_{word}_RING_LL(ncclDevKernelArgsStorage<4096ul>)", at + 130_000 + 20_000 * i, begin,
                         at + 1_190_000 + 500_000 * i - begin + 20 * rank, nccl, "cudaLaunchKernelExC",
                         **collective(name, 1 << 20, ranks))
            r.end(at + 1_980_000, r.call("cudaDeviceSynchronize", at + 1_980_000, 9000), on_gpu=False)
        r.add("X", "overhead", "Unrecognized", 150_000, pid=-1, tid=0, dur=19_172)
        r.frame(0, 200_000 + 2_000_000 * steps)
        write(f"{folder}/rank{rank}-chrome-trace.json.gz", r.events, schemaVersion=1,
              deviceProperties=[device(i) for i in range(ranks)], cupti_version=24,
              distributedInfo={"backend": "nccl", "rank": rank, "world_size": ranks, "pg_count": 1, "nccl_version": "2.28.9",
                               "pg_config": [{"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl",
                                              "pg_size": ranks, "ranks": str(list(range(ranks)))}]},
              record_shapes=1, displayTimeUnit="ms", baseTimeNanoseconds=BASE_NS, traceName="/tmp/tmp0.json")


def job_old_us(folder, ranks=8):
    """An old job: whole microseconds since 1970, so that work lasts 0, and kernels of NCCL before 2.19, which say neither
    size nor group. The file's name has the rank, a step and a time; every call has a flow's end, with or without work."""
    for rank in range(ranks):
        r = Rank(59811 + rank, rank, absolute)
        r.names(0, (7, 20))
        r.op("ProfilerStep#12", 0, 3_000_000, "user_annotation")
        for i in range(12):
            at = 10_000 + 200_000 * i
            r.op("aten::embedding_bag", at, 60_000, Dims=[[i, 2]])
            r.launch("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float> >(int)", at + 5000,
                     at + 15_000, 40_000 if i % 3 else 0)
            r.end(at + 12_000, r.call("cudaStreamIsCapturing", at + 12_000, 1000), on_gpu=False)
            if i % 3 == 2:
                name = "SendRecv" if i % 2 else "AllReduce_RING_LL_Sum_float"
                r.launch(f"ncclKernel_{name}(ncclWorkElem)", at + 70_000, at + 80_000 + 3000 * rank, 60_000 - 3000 * rank, 20)
        r.frame(0, 3_000_000)
        write(f"{folder}/worker{rank}_step_12.{1694128201545 + rank}.pt.trace.json.gz", r.events, schemaVersion=1,
              deviceProperties=[device(rank, "Tesla V100-SXM2-32GB")],
              distributedInfo={"backend": "nccl", "rank": rank, "world_size": ranks}, record_shapes=1)


def job_sampled(folder):
    """2 of 128 ranks, sampled at moments of their own: the k-th collective of one is not that of the other. No flow events
    at all (correlations alone join), whole numbers written as 68.0, and no end of the window."""
    for rank in range(2):
        r = Rank(4037 + 8 * rank, rank, lambda ns: f"@{EPOCH_US + ns // 1000}.0@")
        r.names(0, (7, 23))
        for i in range(8 + rank):
            at = 21_000_000 * rank + 400_000 * i
            r.op("nccl:all_reduce" if i % 3 == rank else "aten::add_", at, 105_000, "user_annotation" if i % 3 == rank else "cpu_op")
            r.launch("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)" if i % 3 == rank else "permute_2D_lengths_kernel<int>",
                     at + 10_000, at + 60_000, 90_000, 23 if i % 3 == rank else 7, flow=False)
        for event in r.events:  # a duration is none since 1970
            if "dur" in event:
                event["dur"] = f"@{int(event['dur'][1:-3]) - EPOCH_US}.0@"
        write(f"{folder}/sampled_rank-{rank}.json.gz", r.events, schemaVersion=1, record_shapes=1,
              distributedInfo={"backend": "nccl", "rank": rank, "world_size": 128})


def two_of_one_rank(folder):
    """Two files of one process in one directory, of two runs, without a rank: words that only number them. Old categories,
    and the allocator's instants on no category, before Kineto named one."""
    for run in (0, 4):
        r = Rank(25738 + run, 0, absolute, flow="async", old=True)
        r.names(0)
        for i in range(5 + run):
            at = 90_000_000 * run + 100_000 * i
            r.op("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", at, 50_000)
            r.add("i", None, "[memory]", at + 1000, s="t", args={"Device Type": 1, "Device Id": 0, "Bytes": 512 if i % 2 else -512})
            r.launch("volta_scudnn_128x64_relu_interior_nn_v1", at + 20_000, at + 30_000, 20_000)
        r.frame(0, 90_000_000 * run + 1_000_000)
        write(f"{folder}/num_workers_{run}.pt.trace.json.gz", r.events, schemaVersion=1, deviceProperties=[device(0)])


def decode_graph(path):
    """Decoding by one CUDA graph: one launch, and one start, for many kernels; the flows' ends lie on the GPU's pid, which is
    not the rank; stream 0; no metadata that names a process; HIP's names and a `cid`."""
    r = Rank(851, 2)
    r.op("execute_32_context_0(sq0sk0)_generation_32(sq32sk55086)", 0, 2_408_598, "user_annotation")
    r.add("X", "python_function", "torch/utils/_contextlib.py(117): decorate_context", 1000, dur=2_343_898,
          args={"Python parent id": 107599957, "Python id": 107603480, "Ev Idx": 1})
    launch = r.call("hipGraphLaunch", 30_000, 90_000, key="cid")
    r.start(30_000, launch)
    for i in range(40):
        r.gpu_work("kernel", "Cijk_Alik_Bljk_HHS_BH_MT32x32" if i % 4 else "triton_red_fused_rms_norm_0", 100_000 + 9000 * i, 8001, 0,
                   launch, kind="Dispatch")
    r.end(2_000_000, r.call("hipEventSynchronize", 2_000_000, 2190, key="cid"), on_gpu=False)
    write(path, r.events, schemaVersion=1, roctracer_version=4.1, distributedInfo={"backend": "nccl", "rank": 2, "world_size": 8},
          displayTimeUnit="ms", baseTimeNanoseconds=BASE_NS)


def event_sync(path):
    """Waits of the CUDA API as GPU rows: thread -1, -1 for what is unknown, and waits that overlap kernels on their stream."""
    r = Rank(3727853, 0, absolute)
    r.names(0, (-1, 7, 20))
    r.launch("ampere_sgemm_128x64_nn", 10_000, 20_000, 123_000, 20)
    for i, (kind, tid) in enumerate((("Event Sync", -1), ("Stream Wait Event", 7), ("Stream Sync", 20), ("Context Sync", -1))):
        at = 30_000 + 40_000 * i
        correlation = r.call("cudaEventSynchronize", at, 5000)
        r.end(at, correlation, on_gpu=False)
        r.add("X", "cuda_sync", kind, at + 1000, pid=0, tid=tid, dur=60_000 if tid == 20 else 4000,
              args={"cuda_sync_kind": kind, "wait_on_stream": 20 if tid == 7 else -1, "wait_on_cuda_event_record_corr_id": -1,
                    "wait_on_cuda_event_id": 9, "stream": tid, "correlation": correlation, "device": 0, "context": 1})
    r.frame(0, 400_000)
    write(path, r.events, schemaVersion=1, distributedInfo={"rank": 0}, deviceProperties=[device(0)], INFO=["line 1", "line \"2\""])


def collective_args(path):
    """Everything that a collective can say, a Comms Id beyond 63 bits among it, and lists that were cut."""
    r = Rank(2910249)
    r.names(0, (7, 20))
    for i in range(4):
        r.launch("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)", 10_000 * i, 200_000 + 50_000 * i,
                 40_007, 20, **collective("allreduce", 25_557_032, 2), **{
                     "Seq": i, "Comms Id": 2**64 - 59, "In split size": "[1, 2, ...]", "Rank": 0, "Is asynchronized op": True})
    r.frame(0, 500_000)
    write(path, r.events, schemaVersion=1, deviceProperties=[device(0)], baseTimeNanoseconds=BASE_NS,
          distributedInfo={"backend": "nccl", "rank": 0, "world_size": 2})


def inference(path):
    """With memory, stacks and modules: instants of the allocator, Python's functions, a member that is an object, and names
    that need escapes. No rank."""
    r = Rank(25286)
    r.names(0)
    for i in range(8):
        at = 50_000 * i
        r.add("X", "python_function", f"model.py({i}): <lambda \"{i}\"> \u20ac\\n", at, dur=40_000, args={"Python id": i})
        r.op("aten::linear", at + 2000, 30_000, **{"Call stack": "a.py(1): f;b.py(2): g", "Module Hierarchy": "top(A).l(B)"})
        r.add("i", "cpu_instant_event", "[memory]", at + 3000, s="t",
              args={"Total Reserved": 0, "Total Allocated": 512 * i, "Bytes": 512, "Addr": 140022, "Device Id": -1, "Device Type": 0})
        r.launch("_Z13linear_kernelIfEvPKT_i", at + 9000, at + 12_000, 7001)
    r.frame(0, 500_000)
    write(path, r.events, metadata={"a": [1, {"b": None}]}, schemaVersion=1, deviceProperties=[device(0)], with_stack=1,
          baseTimeNanoseconds=BASE_NS)


def rccl(path):
    """An AMD GPU: RCCL's generic kernels under NCCL's name, GPU 2 for rank 0, copies with a kind instead of a name's arrow."""
    r = Rank(542, 2)
    r.names(0, (0, 3))
    r.launch("ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", 1000, 50_000, 300_001, 3, "hipExtLaunchKernel",
             **collective("allreduce", 4096, 8))
    r.launch("Cijk_Ailk_Bljk_BBS_BH_MT256x256x64", 9000, 60_000, 200_003, 0, "hipModuleLaunchKernel")
    copy = r.call("hipMemcpyWithStream", 20_000, 5001, key="cid")
    r.start(20_000, copy)
    r.gpu_work("gpu_memcpy", "CopyHostToDevice", 270_000, 4000, 0, copy, kind="HtoD", bytes=8)
    r.frame(0, 400_000)
    write(path, r.events, schemaVersion=1, deviceProperties=[device(i, "AMD Instinct MI300X") for i in range(8)],
          roctracer_version=4.1, distributedInfo={"backend": "nccl", "rank": 0, "world_size": 8}, baseTimeNanoseconds=BASE_NS)


def triton(path):
    """An annotation of another process (the launcher's), a start of a flow without an end, and a window in which the GPU
    worked once."""
    r = Rank(1670242)
    r.names(0)
    r.add("X", "user_annotation", "ProfilerStep#1", 90_100, pid=3100453, tid=3100453, dur=13_336_315_805, args={"External id": 5})
    r.launch("triton_poi_fused_add_cos_sin_0", 1_399_166, 1_444_592, 1760, call="cuLaunchKernel", category="cuda_driver")
    r.start(1_604_098, r.call("cudaDeviceSynchronize", 1_604_098, 16_846))
    r.frame(0, 355_494_184)
    write(path, r.events, schemaVersion=1, deviceProperties=[device(0)], baseTimeNanoseconds=BASE_NS)


def epoch_with_fraction(path):
    """Microseconds since 1970 with a fraction, of which a double keeps a quarter only."""
    r = Rank(1102, time=lambda ns: us(EPOCH_US * 1000 + ns))
    for i in range(6):
        r.op("aten::conv2d", 10_750 * i, 9_250, "cpu_op")
    for event in r.events:
        event["dur"] = "@9.25@"
    r.add("M", None, "process_name", 0, tid=0, args={"name": "python"})
    write(path, r.events, schemaVersion=1, deviceProperties=[], distributedInfo={"backend": "nccl", "rank": 0, "world_size": 1},
          displayTimeUnit="ms")


def odd(folder):
    cpu = Rank(1074)
    cpu.names(0, ())
    for i in range(4):
        cpu.op("aten::zeros", 100_000 * i, 60_304)
    cpu.frame(0, 500_000)
    # No GPU at all; of rank 34, which no other file tells of.
    write(f"{folder}/cpu-only-rank34.pt.trace.json.gz", cpu.events, schemaVersion=1, deviceProperties=[],
          distributedInfo={"backend": "gloo", "rank": 34, "world_size": 64}, INFO=[], baseTimeNanoseconds=BASE_NS)
    bare = Rank(3113936, time=absolute)
    for i in range(5):
        bare.op("aten::empty", 7000 * i, 5000)
    # Neither a rank nor a name of anything, whole microseconds; and JSON without spaces, in which HTA finds no rank.
    write(f"{folder}/distributed_info_not_found.json.gz", bare.events, schemaVersion=1)
    write(f"{folder}/compact.json", bare.events, compact=True, distributedInfo={"rank": 0})
    array = Rank(67844, time=absolute, flow="async", old=True)
    array.names(0)
    for i in range(6):
        array.op("aten::conv2d", 50_000 * i, 40_000)
        array.launch("volta_sgemm_128x64_nn", 50_000 * i + 5000, 50_000 * i + 20_000, 10_000)
    array.end(900_000, 4711, 7)
    # An array of events and nothing around it, categories of 2020, an end whose start is not there.
    write(f"{folder}/top-level-array.pt.trace.json.gz", array.events)
    gpu = Rank(44077, 1)
    gpu.names(0)
    for i in range(5):
        gpu.launch("Cijk_Ailk_Bljk_HHS_BH", 30_000 * i, 30_000 * i + 11_421, 9001, 0, "hipLaunchKernel")
        gpu.end(30_000 * i, gpu.correlation, on_gpu=False)
    gpu.frame(0, 400_000)
    # The GPU and its calls alone: no operator, no rank, GPU 1; and two ends for a flow, one on its own start.
    write(f"{folder}/gpu-only.json.gz", gpu.events, schemaVersion=1, roctracer_version=4.1, baseTimeNanoseconds=BASE_NS)
    none = Rank(924719, time=absolute)
    none.names(0)
    none.op("[param|cuda]", 0, 900_000, "user_annotation")
    for i in range(4):
        none.end(9000 * i, none.call("cudaStreamIsCapturing", 9000 * i, 5000), on_gpu=False)
        none.add("X", "cuda_profiler_range", "void fill<float, 4>(int)", 9000 * i, pid=0, tid=7, dur=4000,
                 args={"smsp__inst_executed.sum": 1.5e9})
    # Counters of CUPTI instead of kernels, a category that nobody knows; the rank is behind the events.
    write(f"{folder}/no-kernels-cupti-counters.json.gz", none.events, {"distributedInfo": {"rank": 0}}, schemaVersion=1,
          deviceProperties=[device(0)])
    other = Rank(865, 17)
    other.names(0, (1,))
    for i in range(4):
        correlation = other.call("mtiaLaunch", 20_000 * i, 5000, "mtia_runtime")
        other.start(20_000 * i, correlation)
        other.add("X", "mtia_ccp_events", "fc_0", 20_000 * i + 9000, pid=17, tid=1, dur=8000, args={"correlation": correlation})
        other.end(20_000 * i + 9000, correlation, 1)
    # Another maker's device and categories, GPU 17, errors among the members.
    write(f"{folder}/mtia_inference_rank_0.json.gz", other.events, schemaVersion=1,
          deviceProperties=[{"id": 17, "name": "ARTEMIS"}], baseTimeNanoseconds=BASE_NS, ERROR=["ERROR: 865 DeviceProperties.cpp:47] \\"])


def write_all(folder):
    job_ns(f"{folder}/job-ns")
    job_old_us(f"{folder}/job-old-us")
    job_sampled(f"{folder}/job-sampled")
    two_of_one_rank(f"{folder}/two-of-one-rank")
    decode_graph(f"{folder}/single/decode-graph.json.gz")
    event_sync(f"{folder}/single/event-sync.json.gz")
    collective_args(f"{folder}/single/collective-args.json.gz")
    inference(f"{folder}/single/inference.json.gz")
    rccl(f"{folder}/single/rccl-rank0of8.json.gz")
    triton(f"{folder}/single/triton.json.gz")
    epoch_with_fraction(f"{folder}/single/epoch-with-fraction.pt.trace.json.gz")
    odd(f"{folder}/odd")
    return folder


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write_all(sys.argv[1])
