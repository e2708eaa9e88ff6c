#include "other_profiler.h"

#include <cupti.h>
#include <dlfcn.h>
#include <time.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "nvtx.h"

namespace sim {
namespace {

constexpr std::size_t kBufferBytes = 256 << 10;
constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_RUNTIME,
                                         CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION};
std::atomic<std::uint64_t> s_buffers{0}, s_bytes{0};

[[noreturn]] void give_up(const char* why) {
  std::fprintf(stderr, "simulated_training: --profiler: %s\n", why);
  std::exit(2);
}

// The one that the process has: the agent loaded it.
void* library() {
  static void* const found = [] {
    void* handle = nullptr;
    for (const char* name : {"libcupti.so.13", "libcupti.so.12", "libcupti.so"}) {
      if (handle == nullptr) handle = dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
    }
    return handle != nullptr ? handle : dlopen("libcupti.so.13", RTLD_LAZY);
  }();
  return found != nullptr ? found : (give_up("there is no libcupti"), nullptr);
}

template <typename Function>
Function* entry(const char* name) {
  void* found = dlsym(library(), name);
  if (found == nullptr) give_up(name);
  return reinterpret_cast<Function*>(found);
}

#define SIM_CUPTI(name) entry<decltype(name)>(#name)

// All that it ever gave out, for as long as the process lives.
struct Buffers {
  std::mutex mutex;
  std::vector<std::unique_ptr<std::uint64_t[]>> all;
};

Buffers& buffers() {
  static auto* const made = new Buffers;
  return *made;
}

void request(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
  const std::lock_guard lock(buffers().mutex);
  buffers().all.push_back(std::make_unique<std::uint64_t[]>(kBufferBytes / sizeof(std::uint64_t)));
  *buffer = reinterpret_cast<std::uint8_t*>(buffers().all.back().get());
  std::memset(*buffer, 0xa5, kBufferBytes);  // as memory is that was in use before: Kineto clears nothing
  *size = kBufferBytes;
  *records = 0;
}

// It may be a buffer of the one before, who is not told.
void completed(CUcontext, std::uint32_t, std::uint8_t*, std::size_t, std::size_t valid) {
  ++s_buffers;
  s_bytes += valid;
}

// Nanoseconds of another clock than CUPTI's own.
std::uint64_t own_clock() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}

void tell(const char* what) {
  Line line = host_line("other_profiler");
  say(line.text("what", what).number("buffers", s_buffers.load()).number("bytes", s_bytes.load()));
}

}  // namespace

OtherProfiler::OtherProfiler(const std::string& steps) {
  if (steps.empty()) return;
  if (std::sscanf(steps.c_str(), "%d-%d", &first_, &last_) != 2 || first_ < 0 || last_ < first_) {
    give_up("expected two steps, as in 3-5");
  }
}

void OtherProfiler::at_step(int step) {
  if (step == first_) start();
  if (step == last_ + 1 && first_ >= 0) stop();
}

void OtherProfiler::start() {
  tell("starts");
  SIM_CUPTI(cuptiActivityRegisterTimestampCallback)(own_clock);
  SIM_CUPTI(cuptiActivityRegisterCallbacks)(request, completed);
  for (const CUpti_ActivityKind kind : kKinds) SIM_CUPTI(cuptiActivityEnable)(kind);
  SIM_CUPTI(cuptiActivityPushExternalCorrelationId)(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 4711);
  tell("runs");
}

void OtherProfiler::stop() {
  std::uint64_t last = 0;
  tell("stops");
  SIM_CUPTI(cuptiActivityPopExternalCorrelationId)(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last);
  SIM_CUPTI(cuptiActivityFlushAll)(0);
  for (const CUpti_ActivityKind kind : kKinds) SIM_CUPTI(cuptiActivityDisable)(kind);
  tell("is gone");
}

}  // namespace sim
