#include "cli/analyze/waiting_launches.h"

#include <utility>

namespace cli {

bool WaitingLaunches::add(std::uint64_t correlation, std::uint64_t place) {
  if ((used_ + 1) * 4 > slots_.size() * 3) grow();
  Slot& slot = slots_[find(correlation)];
  if (slot.place != 0) return false;
  slot = {correlation, place + 1};
  ++used_;
  return true;
}

std::optional<std::uint64_t> WaitingLaunches::take(std::uint64_t correlation) {
  const std::size_t at = find(correlation);
  if (slots_[at].place == 0) return std::nullopt;
  const std::uint64_t place = slots_[at].place - 1;
  --used_;
  close_hole(at);
  return place;
}

void WaitingLaunches::clear() {
  slots_.assign(slots_.size(), {});
  used_ = 0;
}

// Where it is, or the free slot where it would go.
std::size_t WaitingLaunches::find(std::uint64_t correlation) const {
  std::size_t at = home(correlation);
  while (slots_[at].place != 0 && slots_[at].correlation != correlation) at = (at + 1) & mask();
  return at;
}

// Moves back what probed past the hole.
void WaitingLaunches::close_hole(std::size_t hole) {
  for (std::size_t at = (hole + 1) & mask(); slots_[at].place != 0; at = (at + 1) & mask()) {
    const std::size_t distance = (at - home(slots_[at].correlation)) & mask();
    if (distance < ((at - hole) & mask())) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = {};
}

void WaitingLaunches::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.place != 0) slots_[find(slot.correlation)] = slot;
  }
}

}  // namespace cli
