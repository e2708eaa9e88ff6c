// A hash table from correlation to place, for launches whose work has not begun. It uses open addressing and is at most three quarters full.
// It never shrinks; its user decides which launches it keeps.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace cli {

class WaitingLaunches {
 public:
  // False: it waits already.
  bool add(std::uint64_t correlation, std::uint64_t place);
  // Its place; it waits no longer.
  std::optional<std::uint64_t> take(std::uint64_t correlation);
  void clear();

 private:
  struct Slot {
    std::uint64_t correlation = 0;
    std::uint64_t place = 0;  // + 1; 0: free
  };
  std::size_t home(std::uint64_t correlation) const { return correlation * 0x9e3779b97f4a7c15u >> 32 & mask(); }
  std::size_t mask() const { return slots_.size() - 1; }
  std::size_t find(std::uint64_t correlation) const;
  void close_hole(std::size_t hole);
  void grow();

  std::vector<Slot> slots_ = std::vector<Slot>(64);
  std::size_t used_ = 0;
};

}  // namespace cli
