#include "agent/clocks/cupti_clock.h"

#include "agent/clocks/clocks.h"

namespace agent {
namespace {

constexpr std::uint64_t kHour_ns = 3'600'000'000'000;
constexpr std::uint64_t kApart_ns = 500'000'000;
constexpr double kSameRate = 1e-3;
constexpr std::uint64_t kMostTicks = 8;  // maximum ticks of a foreign clock per nanosecond

std::uint64_t distance(std::uint64_t a, std::uint64_t b) { return a > b ? a - b : b - a; }

// Returns true for a clock that CUPTI uses by default: CLOCK_REALTIME, or (WSL) CLOCK_MONOTONIC_RAW, which is slewed
// less than CLOCK_MONOTONIC.
bool is_cuptis_own(const trace::ClockSample& raw) {
  return distance(raw.cupti_ns, raw.real_ns) < kHour_ns || distance(raw.cupti_ns, raw.mono_ns) < raw.mono_ns / 1'000;
}

}  // namespace

// Several threads read the clocks. A thread that is preempted after its reading notes it late.
bool CuptiClock::is_overtaken(const trace::ClockSample& raw) noexcept {
  if (raw.mono_ns - raw.uncertainty_ns / 2 < noted_until_mono_ns_) return true;
  noted_until_mono_ns_ = raw.mono_ns + raw.uncertainty_ns / 2;
  return false;
}

void CuptiClock::note(const trace::ClockSample& raw) noexcept {
  if (raw.cupti_ns == 0 || is_overtaken(raw)) return;
  if (last_.cupti_ns == 0) {
    first_ = last_ = raw;
    if (!is_cuptis_own(raw)) first_.cupti_ns = last_.cupti_ns = raw.real_ns;
  }
  if (!is_time_base_changed(last_, raw)) {
    is_ours_ = true;
    last_ = raw;
    return;
  }
  if (is_ours_) {
    count_ = 0;
    changed_mono_ns_ = raw.mono_ns;
  }
  is_ours_ = false;
  note_foreign({raw.cupti_ns, raw.mono_ns, raw.uncertainty_ns});
}

// Returns true if it continues at the rate of the two previous readings; otherwise it is yet another clock.
bool CuptiClock::goes_on(const Reading& reading) const noexcept {
  const Reading& last = newest();
  if (reading.foreign <= last.foreign || reading.mono_ns <= last.mono_ns) return false;
  if (kept() < 2) return true;
  const Reading& before = newest(1);
  const auto rate = [](const Reading& from, const Reading& to) {
    return static_cast<double>(to.foreign - from.foreign) / static_cast<double>(to.mono_ns - from.mono_ns);
  };
  // Returns the largest relative error of a rate, from the uncertainties of its two readings.
  const auto blur = [](const Reading& from, const Reading& to) {
    return static_cast<double>(from.uncertainty_ns + to.uncertainty_ns) /
           static_cast<double>(to.mono_ns - from.mono_ns);
  };
  const double off = rate(last, reading) / rate(before, last) - 1;
  return (off < 0 ? -off : off) <= kSameRate + blur(last, reading) + blur(before, last);
}

void CuptiClock::note_foreign(const Reading& reading) noexcept {
  if (count_ > 0 && !goes_on(reading)) count_ = 0;
  // Two close readings are too inexact for a rate, so the later one replaces the earlier.
  const bool is_close = kept() >= 2 && newest().mono_ns - newest(1).mono_ns < kApart_ns;
  if (!is_close) ++count_;
  if (count_ == 1) first_foreign_ = reading.foreign;
  readings_[(count_ - 1) % kReadings] = reading;
}

trace::ClockSample CuptiClock::in_ours(trace::ClockSample raw) const noexcept {
  if (!is_ours_ && raw.cupti_ns != 0) raw.cupti_ns = last_.cupti_ns + (raw.mono_ns - last_.mono_ns);
  return raw;
}

TimeWindow CuptiClock::window_until(std::uint64_t mono_ns) const noexcept {
  const std::uint64_t begin = first_.cupti_ns - kHour_ns;
  return {begin, last_.cupti_ns + (mono_ns - last_.mono_ns) - begin};
}

TimeWindow CuptiClock::window(std::uint64_t mono_ns) const noexcept {
  if (last_.cupti_ns == 0) return {0, UINT64_MAX};
  if (is_ours_) return window_until(mono_ns + kHour_ns);
  TimeWindow window = window_until(changed_mono_ns_);
  // The foreign clock was installed between our last sample and this one.
  const std::uint64_t earliest_foreign = first_foreign_ - kMostTicks * (changed_mono_ns_ - last_.mono_ns);
  if (window.has(earliest_foreign)) window.span = earliest_foreign - window.begin;
  return window;
}

std::uint64_t CuptiClock::from_foreign(std::uint64_t cupti_ns) const noexcept {
  if (!is_ours_ && window_until(changed_mono_ns_).has(cupti_ns)) return 0;
  for (std::size_t back = 0; back + 1 < kept(); ++back) {
    const Reading &to = newest(back), &from = newest(back + 1);
    if (cupti_ns < from.foreign || cupti_ns > to.foreign) continue;
    const double part = static_cast<double>(cupti_ns - from.foreign) / static_cast<double>(to.foreign - from.foreign);
    const auto passed_ns = static_cast<std::uint64_t>(part * static_cast<double>(to.mono_ns - from.mono_ns) + 0.5);
    return last_.cupti_ns + (from.mono_ns + passed_ns - last_.mono_ns);
  }
  return 0;
}

}  // namespace agent
