#include "agent/cupti/watch.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include "agent/agent.h"
#include "agent/clocks.h"
#include "agent/cupti/cupti_library.h"
#include "agent/cupti/cupti_source.h"
#include "agent/cupti/kinds.h"
#include "agent/cupti/own_calls.h"
#include "agent/message.h"
#include "agent/ring/notice.h"
#include "agent/settings.h"

namespace agent {
namespace {

// A thread with a buffer of its own gets its record back with the next flush. Where all threads share a buffer, a
// kernel that does not end holds it back.
constexpr std::uint64_t kOwnBufferPatience_ns = 3'000'000'000;
constexpr std::uint64_t kSharedBufferPatience_ns = 60'000'000'000;
constexpr std::uint64_t kFirstRetry_ns = 2'000'000'000;
constexpr std::uint64_t kLastRetry_ns = 60'000'000'000;

struct Canary {
  std::uint64_t sent = 0;
  std::uint64_t sent_ns = 0;
};

constinit Canary s_canary{};
constinit std::uint64_t s_gap_ns = 0;  // since when the buffers go elsewhere; 0: they come to us
constinit std::atomic<bool> s_yielded{false};
constinit bool s_shared = false;  // another user was seen
constinit std::uint64_t s_next_try_ns = 0;
constinit std::uint64_t s_try_wait_ns = kFirstRetry_ns;

using GetVersion = CUresult (*)(int*);

GetVersion find_call() {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return driver == nullptr ? nullptr : reinterpret_cast<GetVersion>(dlsym(driver, "cuDriverGetVersion"));
}

void send_canary() {
  static const GetVersion s_call = find_call();
  int version = 0;
  if (s_call == nullptr) return;
  s_canary.sent_ns = mono_ns();
  ++s_canary.sent;
  s_call(&version);
}

bool canary_is_back() { return s_canaries_seen.load(std::memory_order_relaxed) >= s_canary.sent; }

bool canary_is_overdue() {
  const std::uint64_t patience = has_buffer_per_thread() ? kOwnBufferPatience_ns : kSharedBufferPatience_ns;
  return s_canary.sent > 0 && mono_ns() - s_canary.sent_ns > patience;
}

void lose_buffers() {
  const Guard guard;
  const bool retake = settings().retake;
  s_shared = true;
  s_gap_ns = s_canary.sent_ns;
  s_yielded.store(!retake);
  write_notice(guard, trace::NoticeCode::gap, 0, s_gap_ns, 0, "another user of CUPTI has taken the buffers");
  say("another user of CUPTI in this process (a profiler?) has taken its buffers: GPU work is not recorded %s",
      retake ? "until they are taken back" : "from here on, NVTX and NCCL are; TRACETOOL_COEXIST=retake takes them back");
}

void find_buffers() {
  const Guard guard;
  write_notice(guard, trace::NoticeCode::source_on, 0, s_gap_ns, mono_ns(), "CUPTI's buffers are ours again");
  s_gap_ns = 0;
  s_yielded.store(false);
}

void watch_buffers() {
  if (!canary_is_enabled()) return;
  if (canary_is_back()) {
    if (s_gap_ns != 0) find_buffers();
    // Kinds belong to the whole process: the other user switches its own off when it ends, and they were ours too.
    if (s_shared) enable_kinds_again();
    return send_canary();
  }
  if (s_gap_ns == 0 && canary_is_overdue()) lose_buffers();
  if (s_gap_ns == 0 || !settings().retake || !retake_cupti()) return;
  s_canary.sent = s_canaries_seen.load(std::memory_order_relaxed);
  send_canary();
}

// It was somebody else's when the process began.
void try_again() {
  if (mono_ns() < s_next_try_ns) return;
  if (retry_cupti()) return;
  s_next_try_ns = mono_ns() + s_try_wait_ns;
  s_try_wait_ns = std::min(2 * s_try_wait_ns, kLastRetry_ns);
}

}  // namespace

void watch_cupti() noexcept {
  if (cupti_is_taken()) return try_again();
  if (cupti_is_on()) watch_buffers();
}

bool cupti_is_yielded() noexcept { return s_yielded.load(std::memory_order_relaxed); }

}  // namespace agent
