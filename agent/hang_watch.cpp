#include "agent/hang_watch.h"

#include "agent/activity/delivery.h"
#include "agent/base/agent_settings.h"
#include "agent/clocks/clocks.h"
#include "agent/python/hang_stacks.h"
#include "agent/ring/recorder.h"
#include "agent/torch/operators.h"

namespace agent {
namespace {

constexpr std::uint64_t kLockPatience_ns = 5'000'000'000;

constinit std::uint64_t s_progress = 0;
constinit std::uint64_t s_still_since_ns = 0;
constinit std::uint64_t s_asked_ns = 0;  // 0 if not requested since the process last continued
constinit bool s_is_taken = false;

}  // namespace

void watch_hang() noexcept {
  if (settings().hang_stacks_s == 0 || recording() != Recording::open) return;
  const std::uint64_t now_ns = mono_ns(), progress = delivered().work.ended + operators_begun();
  if (progress != s_progress) {
    s_progress = progress;
    s_still_since_ns = now_ns;
    s_asked_ns = 0;
    s_is_taken = false;
    return;
  }
  if (progress == 0 || now_ns - s_still_since_ns < settings().hang_stacks_s * 1'000'000'000) return;
  if (s_asked_ns == 0) {
    s_asked_ns = now_ns;
    ask_for_hang_stacks(s_still_since_ns);
  } else if (!s_is_taken && now_ns - s_asked_ns >= kLockPatience_ns) {
    s_is_taken = true;
    take_hang_stacks();
  }
}

}  // namespace agent
