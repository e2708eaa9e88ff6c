// A hash table that finds a launch by its correlation while its GPU work has not begun. It uses open addressing, is at most three quarters full and
// never shrinks. The caller removes launches. A slot takes only two bytes, because thousands of ranks may have some hundred waiting launches each:
// the slot is a place in the LaunchRow, which has the correlation.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace cli {

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
  std::size_t home(std::uint64_t correlation) const { return correlation * 0x9e3779b97f4a7c15u >> 32 & mask(); }
  std::size_t mask() const { return slots_.size() - 1; }
  std::size_t find(const LaunchRow& row, std::uint64_t correlation) const;
  void close_hole(const LaunchRow& row, std::size_t hole);
  void grow(const LaunchRow& row);

  std::vector<Slot> slots_ = std::vector<Slot>(64);
  std::size_t used_ = 0;
};

}  // namespace cli
