// Kernels of a program that was compiled by nvcc, or by g++ in its manner (examples/cuda/launch.h): named by the address
// of a function of the host. What they compute and how long it takes is unknown, so each takes kDefaultKernelNs.
#include <mutex>
#include <unordered_map>

#include "exports.h"
#include "launch.h"

namespace sim {
namespace {

struct HostKernels {
  std::mutex mutex;
  std::unordered_map<const void*, const Function*> functions;
};

HostKernels& kernels() {
  static auto* const made = new HostKernels;
  return *made;
}

}  // namespace

const void* device_function(const void* host) {
  const std::lock_guard lock(kernels().mutex);
  const auto found = kernels().functions.find(host);
  return found != kernels().functions.end() ? found->second : host;
}

}  // namespace sim

// As nvcc's code calls it before main; again for the same kernel it does nothing.
SIM_EXPORT void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, uint3*, uint3*, dim3*,
                                       dim3*, int*) {
  const std::lock_guard lock(sim::kernels().mutex);
  const sim::Function*& known = sim::kernels().functions[host];
  if (known == nullptr) known = sim::add_function(name);
}
