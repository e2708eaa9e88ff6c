// Beside all of the agent, preloaded instead of libagent.so: changes what is recorded of PyTorch, again and again. For a Python, by ctypes.
#include <unistd.h>

#include "agent/torch/operators.h"

// `lowest`: the level that is not gone below, 0 to 6 (trace::TorchLevel). A level comes after each other one.
extern "C" __attribute__((visibility("default"))) void change_levels(int count, int lowest, int between_us) {
  const int levels = 7 - lowest;
  for (int i = 0; i < count; ++i) {
    const int by = 1 + i / levels % (levels - 1), level = (i * by + i / levels) % levels;
    agent::change_torch_level(static_cast<trace::TorchLevel>(lowest + level));
    usleep(static_cast<useconds_t>(between_us));
  }
}
