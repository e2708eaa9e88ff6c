#include "agent/clocks/exit_time.h"

#include <algorithm>
#include <atomic>

#include "agent/clocks/clocks.h"

namespace agent {
namespace {
constexpr std::uint64_t kLimit_ns = 8'000'000'000;
constinit std::atomic<std::uint64_t> s_until_ns{0};
}  // namespace

void begin_exit() noexcept { s_until_ns.store(mono_ns() + kLimit_ns); }

std::uint64_t exit_ms_left(std::uint64_t most_ms) noexcept {
  const std::uint64_t until_ns = s_until_ns.load();
  const std::uint64_t now_ns = mono_ns();
  if (until_ns == 0) return most_ms;
  return std::min(most_ms, until_ns > now_ns ? (until_ns - now_ns) / 1'000'000 : 0);
}

}  // namespace agent
