// cuInit and what can be asked before a context exists. An H100 with 80 GB answers.
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "attach.h"
#include "call.h"
#include "cbids.h"

namespace sim {
namespace {

constexpr std::size_t kMemoryBytes = 85'029'158'912;
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

int attribute_value(CUdevice_attribute attribute, CUdevice device) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return 132;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return 9;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return 0;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      return 32;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      return 1'980'000;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      return 2'619'000;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      return 5'120;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      return 0x1b + 0x10 * device;
    default:
      return 0;
  }
}

bool is_device(CUdevice device) { return device >= 0 && static_cast<std::uint32_t>(device) < device_count(); }

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
    tell_resource(CUPTI_CBID_RESOURCE_CU_INIT_FINISHED, nullptr, nullptr);
  });
  SIM_DRIVER_CALL(cuInit);
  return call.end(CUDA_SUCCESS);
}

CUresult cuDriverGetVersion(int* version) {
  SIM_DRIVER_CALL(cuDriverGetVersion);
  *version = CUDA_VERSION;
  return call.end(CUDA_SUCCESS);
}

CUresult cuDeviceGetCount(int* count) {
  if (!is_initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  SIM_DRIVER_CALL(cuDeviceGetCount);
  *count = static_cast<int>(device_count());
  return call.end(CUDA_SUCCESS);
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (!is_initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  SIM_DRIVER_CALL(cuDeviceGet);
  if (!is_device(ordinal)) return call.end(CUDA_ERROR_INVALID_DEVICE);
  *device = ordinal;
  return call.end(CUDA_SUCCESS);
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  SIM_DRIVER_CALL(cuDeviceGetName);
  if (!is_device(device)) return call.end(CUDA_ERROR_INVALID_DEVICE);
  std::snprintf(name, static_cast<std::size_t>(length), "NVIDIA H100 80GB HBM3 (simulated)");
  return call.end(CUDA_SUCCESS);
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  SIM_DRIVER_CALL(cuDeviceGetAttribute);
  if (!is_device(device)) return call.end(CUDA_ERROR_INVALID_DEVICE);
  *value = attribute_value(attribute, device);
  return call.end(CUDA_SUCCESS);
}

CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  SIM_DRIVER_CALL(cuDeviceTotalMem_v2);
  if (!is_device(device)) return call.end(CUDA_ERROR_INVALID_DEVICE);
  *bytes = kMemoryBytes;
  return call.end(CUDA_SUCCESS);
}
