"""torch_compile: the part torch with torch.compile."""
from parts import torch


def run(part):
    torch.run(part, compiled=True)
