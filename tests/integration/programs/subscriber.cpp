// A program with a profiler of its own inside that subscribes as CUPTI's version 2 has it, beside others, or as version 1:
// subscriber HOW LIBCUPTI SECONDS. It launches for a third of SECONDS, then for another, then for the last one.
//   beside     in the second third, twice one after the other: subscribes, with a clock and numbers of threads of its own,
//              records, ends with cuptiUnsubscribe
//   finalize   the same once, and then cuptiFinalize
//   first      subscribes before CUDA is used, and stays to the end
//   graphs     the same, and wants launches of CUDA graphs as a whole
//   alone      the same, as a subscriber that allows no other, until the first third is over
//   unfinished as first; and a kernel runs when the program ends
//   old_first  as first, by version 1
//   old_second in the second third, by version 1: what it asks for is refused where others have subscribed by version 2
// Says at its end what CUPTI answered where it did not say CUPTI_SUCCESS, how many kernels it launched and saw in its sessions,
// how many records had another clock or thread than it asked for, and how many had no end.
#include <cupti.h>
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "gpu.h"

namespace {

using programs::check;
using programs::Gpu;
using Handle = CUpti_SubscriberHandle;

constexpr std::size_t kBytes = 64 << 10;
constexpr std::uint64_t kClockShift_ns = 7'000'000'000'000;
constexpr std::uint32_t kMine = 3;  // grid.x of the kernels that the profiler is there for
constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER,
                                         CUPTI_ACTIVITY_KIND_SYNCHRONIZATION};
constexpr auto kAllSync = static_cast<CUpti_ActivityAttribute>(16),
               kGraphLevel = static_cast<CUpti_ActivityAttribute>(20),
               kClock = static_cast<CUpti_ActivityAttribute>(22);

struct Params {  // CUpti_SubscriberParams
  std::size_t size;
  const char* name;
  char* old_name;
  std::size_t old_size;
  std::uint8_t allow_multiple, padding[7];
};

using OnRequest = void (*)(std::uint8_t**, std::size_t*, std::size_t*, void*);
using OnComplete = void (*)(std::uint8_t*, std::size_t, std::size_t, void*);

void* s_library = nullptr;
std::atomic<Handle> s_handle{nullptr};
std::atomic<bool> s_own_clock{false};
bool s_whole_graphs = false;
std::atomic<int> s_saw{0}, s_odd{0}, s_unfinished{0};
int s_launched = 0;
std::uint32_t s_thread = 0;
std::uint64_t s_begin_ns = 0;

template <typename Function>
Function* find(const char* name) {
  auto* found = reinterpret_cast<Function*>(dlsym(s_library, name));
  check(found == nullptr, name);
  return found;
}
#define CUPTI(name) find<decltype(name)>(#name)

// One line for each thing that was refused.
bool says(const char* name, CUptiResult result) {
  if (result != CUPTI_SUCCESS) std::printf("%s %d\n", name, static_cast<int>(result));
  return result == CUPTI_SUCCESS;
}

std::uint64_t read_ns(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(now.tv_nsec);
}
std::uint64_t shifted_clock() { return read_ns(CLOCK_MONOTONIC) + kClockShift_ns; }
std::uint64_t now_ns() { return s_own_clock ? shifted_clock() : read_ns(CLOCK_REALTIME); }

void request(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
  *buffer = static_cast<std::uint8_t*>(std::malloc(kBytes));
  std::memset(*buffer, 0xa5, kBytes);
  *size = kBytes;
  *records = 0;
}
void request_2(std::uint8_t** buffer, std::size_t* size, std::size_t* records, void*) {
  request(buffer, size, records);
}

void look_at(const CUpti_Activity* record) {
  if (record->kind == CUPTI_ACTIVITY_KIND_RUNTIME) {
    if (reinterpret_cast<const CUpti_ActivityAPI*>(record)->threadId != s_thread) ++s_odd;
  }
  if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) return;
  const auto& kernel = *reinterpret_cast<const CUpti_ActivityKernel5*>(record);
  if (kernel.end == 0) {
    ++s_unfinished;
  } else if (kernel.start < s_begin_ns || kernel.end > now_ns()) {
    ++s_odd;
  }
  if (kernel.gridX == static_cast<std::int32_t>(kMine)) ++s_saw;
}

template <typename Next>
void read(std::uint8_t* buffer, const Next& next) {
  CUpti_Activity* record = nullptr;
  while (next(&record) == CUPTI_SUCCESS) look_at(record);
  std::free(buffer);
}

void complete_2(std::uint8_t* buffer, std::size_t, std::size_t valid, void*) {
  using Next = CUptiResult(Handle, std::uint8_t*, std::size_t, CUpti_Activity**);
  const auto next = find<Next>("cuptiActivityGetNextRecord_v2");
  read(buffer, [&](CUpti_Activity** record) { return next(s_handle, buffer, valid, record); });
}

void complete_1(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  read(buffer, [&](CUpti_Activity** record) { return CUPTI(cuptiActivityGetNextRecord)(buffer, valid, record); });
}

