// How many launches of a process wait for their device: +1 when the call begins, -1 when the first of its work does
// (a graph's first node). Joined by correlation.
//
// Which device a launch is for, and whether its work is in the trace at all, is known when the work begins. So values
// are given when all launches before them are known. Launches without work in the trace do not count; nor does one that
// is still waited for when kMostWaiting later ones have been called (memory stays bounded; they are counted).
#pragma once
#include <cstdint>
#include <deque>
#include <utility>

#include "cli/timeline/gpu/waiting_launches.h"

namespace cli {

// A number that changes at moments, in their order: what is told of it.
class Changes {
 public:
  virtual void add(std::int64_t ns, double change) = 0;

 protected:
  ~Changes() = default;
};

class LaunchQueue {
 public:
  static constexpr std::size_t kMostWaiting = 8192;
  static_assert(kMostWaiting < LaunchRow::kMost);

  // Both by time, in one order. A call within a call with the same correlation (the driver's, in the runtime's) is the
  // same launch. `counter` lives as long as this.
  void launch(std::int64_t ns, std::uint64_t correlation);
  // True: it is the first work of a launch.
  bool work(std::int64_t ns, std::uint64_t correlation, Changes& counter);

  // Gives all that lies before `at_ns`. Launches that still wait count from there on: in the part before, they have no
  // work. The counters are cut by their owner, behind this.
  void cut(std::int64_t at_ns);
  void finish();

  std::uint64_t given_up() const { return given_up_; }

 private:
  void settle();
  void start_before(std::int64_t ns);

  LaunchRow row_;                                         // its first launch waits
  std::deque<std::pair<std::int64_t, Changes*>> starts_;  // of work, not given yet
  WaitingLaunches waiting_;
  std::uint64_t given_up_ = 0;
};

}  // namespace cli
