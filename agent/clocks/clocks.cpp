#include "agent/clocks/clocks.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>

#include "agent/base/host.h"
#include "agent/base/lock.h"

namespace agent {
namespace {

constexpr std::uint64_t kLimit_ns = 8'000'000'000;
constinit std::atomic<std::uint64_t> s_until_ns{0};

constexpr int kTries = 3;
constinit std::atomic<ReadCuptiClock> s_read_cupti_clock{nullptr};
// cupti_ns - mono_ns of the last sample; 0 if there is none yet. The two words may be inconsistent, because the
// uncertainty is only a hint.
std::atomic<std::int64_t> s_cupti_minus_mono{0};
std::atomic<std::uint64_t> s_uncertainty_ns{0};
std::atomic<std::int64_t> s_real_minus_mono{0};
constinit Spinlock s_watching{};
constinit CuptiClock s_cupti_clock{};
constexpr std::int64_t kStep_ns = 1'000'000;

trace::ClockSample sample_once() {
  trace::ClockSample sample{};
  const std::uint64_t before = mono_ns();
  const ReadCuptiClock read = s_read_cupti_clock.load(std::memory_order_acquire);
  if (read == nullptr || !read(sample.cupti_ns)) sample.cupti_ns = 0;
  sample.real_ns = real_ns();
  const std::uint64_t after = mono_ns();
  sample.uncertainty_ns = after - before;
  sample.mono_ns = before + sample.uncertainty_ns / 2;
  return sample;
}

}  // namespace

void begin_exit() noexcept { s_until_ns.store(mono_ns() + kLimit_ns); }

std::uint64_t exit_ms_left(std::uint64_t most_ms) noexcept {
  const std::uint64_t until_ns = s_until_ns.load();
  const std::uint64_t now_ns = mono_ns();
  if (until_ns == 0) return most_ms;
  return std::min(most_ms, until_ns > now_ns ? (until_ns - now_ns) / 1'000'000 : 0);
}

std::uint64_t mono_ns() noexcept { return clock_ns(CLOCK_MONOTONIC); }
std::uint64_t real_ns() noexcept { return clock_ns(CLOCK_REALTIME); }

void set_cupti_clock(ReadCuptiClock read) noexcept { s_read_cupti_clock.store(read, std::memory_order_release); }

trace::ClockSample sample_clocks() noexcept {
  trace::ClockSample best = sample_once();
  for (int i = 1; i < kTries; ++i) {
    const trace::ClockSample sample = sample_once();
    if (sample.uncertainty_ns < best.uncertainty_ns) best = sample;
  }
  const Locked locked(s_watching);
  s_cupti_clock.note(best);
  best = s_cupti_clock.in_ours(best);
  if (best.cupti_ns != 0) {
    s_uncertainty_ns.store(best.uncertainty_ns, std::memory_order_relaxed);
    s_real_minus_mono.store(static_cast<std::int64_t>(best.real_ns - best.mono_ns), std::memory_order_relaxed);
    s_cupti_minus_mono.store(static_cast<std::int64_t>(best.cupti_ns - best.mono_ns), std::memory_order_relaxed);
  }
  return best;
}

bool cupti_clock_is_ours() noexcept {
  const Locked locked(s_watching);
  return s_cupti_clock.is_ours();
}

TimeWindow cupti_window() noexcept {
  const Locked locked(s_watching);
  return s_cupti_clock.window(mono_ns());
}

std::uint64_t from_foreign_cupti(std::uint64_t cupti_ns) noexcept {
  const Locked locked(s_watching);
  return s_cupti_clock.from_foreign(cupti_ns);
}

bool is_time_base_changed(const trace::ClockSample& before, const trace::ClockSample& after) noexcept {
  if (before.cupti_ns == 0 || after.cupti_ns == 0) return false;
  const auto passed = [](std::uint64_t from, std::uint64_t to) { return static_cast<std::int64_t>(to - from); };
  const std::int64_t cupti = passed(before.cupti_ns, after.cupti_ns);
  return std::llabs(cupti - passed(before.mono_ns, after.mono_ns)) > kStep_ns &&
         std::llabs(cupti - passed(before.real_ns, after.real_ns)) > kStep_ns;
}

bool is_wall_clock_set(const trace::ClockSample& before, const trace::ClockSample& after) noexcept {
  const auto offset = [](const trace::ClockSample& sample) {
    return static_cast<std::int64_t>(sample.real_ns - sample.mono_ns);
  };
  // A thread suspended between the two readings has a less exact sample.
  const auto blur_ns = static_cast<std::int64_t>(before.uncertainty_ns + after.uncertainty_ns);
  return std::llabs(offset(after) - offset(before)) > kStep_ns + blur_ns;
}

trace::ClockSample carried_clocks() noexcept {
  trace::ClockSample sample{};
  sample.mono_ns = mono_ns();
  sample.real_ns = real_ns();
  const std::int64_t offset = s_cupti_minus_mono.load(std::memory_order_relaxed);
  // After the wall clock was set, CUPTI's clock, which follows it, is unknown until it is read again.
  const std::int64_t real_offset = static_cast<std::int64_t>(sample.real_ns - sample.mono_ns);
  const bool stepped = std::llabs(real_offset - s_real_minus_mono.load(std::memory_order_relaxed)) > kStep_ns;
  if (offset != 0 && !stepped) sample.cupti_ns = sample.mono_ns + static_cast<std::uint64_t>(offset);
  // A thread suspended between the two readings has a larger uncertainty.
  const std::uint64_t between = mono_ns() - sample.mono_ns;
  const std::uint64_t uncertainty = s_uncertainty_ns.load(std::memory_order_relaxed);
  sample.uncertainty_ns = between > uncertainty ? between : uncertainty;
  return sample;
}

}  // namespace agent
