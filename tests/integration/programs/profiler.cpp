// A program with a profiler of its own inside, as PyTorch has one: profiler HOW LIBCUPTI SECONDS. It launches for a
// third of SECONDS without it, then with it, then without it again, and says how many kernels its profiler saw, and how
// many records it was given after it had ended, which nobody takes from it.
//   buffers   its own buffers and timestamps: registers, enables, disables, flushes; leaves the callbacks registered
//   clock     only its own timestamps
//   finalize  the same as buffers, and ends with cuptiFinalize
//   torch     what Kineto does for torch.profiler (CuptiActivityApi.cpp and CuptiTimestamp.cpp of 2026-08-20): a
//             timestamp callback that counts ticks, not nanoseconds; its kinds; and at the end it asks CUPTI for shared
//             buffers
//   torch122  the same, built for CUDA 12.2: it knows nothing of buffers per thread
//   ticks     only the timestamps of `torch`
#include <cupti.h>
#include <dlfcn.h>
#include <time.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <set>
#include <span>

#include "gpu.h"

namespace {

using programs::check;
using programs::Gpu;

constexpr std::size_t kBytes = 64 << 10;
constexpr std::uint64_t kClockShift_ns = 7'000'000'000'000;
constexpr std::uint32_t kMine = 3;  // grid.x of the kernels that the profiler is there for

constexpr CUpti_ActivityKind kFewKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_RUNTIME};
// PyTorch's kCudaTypes (torch/csrc/profiler/kineto_shim.cpp) as CUPTI's kinds.
constexpr CUpti_ActivityKind kTorchKinds[] = {CUPTI_ACTIVITY_KIND_MEMCPY,
                                              CUPTI_ACTIVITY_KIND_MEMSET,
                                              CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                              CUPTI_ACTIVITY_KIND_RUNTIME,
                                              CUPTI_ACTIVITY_KIND_DRIVER,
                                              CUPTI_ACTIVITY_KIND_OVERHEAD,
                                              CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION};

struct How {
  const char* name;
  bool buffers, ticks;
  std::span<const CUpti_ActivityKind> kinds;
};
constexpr How kHows[] = {{"buffers", true, false, kFewKinds},   {"clock", false, false, {}},
                         {"finalize", true, false, kFewKinds},  {"torch", true, true, kTorchKinds},
                         {"torch122", true, true, kTorchKinds}, {"ticks", false, true, {}}};

void* s_library = nullptr;
std::mutex s_mutex;
std::set<std::uint8_t*> s_buffers;
std::atomic<int> s_kernels{0}, s_damaged{0}, s_after{0};
std::atomic<bool> s_ended{false};
bool s_strict = false;  // leaves buffers alone that are not its own, as Kineto does: what is in them is lost

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
  if (!own && s_strict) return;
  if (own && (size != kBytes || valid > size)) ++s_damaged;
  CUpti_Activity* record = nullptr;
  while (CUPTI(cuptiActivityGetNextRecord)(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (s_ended) ++s_after;
    if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
    const auto& kernel = *reinterpret_cast<CUpti_ActivityKernel5*>(record);
    if (kernel.gridX == static_cast<std::int32_t>(kMine)) ++s_kernels;
  }
  if (own) std::free(buffer);
}

std::uint64_t monotonic_ns() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

std::uint64_t shifted_clock() { return monotonic_ns() + kClockShift_ns; }

// A time-stamp counter of 2.67 GHz.
std::uint64_t ticks() { return monotonic_ns() / 3 * 8; }

void ask_for_buffers_per_thread(std::uint8_t on) {
  std::size_t size = sizeof(on);
  // Not known before CUDA 12.3.
  CUPTI(cuptiActivitySetAttribute)(static_cast<CUpti_ActivityAttribute>(9), &size, &on);
}

void begin(const How& how) {
  check(CUPTI(cuptiActivityRegisterTimestampCallback)(how.ticks ? ticks : shifted_clock),
        "cuptiActivityRegisterTimestampCallback");
  if (!how.buffers) return;
  check(CUPTI(cuptiActivityRegisterCallbacks)(on_request, on_complete), "cuptiActivityRegisterCallbacks");
  for (const CUpti_ActivityKind kind : how.kinds) check(CUPTI(cuptiActivityEnable)(kind), "cuptiActivityEnable");
}

void end(const How& how) {
  if (!how.buffers) return;
  if (!how.ticks) check(CUPTI(cuptiActivityFlushAll)(0), "cuptiActivityFlushAll");
  for (const CUpti_ActivityKind kind : how.kinds) check(CUPTI(cuptiActivityDisable)(kind), "cuptiActivityDisable");
  if (how.ticks) {
    check(CUPTI(cuptiActivityFlushAll)(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "cuptiActivityFlushAll");
    if (std::strcmp(how.name, "torch") == 0) ask_for_buffers_per_thread(0);
  }
  if (std::strcmp(how.name, "finalize") == 0) check(CUPTI(cuptiFinalize)(), "cuptiFinalize");
}

int launch_for(const Gpu& gpu, std::uint32_t grid_x, double seconds) {
  const auto count = static_cast<int>(seconds * 200);
  for (int i = 0; i < count; ++i) {
    gpu.launch(grid_x);
    programs::sleep_ms(5);
    if (i % 100 == 0) gpu.wait();
  }
  gpu.wait();
  return count;
}

void run(const How& how, double third) {
  const Gpu gpu;
  launch_for(gpu, 1, third);
  s_strict = how.ticks;
  begin(how);
  const int mine = launch_for(gpu, kMine, third);
  end(how);
  s_ended = true;
  const int saw = s_kernels;
  launch_for(gpu, 2, third);
  if (how.buffers) CUPTI(cuptiActivityFlushAll)(0);
  std::printf("launched %d saw %d damaged %d after %d\n", mine, saw, s_damaged.load(), s_after.load());
  std::puts("done");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 1;
  for (const How& how : kHows) {
    if (std::strcmp(how.name, argv[1]) != 0) continue;
    s_library = dlopen(argv[2], RTLD_NOW);
    check(s_library == nullptr, "dlopen");
    run(how, std::atof(argv[3]) / 3);
    return 0;
  }
  return 1;
}
