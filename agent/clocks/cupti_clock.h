// CUPTI's clock, which is shared by the whole process. Another CUPTI user may replace it
// (cuptiActivityRegisterTimestampCallback). Kineto replaces it by the processor's tick counter in each session of
// torch.profiler and does not restore it. CUPTI's times are then no nanoseconds and have another origin.
//
// "Our" clock is the one that CUPTI had. It follows CLOCK_MONOTONIC, or CLOCK_REALTIME when that is set; the latter
// also if CUPTI already had another clock at the first reading. All times in the recording use our clock. A foreign
// time is converted by linear interpolation between two readings of both clocks around it. Other foreign times are
// unknown.
#pragma once
#include <cstddef>
#include <cstdint>

#include "common/layout.h"

namespace agent {

// Times from `begin` to `begin + span`, modulo 2^64.
struct TimeWindow {
  std::uint64_t begin, span;
  bool has(std::uint64_t cupti_ns) const noexcept { return cupti_ns - begin <= span; }
};

// Not thread-safe. Each function depends only on the samples noted before.
class CuptiClock {
 public:
  // Adds a sample of the clocks. Ignores samples without CUPTI's clock (0), and samples that began before the newest
  // one ended: their order is unknown, and a wrong order would look like another clock.
  void note(const trace::ClockSample& raw) noexcept;
  // Returns the sample for the recording: converted to our clock if CUPTI's clock is foreign.
  trace::ClockSample in_ours(trace::ClockSample raw) const noexcept;

  bool is_ours() const noexcept { return is_ours_; }
  // Returns the times that belong to our clock: from the times seen so far to that at `mono_ns`, plus an hour on both
  // sides. With a foreign clock it ends when that was noticed, and is smaller if the two could be confused. All times
  // before the first sample.
  TimeWindow window(std::uint64_t mono_ns) const noexcept;
  // Converts a time outside of the window to our clock; 0 if unknown. (It is unknown if it may belong to either clock,
  // and for a second after the wall clock was set by more than an hour.)
  std::uint64_t from_foreign(std::uint64_t cupti_ns) const noexcept;

 private:
  struct Reading {
    std::uint64_t foreign, mono_ns, uncertainty_ns;
  };
  static constexpr std::size_t kReadings = 512;  // half a second apart: four minutes

  bool is_overtaken(const trace::ClockSample& raw) noexcept;
  void note_foreign(const Reading& reading) noexcept;
  TimeWindow window_until(std::uint64_t mono_ns) const noexcept;
  bool goes_on(const Reading& reading) const noexcept;
  const Reading& newest(std::size_t back = 0) const noexcept { return readings_[(count_ - 1 - back) % kReadings]; }
  std::size_t kept() const noexcept { return count_ < kReadings ? count_ : kReadings; }

  trace::ClockSample first_{}, last_{};  // on our clock
  bool is_ours_ = true;
  std::uint64_t noted_until_mono_ns_ = 0;  // end of the newest sample
  std::uint64_t changed_mono_ns_ = 0;      // time of the first reading of a foreign clock
  std::uint64_t first_foreign_ = 0;        // first foreign reading, before any was overwritten
  Reading readings_[kReadings]{};          // the newest is at (count_ - 1) % kReadings
  std::size_t count_ = 0;                  // readings of the current, or last, foreign clock
};

}  // namespace agent
