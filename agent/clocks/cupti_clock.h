// CUPTI's clock, which belongs to the whole process: another user of CUPTI may put its own in its place
// (cuptiActivityRegisterTimestampCallback), as Kineto puts the processor's counter of ticks there for each session of
// torch.profiler, and leaves it. From then on CUPTI's times are not nanoseconds, and of another begin.
//
// "Ours" is the clock that CUPTI had, which goes with CLOCK_MONOTONIC, or with CLOCK_REALTIME where that is set; the latter
// where CUPTI already had another's when it was first read. The
// recording's times are in it, whatever CUPTI's clock is: a foreign time becomes one of ours where two readings of both
// clocks lie around it, on the line between them; of any other foreign time nobody can tell when it was.
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

// Not thread-safe. Each is a pure function of what was noted before.
class CuptiClock {
 public:
  // Adds a sample of the clocks. Ignores samples without CUPTI's clock (0), and samples that began before the newest one ended: their order is
  // unknown, and a wrong order would look like another clock.
  void note(const trace::ClockSample& raw) noexcept;
  // The sample as the recording has it: in ours where CUPTI's clock is foreign.
  trace::ClockSample in_ours(trace::ClockSample raw) const noexcept;

  bool is_ours() const noexcept { return is_ours_; }
  // Times that are of ours: what ours has shown so far and shows at `mono_ns`, and an hour around; with a foreign clock
  // there until that was seen, and less where the two may be taken for each other. All, before the first sample.
  TimeWindow window(std::uint64_t mono_ns) const noexcept;
  // In ours, of a time outside the window; 0: nobody can tell. (So it is where it may be of either clock, and for a second
  // where the wall clock is set by more than an hour.)
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

  trace::ClockSample first_{}, last_{};  // of ours
  bool is_ours_ = true;
  std::uint64_t noted_until_mono_ns_ = 0;  // end of the newest sample
  std::uint64_t changed_mono_ns_ = 0;  // when the first reading was not of ours
  std::uint64_t first_foreign_ = 0;    // of the readings, before any was overwritten
  Reading readings_[kReadings]{};  // the newest is at (count_ - 1) % kReadings
  std::size_t count_ = 0;          // readings of the foreign clock that is there, or was last
};

}  // namespace agent
