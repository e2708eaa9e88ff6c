"""tracetool: where did the time of a training run go, on every GPU.

The programs lie in this folder. `tracetool` on the command line starts the program; `python -m tracetool agent-path` prints where the agent is,
for CUDA_INJECTION64_PATH.
"""
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))


def agent_path():
    """Returns the path of libagent.so."""
    return os.path.join(FOLDER, "libagent.so")


def main():
    """Becomes the program, with the arguments of this process."""
    if sys.argv[1:] == ["agent-path"]:
        print(agent_path())
        return
    program = os.path.join(FOLDER, "tracetool")
    if not os.path.exists(program):
        sys.exit("tracetool: for this processor the package has the agent alone (python -m tracetool agent-path): read the recordings on x86-64")
    os.execv(program, ["tracetool", *sys.argv[1:]])
