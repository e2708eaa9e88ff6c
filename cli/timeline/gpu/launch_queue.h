// Counts the launches of a process that wait for their device: +1 when the call begins, -1 when the first of its GPU
// work begins (a graph's first node). Launches and work are joined by correlation.
//
// The device of a launch, and whether its work is in the trace, is known when the work begins. Values are therefore
// reported once all launches before them are known. Launches without work in the trace do not count. A launch that
// still waits after kMostWaiting later launches is given up, so that memory stays bounded; given_up() counts these.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "common/hash.h"

namespace cli {

// A hash table that finds a launch by its correlation until its GPU work begins. It uses open addressing, is at most
// three quarters full and never shrinks. The caller removes launches. A slot takes only two bytes, because thousands of
// ranks may each have some hundred waiting launches: the slot is a place in the LaunchRow, which has the correlation.
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

  static std::size_t index(const LaunchRow& row, Slot slot) {
    return (slot - std::size_t{1} - row.first_place) % LaunchRow::kMost;
  }
  static std::uint64_t correlation(const LaunchRow& row, Slot slot) {
    return row.launches[index(row, slot)].correlation;
  }
  std::size_t home(std::uint64_t correlation) const { return ::trace::spread(correlation) >> 32 & mask(); }
  std::size_t mask() const { return slots_.size() - 1; }
  std::size_t find(const LaunchRow& row, std::uint64_t correlation) const;
  void close_hole(const LaunchRow& row, std::size_t hole);
  void grow(const LaunchRow& row);

  std::vector<Slot> slots_ = std::vector<Slot>(64);
  std::size_t used_ = 0;
};

// Receives the changes of a number, in order of time.
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

  // launch() and work() have to be called in order of time. A call within a call with the same correlation (driver call
  // within runtime call) is the same launch. `counter` has to outlive this.
  void launch(std::int64_t ns, std::uint64_t correlation);
  // Returns true if it is the first work of a launch.
  bool work(std::int64_t ns, std::uint64_t correlation, Changes& counter);

  // Reports all changes before `at_ns`. Launches that still wait count from there on; they have no work before it. The
  // owner cuts the counters afterwards.
  void cut(std::int64_t at_ns);
  void finish();

  std::uint64_t given_up() const { return given_up_; }

 private:
  void settle();
  void start_before(std::int64_t ns);

  LaunchRow row_;                                         // its first launch waits
  std::deque<std::pair<std::int64_t, Changes*>> starts_;  // of work, not reported yet
  WaitingLaunches waiting_;
  std::uint64_t given_up_ = 0;
};

}  // namespace cli
