#!/usr/bin/env python3
"""Writes the files of nanochat's profiler for a TransformerEncoder (transformer_profile.py), without PyTorch and without a GPU: for each of
four stages a profile and a memory snapshot, named as nanochat names them.

    stages.py [--layers 12] DIRECTORY"""
import argparse
import os

from memory_history import AUTOGRAD, OPTIMIZER, SETUP, operator
from transformer_profile import BYTES, Block, Layer, Profile, step

MOMENT = "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4> >(int)"


class Stages(Profile):
    """The stages share a host, a GPU and an allocator. Each has events and a history of its own."""

    def __init__(self, layers):
        super().__init__()
        self.layers = [Layer(self) for _ in range(layers)]

    def hold(self, count, *frames):
        """A tensor that stays in use."""
        block = Block(count)
        block.address = self.history.allocate(count * BYTES, self.host // 1000, self.history.stack(*frames))
        self.change(count * BYTES, block.address)
        self.elementwise("fill", count, 1)
        return block

    def model_init(self):
        for layer in self.layers:
            layer.weights = self.hold(Layer.WEIGHTS, operator("_to_copy"), *SETUP)

    def eval_bpb(self):
        for layer in self.layers:
            layer.forward()
            layer.forget()
        for layer in self.layers:
            self.free(*layer.kept)
            layer.kept = []

    def training_microsteps(self):
        for layer in self.layers:
            layer.gradients_of_weights = self.hold(Layer.WEIGHTS, operator("empty_like"), *AUTOGRAD)
        for _ in range(4):
            step(self, self.layers, False)

    def optimizer_step(self):
        for layer in self.layers:
            layer.moments = [self.hold(Layer.WEIGHTS, operator("zeros_like"), *OPTIMIZER) for _ in range(2)]
        self.op("aten::_fused_adamw_", [[Layer.WEIGHTS]] * 4, MOMENT, 10 * Layer.WEIGHTS * len(self.layers), 4 * Layer.WEIGHTS * len(self.layers))
        self.free(*(layer.gradients_of_weights for layer in self.layers))

    def stage(self, name, directory):
        self.events, self.history.entries, self.history.recording = [], [], True
        begin = self.host
        getattr(self, name.partition("-")[2])()
        self.host = max(self.host, self.gpu) + 5_000
        self.add("user_annotation", "ProfilerStep#0", begin, self.host - begin, 4242, 4242)
        self.history.recording = False
        self.write(os.path.join(directory, f"{name}_trace.json"))
        self.history.write(os.path.join(directory, f"{name}_mem.pickle"))


def main():
    parser = argparse.ArgumentParser(description="Profiles and memory snapshots of four stages, as nanochat writes them.")
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("directory")
    options = parser.parse_args()
    stages = Stages(options.layers)
    for number, name in enumerate(("model_init", "eval_bpb", "training_microsteps", "optimizer_step"), 1):
        stages.stage(f"stage{number}-{name}", options.directory)


if __name__ == "__main__":
    main()
