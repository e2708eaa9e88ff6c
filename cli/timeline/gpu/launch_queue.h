// How many launches of a process wait for their device: +1 when the call begins, -1 when the first of its work does
// (a graph's first node). Joined by correlation.
//
// Which device a launch is for, and whether its work is in the trace at all, is known when the work begins. So values
// are given when all launches before them are known. Launches without work in the trace do not count; nor does one that
// is still waited for when kMostWaiting later ones have been called (memory stays bounded; they are counted).
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "common/hash.h"

namespace cli {

// A hash table that finds a launch by its correlation while its GPU work has not begun. It uses open addressing, is at most three quarters full and
// never shrinks. The caller removes launches. A slot takes only two bytes, because thousands of ranks may have some hundred waiting launches each:
// the slot is a place in the LaunchRow, which has the correlation.
class Changes;

struct QueuedLaunch {
  std::int64_t ns;
  std::uint64_t correlation;
  Changes* counter;  // null while it waits
};

// Launches in the order of time. The place of a launch is its number since the start of the trace.
struct LaunchRow {
  std::deque<QueuedLaunch> launches;  // at most kMost
  std::uint64_t first_place = 0;      // of launches[0]

  static constexpr std::size_t kMost = 1 << 15;
  void drop_first() { launches.pop_front(), ++first_place; }
};

class WaitingLaunches {
 public:
  // Adds the launch at `place` of the row. Returns false, and adds nothing, if a launch with this correlation already waits.
  bool add(const LaunchRow& row, std::uint64_t correlation, std::uint64_t place);
  // Removes the launch with this correlation and returns its place, or nullopt if none waits.
  std::optional<std::uint64_t> take(const LaunchRow& row, std::uint64_t correlation);
  void clear();

 private:
  using Slot = std::uint16_t;  // place modulo LaunchRow::kMost, plus 1; 0 if the slot is free

  static std::size_t index(const LaunchRow& row, Slot slot) { return (slot - std::size_t{1} - row.first_place) % LaunchRow::kMost; }
  static std::uint64_t correlation(const LaunchRow& row, Slot slot) { return row.launches[index(row, slot)].correlation; }
  std::size_t home(std::uint64_t correlation) const { return trace::spread(correlation) >> 32 & mask(); }
  std::size_t mask() const { return slots_.size() - 1; }
  std::size_t find(const LaunchRow& row, std::uint64_t correlation) const;
  void close_hole(const LaunchRow& row, std::size_t hole);
  void grow(const LaunchRow& row);

  std::vector<Slot> slots_ = std::vector<Slot>(64);
  std::size_t used_ = 0;
};

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
