#include "gpu.h"

#include <dirent.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "examples/simulated_training/standin/work.h"

namespace programs {
namespace {

constexpr char kKernel[] = "_Z12small_kernelPf";

bool leads_to(const char* link, const char* path) {
  char target[4096];
  const ssize_t length = readlink(link, target, sizeof(target));
  return length > 0 && static_cast<std::size_t>(length) == std::strlen(path) &&
         std::memcmp(target, path, std::strlen(path)) == 0;
}

}  // namespace

void check(int result, const char* what) {
  if (result == 0) return;
  std::fprintf(stderr, "%s failed with %d\n", what, result);
  _exit(2);
}

void sleep_ms(unsigned ms) {
  const timespec time{ms / 1000, static_cast<long>(ms % 1000) * 1'000'000};
  nanosleep(&time, nullptr);
}

CUfunction load_kernel() {
  const std::string image = std::string(sim::kModuleHeader) + "24 0 0 " + kKernel + "\n";
  CUmodule module = nullptr;
  CUfunction kernel = nullptr;
  check(cuModuleLoadData(&module, image.c_str()), "cuModuleLoadData");
  check(cuModuleGetFunction(&kernel, module, kKernel), "cuModuleGetFunction");
  return kernel;
}

CUresult launch_by_driver(CUfunction kernel, CUstream stream, std::uint64_t duration_ns) {
  sim::KernelWork work;
  work.duration_ns = duration_ns;
  void* params[] = {&work};
  return cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream, params, nullptr);
}

Gpu::Gpu(int device) : device_(device) {
  use_here();
  kernel_ = load_kernel();
}

void Gpu::use_here() const {
  CUcontext primary = nullptr;
  check(cudaSetDevice(device_), "cudaSetDevice");
  check(cuDevicePrimaryCtxRetain(&primary, device_), "cuDevicePrimaryCtxRetain");
  check(cuCtxSetCurrent(primary), "cuCtxSetCurrent");
}

void Gpu::launch(std::uint32_t grid_x, std::uint64_t duration_ns, std::uint32_t grid_z) const {
  sim::KernelWork work;
  work.duration_ns = duration_ns;
  void* params[] = {&work};
  check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel_), dim3{grid_x, 1, grid_z}, dim3{32, 1, 1}, params, 0,
                         nullptr),
        "cudaLaunchKernel");
}

void Gpu::launch_many(std::uint32_t count) const {
  for (std::uint32_t i = 0; i < count; ++i) launch();
}

void Gpu::wait() const { check(cudaDeviceSynchronize(), "cudaDeviceSynchronize"); }

void leave_truth() {
  const char* path = std::getenv("SIM_TRUTH");
  DIR* files = path != nullptr ? opendir("/proc/self/fd") : nullptr;
  if (files == nullptr) return;
  while (const dirent* each = readdir(files)) {
    const std::string link = std::string("/proc/self/fd/") + each->d_name;
    if (!leads_to(link.c_str(), path)) continue;
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nowhere, std::atoi(each->d_name));
    close(nowhere);
  }
  closedir(files);
  unsetenv("SIM_TRUTH");
}

}  // namespace programs
