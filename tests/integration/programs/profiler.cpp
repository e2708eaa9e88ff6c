// A program with a profiler of its own inside, as PyTorch has one: profiler HOW LIBCUPTI SECONDS. It launches for a
// third of SECONDS without it, then with it, then without it again, and says how many kernels its profiler saw.
//   buffers   its own buffers and timestamps: registers, enables, disables, flushes; leaves the callbacks registered
//   clock     only its own timestamps
//   finalize  the same as buffers, and ends with cuptiFinalize
#include <cupti.h>
#include <dlfcn.h>
#include <time.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>

#include "gpu.h"

namespace {

using programs::check;
using programs::Gpu;

constexpr std::size_t kBytes = 64 << 10;
constexpr std::uint64_t kClockShift_ns = 7'000'000'000'000;
constexpr std::uint32_t kMine = 3;  // grid.x of the kernels that the profiler is there for

void* s_library = nullptr;
std::mutex s_mutex;
std::set<std::uint8_t*> s_buffers;
std::atomic<int> s_kernels{0}, s_damaged{0};

template <typename Function>
Function* find(const char* name) {
  auto* found = reinterpret_cast<Function*>(dlsym(s_library, name));
  check(found == nullptr, name);
  return found;
}
#define CUPTI(name) find<decltype(name)>(#name)

void on_request(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
  *buffer = static_cast<std::uint8_t*>(std::malloc(kBytes));
  std::memset(*buffer, 0xa5, kBytes);  // as memory is that was in use before: Kineto clears nothing
  *size = kBytes;
  *records = 0;
  const std::lock_guard lock(s_mutex);
  s_buffers.insert(*buffer);
}

// Whether this program gave the buffer out. Another client's come here too, once the callbacks are this one's.
bool take_back(std::uint8_t* buffer) {
  const std::lock_guard lock(s_mutex);
  return s_buffers.erase(buffer) != 0;
}

void on_complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t size, std::size_t valid) {
  const bool own = take_back(buffer);
  if (own && (size != kBytes || valid > size)) ++s_damaged;
  CUpti_Activity* record = nullptr;
  while (CUPTI(cuptiActivityGetNextRecord)(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
    const auto& kernel = *reinterpret_cast<CUpti_ActivityKernel5*>(record);
    if (kernel.gridX == static_cast<std::int32_t>(kMine)) ++s_kernels;
  }
  if (own) std::free(buffer);
}

std::uint64_t own_clock() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec) +
         kClockShift_ns;
}

void begin(bool buffers) {
  check(CUPTI(cuptiActivityRegisterTimestampCallback)(own_clock), "cuptiActivityRegisterTimestampCallback");
  if (!buffers) return;
  check(CUPTI(cuptiActivityRegisterCallbacks)(on_request, on_complete), "cuptiActivityRegisterCallbacks");
  check(CUPTI(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "cuptiActivityEnable");
  check(CUPTI(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_RUNTIME), "cuptiActivityEnable");
}

void end(bool finalize) {
  check(CUPTI(cuptiActivityFlushAll)(0), "cuptiActivityFlushAll");
  check(CUPTI(cuptiActivityDisable)(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "cuptiActivityDisable");
  check(CUPTI(cuptiActivityDisable)(CUPTI_ACTIVITY_KIND_RUNTIME), "cuptiActivityDisable");
  if (finalize) check(CUPTI(cuptiFinalize)(), "cuptiFinalize");
}

int launch_for(const Gpu& gpu, std::uint32_t grid_x, double seconds) {
  const auto count = static_cast<int>(seconds * 200);
  for (int i = 0; i < count; ++i) {
    gpu.launch(grid_x);
    programs::sleep_ms(5);
  }
  gpu.wait();
  return count;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 1;
  const bool buffers = std::strcmp(argv[1], "clock") != 0;
  const double third = std::atof(argv[3]) / 3;
  const Gpu gpu;
  s_library = dlopen(argv[2], RTLD_NOW);
  check(s_library == nullptr, "dlopen");
  launch_for(gpu, 1, third);
  begin(buffers);
  const int mine = launch_for(gpu, kMine, third);
  if (buffers) end(std::strcmp(argv[1], "finalize") == 0);
  std::printf("launched %d saw %d damaged %d\n", mine, s_kernels.load(), s_damaged.load());
  launch_for(gpu, 2, third);
  std::puts("done");
  return 0;
}
