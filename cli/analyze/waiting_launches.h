// A hash table from correlation to place, for launches whose work has not begun. It uses open addressing and is at most three quarters full.
// It never shrinks; its user decides which launches it keeps. A slot takes two bytes, because some hundred launches of each of
// thousands of ranks may wait: correlations are those of the launches themselves.
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
  Changes* counter;  // null: waits
};

// Launches by time. Places count on from the first one that ever was.
struct LaunchRow {
  std::deque<QueuedLaunch> launches;  // kMost at most
  std::uint64_t first_place = 0;      // of launches[0]

  static constexpr std::size_t kMost = 1 << 15;
  void drop_first() { launches.pop_front(), ++first_place; }
};

class WaitingLaunches {
 public:
  // False: one with this correlation waits already. Else the launch is the row's at this place from then on.
  bool add(const LaunchRow& row, std::uint64_t correlation, std::uint64_t place);
  // Its place; it waits no longer.
  std::optional<std::uint64_t> take(const LaunchRow& row, std::uint64_t correlation);
  void clear();

 private:
  using Slot = std::uint16_t;  // the place modulo LaunchRow::kMost, + 1; 0: free

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
