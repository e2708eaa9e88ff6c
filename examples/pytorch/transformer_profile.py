#!/usr/bin/env python3
"""Writes a profile as torch.profiler would (record_shapes=True, profile_memory=True) of training steps of a TransformerEncoder in
bfloat16 on an A100, without PyTorch and without a GPU: operators, sizes of their inputs and allocations are those of the model;
how long a kernel takes is computed from its operations and bytes. The same bytes every time.

    transformer_profile.py [--layers 12] [--steps 3] [--checkpoint] [--snapshot FILE] -o FILE

What torch.cuda.max_memory_allocated() would say at the end is printed. --snapshot also writes the history of the allocator, from the
first step on, as torch.cuda.memory._dump_snapshot() would."""
import argparse
import json
import os

from memory_history import AUTOGRAD as ENGINE
from memory_history import MAIN as CALLER
from memory_history import MODULE_CALL, RECOMPUTED, TORCH, History, frame, operator

BATCH, TOKENS, WIDTH, HEADS, INNER, CLASSES = 16, 256, 1024, 16, 4096, 10
ROWS, BYTES = BATCH * TOKENS, 2  # of an element
PEAK_FLOP_PER_NS, PEAK_BYTES_PER_NS = 312_000, 2_039  # of an A100 80 GB: bf16, memory
REACHED = 0.7
HOST_NS, LAUNCH_NS = 14_000, 4_000  # of an operator on the host, and of the launch in it
SEGMENT = 20 << 20  # what the allocator asks the driver for, at least
MAIN, AUTOGRAD = 4242, 4343  # threads
LINES = {"forward": 910, "_sa_block": 935, "_ff_block": 949}  # in TransformerEncoderLayer


def elements(*sizes):
    count = 1
    for size in sizes:
        count *= size
    return count


class Block(int):
    """A number of elements, and where they are."""
    address = 0


