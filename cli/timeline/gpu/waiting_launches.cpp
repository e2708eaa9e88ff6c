#include "cli/timeline/gpu/waiting_launches.h"

namespace cli {

bool WaitingLaunches::add(const LaunchRow& row, std::uint64_t correlation, std::uint64_t place) {
  if ((used_ + 1) * 4 > slots_.size() * 3) grow(row);
  Slot& slot = slots_[find(row, correlation)];
  if (slot != 0) return false;
  slot = static_cast<Slot>(place % LaunchRow::kMost + 1);
  ++used_;
  return true;
}

std::optional<std::uint64_t> WaitingLaunches::take(const LaunchRow& row, std::uint64_t correlation) {
  const std::size_t at = find(row, correlation);
  if (slots_[at] == 0) return std::nullopt;
  const std::uint64_t place = row.first_place + index(row, slots_[at]);
  --used_;
  close_hole(row, at);
  return place;
}

void WaitingLaunches::clear() {
  slots_.assign(slots_.size(), 0);
  used_ = 0;
}

// Where it is, or the free slot where it would go.
std::size_t WaitingLaunches::find(const LaunchRow& row, std::uint64_t id) const {
  std::size_t at = home(id);
  while (slots_[at] != 0 && correlation(row, slots_[at]) != id) at = (at + 1) & mask();
  return at;
}

// Moves back what probed past the hole.
void WaitingLaunches::close_hole(const LaunchRow& row, std::size_t hole) {
  for (std::size_t at = (hole + 1) & mask(); slots_[at] != 0; at = (at + 1) & mask()) {
    const std::size_t distance = (at - home(correlation(row, slots_[at]))) & mask();
    if (distance < ((at - hole) & mask())) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = 0;
}

void WaitingLaunches::grow(const LaunchRow& row) {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot slot : old) {
    if (slot != 0) slots_[find(row, correlation(row, slot))] = slot;
  }
}

}  // namespace cli
