// cuInit.
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "attach.h"
#include "call.h"
#include "cbids.h"
#include "notes.h"
#include "objects.h"

namespace sim {
namespace {

std::atomic<bool> s_initialized{false};

// As the driver does it: once, inside cuInit, before it has finished; a failure stops nothing.
void inject() {
  const char* path = std::getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr || path[0] == '\0' || std::strcmp(path, "none") == 0) return;
  void* library = dlopen(path, RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "simulated libcuda: CUDA_INJECTION64_PATH: %s\n", dlerror());
    return;
  }
  using Entry = int (*)();
  if (auto entry = reinterpret_cast<Entry>(dlsym(library, "InitializeInjection"))) entry();
}

// The process leaves: the driver takes its contexts down, and CUPTI with it. Registered where cuInit ends, so behind
// whatever the injected library registered in it: a client that wants to be there earlier has to come later.
void tear_down() {
  if (const Bridge* to = bridge()) to->torn_down();
  for (const Context* context : live_contexts())
    tell_resource(CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, const_cast<Context*>(context), nullptr);
}

}  // namespace

bool is_initialized() { return s_initialized.load(std::memory_order_acquire); }

}  // namespace sim

using namespace sim;

CUresult cuInit(unsigned int flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  static std::once_flag once;
  std::call_once(once, [] {
    inject();
    s_initialized.store(true, std::memory_order_release);
    for (std::uint32_t device = 0; device < device_count(); ++device) tell_device(device);
    tell_resource(CUPTI_CBID_RESOURCE_CU_INIT_FINISHED, nullptr, nullptr);
    std::atexit(tear_down);
  });
  SIM_DRIVER_CALL(cuInit);
  return call.end(CUDA_SUCCESS);
}

CUresult cuDriverGetVersion(int* version) {
  SIM_DRIVER_CALL(cuDriverGetVersion);
  *version = CUDA_VERSION;
  return call.end(CUDA_SUCCESS);
}