void ignore(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

void set(CUpti_ActivityAttribute id, const void* value, std::size_t size) {
  using Set = CUptiResult(Handle, CUpti_ActivityAttribute, std::size_t*, void*);
  const CUptiResult result = find<Set>("cuptiActivitySetAttribute_v2")(s_handle, id, &size, const_cast<void*>(value));
  if (id == kClock) s_own_clock = result == CUPTI_SUCCESS;  // since 13.4
  if (id != kClock) says("cuptiActivitySetAttribute_v2", result);
}

// A clock, all records of queries, and pthread's numbers of threads, which are the default.
void set_attributes() {
  const CUpti_TimestampCallbackFunc own = shifted_clock;
  const std::uint8_t on = 1;
  set(kClock, &own, sizeof(own));
  set(kAllSync, &on, sizeof(on));
  if (s_whole_graphs) set(kGraphLevel, &on, sizeof(on));
}

bool begin_2(bool allow_multiple) {
  using Subscribe = CUptiResult(Handle*, CUpti_CallbackFunc, void*, Params*);
  using Register = CUptiResult(Handle, OnRequest, OnComplete);
  using Enable = CUptiResult(Handle, CUpti_ActivityKind, void*);
  Params params{sizeof(params), "another", nullptr, 0, static_cast<std::uint8_t>(allow_multiple), {}};
  Handle handle = nullptr;
  if (!says("cuptiSubscribe_v2", find<Subscribe>("cuptiSubscribe_v2")(&handle, ignore, nullptr, &params))) return false;
  s_handle = handle;
  if (!allow_multiple) return true;
  set_attributes();
  s_begin_ns = now_ns();
  if (!says("cuptiActivityRegisterCallbacks_v2",
            find<Register>("cuptiActivityRegisterCallbacks_v2")(handle, request_2, complete_2)))
    return false;
  for (const CUpti_ActivityKind kind : kKinds)
    says("cuptiActivityEnable_v2", find<Enable>("cuptiActivityEnable_v2")(handle, kind, nullptr));
  return true;
}

void end_2() {
  using Disable = CUptiResult(Handle, CUpti_ActivityKind, void*);
  says("cuptiActivityFlushAll", CUPTI(cuptiActivityFlushAll)(0));
  for (const CUpti_ActivityKind kind : kKinds)
    says("cuptiActivityDisable_v2", find<Disable>("cuptiActivityDisable_v2")(s_handle, kind, nullptr));
  says("cuptiUnsubscribe", CUPTI(cuptiUnsubscribe)(s_handle));
}

void begin_1() {
  Handle handle = nullptr;
  s_begin_ns = now_ns();
  says("cuptiSubscribe", CUPTI(cuptiSubscribe)(&handle, ignore, nullptr));
  says("cuptiActivityRegisterCallbacks", CUPTI(cuptiActivityRegisterCallbacks)(request, complete_1));
  for (const CUpti_ActivityKind kind : kKinds) says("cuptiActivityEnable", CUPTI(cuptiActivityEnable)(kind));
}

void launch_for(const Gpu& gpu, std::uint32_t grid_x, double seconds) {
  const auto count = static_cast<int>(seconds * 200);
  for (int i = 0; i < count; ++i) {
    gpu.launch(grid_x);
    programs::sleep_ms(5);
    if (i % 100 == 0) gpu.wait();
  }
  gpu.wait();
  if (grid_x == kMine) s_launched += count;
}

void report() {
  std::printf("launched %d saw %d odd %d unfinished %d\n", s_launched, s_saw.load(), s_odd.load(), s_unfinished.load());
  std::fflush(stdout);
}

void session(const Gpu& gpu, double seconds) {
  const bool begun = begin_2(true);
  launch_for(gpu, kMine, seconds);
  if (begun) end_2();
}

void run(const char* how, double third) {
  const auto is = [how](const char* name) { return std::strcmp(how, name) == 0; };
  s_whole_graphs = is("graphs");
  const bool first = is("first") || is("unfinished") || s_whole_graphs, alone = is("alone"),
             old_first = is("old_first");
  if (first || alone) begin_2(!alone);
  if (old_first) begin_1();
  const Gpu gpu;
  launch_for(gpu, first || old_first ? kMine : 1, third);
  if (alone) says("cuptiUnsubscribe", CUPTI(cuptiUnsubscribe)(s_handle));
  if (is("beside")) session(gpu, third / 2);
  if (is("beside") || is("finalize")) session(gpu, third / 2);
  if (is("finalize")) says("cuptiFinalize", CUPTI(cuptiFinalize)());
  if (is("old_second")) begin_1();
  launch_for(gpu, 2, third);
  if (first || old_first) says("cuptiActivityFlushAll", CUPTI(cuptiActivityFlushAll)(0));
  if (is("unfinished")) gpu.launch(4, 60'000'000'000);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 1;
  s_library = dlopen(argv[2], RTLD_NOW);
  check(s_library == nullptr, "dlopen");
  s_thread = static_cast<std::uint32_t>(pthread_self());
  std::atexit(report);  // after those that were registered later
  run(argv[1], std::atof(argv[3]) / 3);
  return 0;
}
