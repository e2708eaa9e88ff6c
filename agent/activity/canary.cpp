#include "agent/activity/canary.h"

#include <dlfcn.h>

#include <algorithm>
#include <utility>

#include "agent/base/agent_settings.h"
#include "agent/base/message.h"
#include "agent/clocks/clocks.h"
#include "agent/cupti/cupti_library.h"

namespace agent {

namespace {

constexpr std::uint32_t kTries = 2;
// A thread with its own buffer gets its record with the next flush. If all threads share a buffer, a kernel that does
// not end holds it back, and a collective may hang until a watchdog ends it.
constexpr std::uint64_t kOwnBuffer_ns = 1'500'000'000;
constexpr std::uint64_t kSharedBuffer_ns = 600'000'000'000;
constexpr std::uint64_t kFlushes = 3;

// Part first_minutes of scripts/gpu_check searches for this text.
constexpr char kCanaryWorks[] = "CUPTI reports the call that detects who owns its buffers";

struct Sent {
  std::uint32_t tries;  // since the last one delivered; 0 if none is pending
  std::uint64_t last_ns;
  std::uint64_t seen, dropped, discarded;  // values when the first one was sent
};
constinit Sent s_sent{};
constinit bool s_works = false;  // one was delivered

std::uint64_t patience_ns() {
  const std::uint64_t flushes_ns = kFlushes * settings().flush_ms * 1'000'000;
  return std::max(has_buffer_per_thread() ? kOwnBuffer_ns : kSharedBuffer_ns, flushes_ns);
}

std::uint64_t seen() { return s_canaries_seen.load(std::memory_order_relaxed); }

CUresult call() {
  using GetVersion = CUresult (*)(int*);
  static GetVersion s_call = nullptr;
  if (s_call == nullptr) {
    void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (driver != nullptr) s_call = reinterpret_cast<GetVersion>(dlsym(driver, "cuDriverGetVersion"));
  }
  int version = 0;
  return s_call != nullptr ? s_call(&version) : CUDA_ERROR_NOT_INITIALIZED;
}

void send() {
  const trace::FileHeader& header = *ring().header;
  const std::uint64_t now_ns = mono_ns();
  if (s_sent.tries == 0) {
    s_sent = {0, now_ns, seen(), trace::SharedMemory::load(header.cupti_dropped),
              trace::SharedMemory::load(header.discarded_buffers)};
  }
  s_sent.last_ns = now_ns;
  if (call() == CUDA_SUCCESS) ++s_sent.tries;
}

bool switch_call(std::uint8_t on) {
  return cupti().enable_driver_api != nullptr &&
         cupti().enable_driver_api(CUPTI_DRIVER_TRACE_CBID_cuDriverGetVersion, on) == CUPTI_SUCCESS;
}

bool something_was_dropped() {
  const trace::FileHeader& header = *ring().header;
  return trace::SharedMemory::load(header.cupti_dropped) != s_sent.dropped ||
         trace::SharedMemory::load(header.discarded_buffers) != s_sent.discarded;
}

}  // namespace

bool enable_canary() noexcept { return switch_call(1); }
void disable_canary() noexcept { switch_call(0); }

CanarySays watch_canary() noexcept {
  if (recording() != Recording::open) return CanarySays::wait;
  if (s_sent.tries == 0 || seen() != s_sent.seen || something_was_dropped()) {
    const bool back = s_sent.tries == 0 || seen() != s_sent.seen;
    if (s_sent.tries != 0 && back && !std::exchange(s_works, true)) say_verbose("%s", kCanaryWorks);
    send_new_canary();
    return back ? CanarySays::ours : CanarySays::wait;
  }
  if (mono_ns() - s_sent.last_ns < patience_ns()) return CanarySays::wait;
  if (s_sent.tries >= kTries && seen() != 0) return CanarySays::lost;
  if (s_sent.tries == kTries)
    say_verbose(
        "CUPTI does not report the call that detects other tools' buffers: a loss of the agent's buffers will go unnoticed");
  enable_canary();
  send();
  return CanarySays::wait;
}

bool canary_came_home() noexcept {
  return recording() != Recording::open || s_sent.tries == 0 || seen() == 0 || seen() != s_sent.seen ||
         something_was_dropped();
}

void send_new_canary() noexcept {
  s_sent.tries = 0;
  send();
}

}  // namespace agent