class Profile:
    def __init__(self):
        self.history, self.recomputes = History(), False
        self.events, self.host, self.gpu, self.number = [], 1_000_000, 0, 0
        self.used = self.reserved = self.peak = 0
        self.thread, self.sequence = MAIN, 0

    def add(self, category, name, start, duration, pid, tid, **args):
        self.events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start / 1000, "dur": duration / 1000,
                            "args": args})

    def frames(self, name, function):
        """Of an allocation by the operator `name`, which this function of the layer calls unless the thread is autograd's own."""
        if function is None:
            return self.history.stack(operator(name), *ENGINE)
        called = [operator(name), frame(function, f"{TORCH}/nn/modules/transformer.py", LINES[function]), MODULE_CALL]
        return self.history.stack(*called, *(RECOMPUTED if self.recomputes else [CALLER]))

    def allocate(self, count, name="empty", function="forward"):
        block = Block(count)
        block.address = self.history.allocate(count * BYTES, self.host // 1000, self.frames(name, function))
        self.change(count * BYTES, block.address)
        return block

    def free(self, *blocks):
        for block in blocks:
            self.history.free(block.address, self.host // 1000)
            self.change(-block * BYTES, block.address)

    def change(self, size, address):
        self.used += size
        self.peak = max(self.peak, self.used)
        self.reserved = max(self.reserved, -(-self.used // SEGMENT) * SEGMENT)
        self.events.append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": MAIN, "tid": self.thread,
                            "ts": self.host / 1000,
                            "args": {"Total Reserved": self.reserved, "Total Allocated": self.used, "Bytes": size, "Addr": address,
                                     "Device Id": 0, "Device Type": 1, "Ev Idx": len(self.events)}})

    def op(self, name, dims, kernel, flop, count, inputs=(), types=None):
        """An operator that launches one kernel, of so many operations, which moves `count` elements."""
        self.number += 1
        start, ids = self.host, {"External id": self.number, "correlation": self.number}
        args = {"External id": self.number, "Input Dims": dims, "Input type": types or ["c10::BFloat16"] * len(dims), "Concrete Inputs": list(inputs)}
        if self.thread == MAIN:
            args["Sequence number"] = self.sequence = self.sequence + 1
        self.add("cpu_op", name, start, HOST_NS, MAIN, self.thread, **args)
        self.add("cuda_runtime", "cudaLaunchKernel", start + HOST_NS - LAUNCH_NS - 1000, LAUNCH_NS, MAIN, self.thread, cbid=211, **ids)
        self.gpu = max(self.gpu + 900, start + HOST_NS + 2_600)
        length = 1_500 + int(max(flop / PEAK_FLOP_PER_NS, count * BYTES / PEAK_BYTES_PER_NS) / REACHED)
        self.add("kernel", kernel, self.gpu, length, 0, 7, device=0, context=1, stream=7, grid=[108, 1, 1], block=[256, 1, 1], **ids)
        self.gpu += length
        self.host += HOST_NS

    def product(self, name, m, k, n):
        """m x k times k x n; `aten::addmm` adds a bias."""
        dims = [[m, k], [k, n]] if name == "aten::mm" else [[n], [m, k], [k, n]]
        self.op(name, dims, "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", 2 * m * k * n, m * k + k * n + m * n)

    def elementwise(self, name, count, arrays):
        kernel = f"void at::native::vectorized_elementwise_kernel<4, at::native::{name}_functor<c10::BFloat16> >(int)"
        self.op(f"aten::{name}", [[count]] * (arrays - 1), kernel, count, arrays * count)

    def norm(self, backward=False):
        name = "layer_norm_grad_input_kernel_vectorized" if backward else "vectorized_layer_norm_kernel"
        self.op("aten::native_layer_norm" + ("_backward" if backward else ""), [[BATCH, TOKENS, WIDTH]],
                f"void at::native::(anonymous namespace)::{name}<c10::BFloat16, float>(int)", 8 * ROWS * WIDTH, (3 if backward else 2) * ROWS * WIDTH)

    def attention(self, backward=False):
        one, total = [BATCH, TOKENS, HEADS, WIDTH // HEADS], ROWS * WIDTH
        flop = (10 if backward else 4) * BATCH * HEADS * TOKENS * TOKENS * WIDTH // HEADS
        dims = [one] * (6 if backward else 3)
        inputs = [""] * 11 + ["False"] if backward else [""] * 8 + ["False"]
        word = "bwd_dq_dk_dv_loop_seqk_parallel" if backward else "fwd"
        self.op(f"aten::_flash_attention_{'backward' if backward else 'forward'}", dims + [[]] * (len(inputs) - len(dims)),
                f"void pytorch_flash::flash_{word}_kernel<64, 128>(Flash_params)", flop, (8 if backward else 4) * total, inputs,
                ["c10::BFloat16"] * len(dims) + ["Scalar"] * (len(inputs) - len(dims)))

    def write(self, path):
        device = {"id": 0, "name": "NVIDIA A100-SXM4-80GB", "totalGlobalMem": 85_899_345_920, "computeMajor": 8, "computeMinor": 0, "numSms": 108}
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "w", encoding="utf-8") as out:
            json.dump({"schemaVersion": 1, "deviceProperties": [device], "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1},
                       "record_shapes": 1, "profile_memory": 1, "displayTimeUnit": "ms", "baseTimeNanoseconds": 1_700_000_000_000_000_000,
                       "traceEvents": self.events}, out)


class Layer:
    """TransformerEncoderLayer, without dropout, norm last. What forward keeps for backward is in `kept`."""
    WEIGHTS = 4 * WIDTH * WIDTH + 2 * WIDTH * INNER + 9 * WIDTH + INNER

    def __init__(self, profile):
        self.p, self.kept = profile, []

    def forward(self):
        p, one = self.p, ROWS * WIDTH
        self.kept = [p.allocate(3 * one, "linear", "_sa_block")]
        p.product("aten::addmm", ROWS, WIDTH, 3 * WIDTH)
        self.kept.append(p.allocate(one, "scaled_dot_product_attention", "_sa_block"))
        p.attention()
        self.project_and_norm(WIDTH, "_sa_block")
        inner = p.allocate(ROWS * INNER, "linear", "_ff_block")
        p.product("aten::addmm", ROWS, WIDTH, INNER)
        self.kept.append(p.allocate(ROWS * INNER, "relu", "_ff_block"))
        p.elementwise("relu", ROWS * INNER, 2)
        p.free(inner)
        self.project_and_norm(INNER, "_ff_block")

    def project_and_norm(self, width, function):
        p, one = self.p, ROWS * WIDTH
        projected = p.allocate(one, "linear", function)
        p.product("aten::addmm", ROWS, width, WIDTH)
        self.kept.append(p.allocate(one, "add_Tensor"))
        p.elementwise("add", one, 3)
        p.free(projected)
        self.kept.append(p.allocate(one, "layer_norm"))
        p.norm()

    def forget(self):
        """All but the output, which is the next layer's input."""
        self.p.free(*self.kept[:-1])
        self.kept = self.kept[-1:]

    def backward(self):
        p = self.p
        p.norm(True)
        self.gradients(INNER, WIDTH)
        p.elementwise("threshold_backward", ROWS * INNER, 3)
        self.gradients(WIDTH, INNER)
        p.norm(True)
        self.gradients(WIDTH, WIDTH)
        p.attention(True)
        self.gradients(WIDTH, 3 * WIDTH)
        p.free(*self.kept)
        self.kept = []

    def gradients(self, k, n):
        """Of the inputs and the weights of a product of `ROWS` x k with k x n."""
        p = self.p
        gradient = p.allocate(ROWS * k, "mm", None)
        p.product("aten::mm", ROWS, n, k)
        p.product("aten::mm", n, ROWS, k)
        p.free(gradient)


def step(profile, layers, checkpoint):
    for layer in layers:
        layer.forward()
        if checkpoint:
            layer.forget()
    profile.product("aten::addmm", ROWS, WIDTH, CLASSES)  # a classifier of ten classes for each token
    profile.thread = AUTOGRAD
    for layer in reversed(layers):
        if checkpoint:
            profile.free(*layer.kept)
            profile.recomputes = True
            layer.forward()
            profile.recomputes = False
        layer.backward()
    profile.thread = MAIN


def main():
    parser = argparse.ArgumentParser(description="A profile of a TransformerEncoder, as torch.profiler would write it.")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--checkpoint", action="store_true", help="layers keep their inputs only, and backward computes the rest again")
    parser.add_argument("--snapshot", metavar="FILE", help="write the history of the allocator, too")
    parser.add_argument("-o", "--output", required=True)
    options = parser.parse_args()
    profile = Profile()
    layers = [Layer(profile) for _ in range(options.layers)]
    profile.allocate(2 * options.layers * Layer.WEIGHTS)  # and their gradients
    profile.history.recording = True
    for number in range(options.steps):
        begin = profile.host
        step(profile, layers, options.checkpoint)
        profile.add("cuda_runtime", "cudaDeviceSynchronize", profile.host, max(profile.gpu - profile.host, 0) + 2000, MAIN, MAIN, cbid=165,
                    correlation=10_000_000 + number)
        profile.host = max(profile.host, profile.gpu) + 5_000
        profile.add("user_annotation", f"ProfilerStep#{number}", begin, profile.host - begin, MAIN, MAIN)
        profile.host += 1_000
    profile.write(options.output)
    if options.snapshot:
        profile.history.write(options.snapshot)
    print(f"peak memory: {profile.peak} bytes")


if __name__ == "__main__":
    main()
