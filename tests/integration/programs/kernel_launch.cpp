// A simulated GPU for a Python that loads this by ctypes.
#include <memory>

#include "gpu.h"

namespace {

std::unique_ptr<programs::Gpu> s_launched_on;

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED void gpu_begin() { s_launched_on = std::make_unique<programs::Gpu>(); }
// In each further thread that launches.
EXPORTED void gpu_use_here() { s_launched_on->use_here(); }
// One kernel that takes so long.
EXPORTED void gpu_launch(unsigned long long duration_ns) { s_launched_on->launch(1, duration_ns); }
EXPORTED void gpu_end() {
  s_launched_on->wait();
  s_launched_on.reset();
}
