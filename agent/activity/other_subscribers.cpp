#include "agent/activity/other_subscribers.h"

#include <dirent.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "agent/base/loaded_objects.h"
#include "agent/base/message.h"
#include "agent/cupti/cupti_library.h"
#include "agent/cupti/subscriber_functions.h"
#include "agent/nvtx/injection_paths.h"
#include "agent/ring/recorder.h"
#include "common/known_tools.h"

namespace agent {
namespace {

constexpr std::size_t kMostThreads = 16;
// If a process begins with more threads, new ones are found when they deliver buffers
constexpr std::size_t kMostKnown = 1024;

struct Thread {
  std::atomic<std::uint32_t> tid{0};  // 0 if none
  std::atomic<std::uint64_t> begin_ns{0}, last_ns{0};
  std::atomic<bool> known{false}, ended{false};  // known: the times are set (0 for a thread that has not run yet)
};
constinit Thread s_threads[kMostThreads]{};
constinit std::atomic<std::uint64_t> s_delivered_ns{0};
constinit std::uint32_t s_known[kMostKnown]{};
constinit std::size_t s_known_count = 0;
thread_local bool t_requests __attribute__((tls_model("initial-exec"))) = false;

// Returns false if the thread no longer exists.
bool read_cpu(std::uint32_t tid, std::uint64_t& ns) {
  timespec used;
  // The clock of any thread of this process, computed like clock_getcpuclockid(3) does for a process (see
  // kernel/time/posix-cpu-timers.c): the complement of its number, "per thread" and "scheduler".
  if (clock_gettime(static_cast<clockid_t>(~tid << 3 | 4 | 2), &used) != 0) return false;
  ns = static_cast<std::uint64_t>(used.tv_sec) * 1'000'000'000u + static_cast<std::uint64_t>(used.tv_nsec);
  return true;
}

bool is_found(std::uint32_t tid) {
  return std::any_of(std::begin(s_threads), std::end(s_threads), [tid](const Thread& each) {
    return each.tid.load(std::memory_order_relaxed) == tid && !each.ended;
  });
}

void add(std::uint32_t tid) {
  if (is_found(tid)) return;
  std::uint64_t now_ns = 0;
  if (!read_cpu(tid, now_ns)) return;
  for (Thread& each : s_threads) {
    std::uint32_t none = 0;
    if (!each.tid.compare_exchange_strong(none, tid)) continue;
    each.last_ns.store(now_ns);
    each.begin_ns.store(now_ns);
    each.known.store(true);
    return;
  }
}

template <typename Each>
void for_each_thread(const Each& each) {
  DIR* tasks = opendir("/proc/self/task");
  if (tasks == nullptr) return;
  while (const dirent* entry = readdir(tasks)) {
    if (const int tid = std::atoi(entry->d_name); tid > 0) each(static_cast<std::uint32_t>(tid));
  }
  closedir(tasks);
}

// cuptiSubscribe_v2 and its parameters in CUPTI 13.0; older headers lack both. The field of 13.2 that permits other
// subscribers is omitted.
struct SubscriberParams {
  std::size_t struct_size;
  const char* subscriber_name;
  char* old_subscriber_name;
  std::size_t old_subscriber_size;
};

void CUPTIAPI ignore(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

bool ask_cupti(char* text, std::size_t size) {
  if (first_subscriber()[0] != '\0') {
    snprintf(text, size, "%.63s", first_subscriber());
    return true;
  }
  if (cupti().subscribe_v2 == nullptr) return false;
  char name[128] = "";
  SubscriberParams params{sizeof(params), "tracetool", name, sizeof(name)};
  CUpti_SubscriberHandle handle = nullptr;
  if (cupti().subscribe_v2(&handle, ignore, nullptr, &params) == CUPTI_SUCCESS) cupti().unsubscribe(handle);
  if (name[0] == '\0') return false;
  snprintf(text, size, "%.63s", name);
  return true;
}

}  // namespace

void remember_threads() noexcept {
  s_known_count = 0;
  for_each_thread([](std::uint32_t tid) {
    if (s_known_count < kMostKnown) s_known[s_known_count++] = tid;
  });
}

void find_new_threads() noexcept {
  if (s_known_count == 0 || s_known_count == kMostKnown) return;
  for_each_thread([](std::uint32_t tid) {
    if (std::find(s_known, s_known + s_known_count, tid) == s_known + s_known_count) add(tid);
  });
}

void note_buffer_request() noexcept { t_requests = true; }

void note_delivery(std::uint64_t cpu_ns) noexcept {
  if (t_requests) return;
  const std::uint32_t tid = thread_id();
  if (is_found(tid)) {
    s_delivered_ns.fetch_add(cpu_ns, std::memory_order_relaxed);
  } else {
    add(tid);
  }
}

std::uint64_t cupti_threads_cpu_ns() noexcept {
  std::uint64_t total_ns = 0;
  for (Thread& each : s_threads) {
    std::uint64_t now_ns = 0;
    const std::uint32_t tid = each.tid.load();
    if (!each.known.load()) continue;
    if (!each.ended && read_cpu(tid, now_ns)) {
      each.last_ns.store(now_ns);
    } else {
      each.ended.store(true);
    }
    total_ns += each.last_ns.load() - each.begin_ns.load();
  }
  const std::uint64_t delivered_ns = s_delivered_ns.load(std::memory_order_relaxed);
  return total_ns > delivered_ns ? total_ns - delivered_ns : 0;
}

void name_current_subscriber(char* text, std::size_t size) noexcept {
  if (ask_cupti(text, size)) return;
  const char* tool = cuda_taken_by()[0] != '\0' ? cuda_taken_by() : "another tool";
  any_object([&](const char* path, const dl_phdr_info&) {
    const std::string_view name = trace::tool_of_loaded(path);
    if (!name.empty()) tool = name.data();  // points to a literal
    return !name.empty();
  });
  snprintf(text, size, "%s", tool);
}

void warn_torch_profiler() noexcept {
  const auto is_torch = [](const char* path, const dl_phdr_info&) {
    return std::strstr(path, "libtorch_cuda") != nullptr;
  };
  if (!any_object(is_torch)) return;
  say("TRACETOOL_COEXIST=share: torch.profiler records no GPU events in this process if its Kineto uses CUPTI's version 1 "
      "API, as in August 2026, because CUPTI does not allow it together with a version 2 subscriber");
}

}  // namespace agent
