// The ids of values that are kept elsewhere, found by a hash of the value: open addressing, so that a copy is one of bytes.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cli {

// Ids are dense from 0.
class IdTable {
 public:
  using Id = std::uint32_t;

  // The id of which `is_it` holds, of those with this hash. None: 0, which is that of the value that says nothing.
  template <typename IsIt>
  Id find(std::uint32_t hash, const IsIt& is_it) const {
    const Id next_id = slots_[slot_of(hash, is_it)].next_id;
    return next_id == 0 ? 0 : next_id - 1;
  }
  // The same; where there is none it is `next`: the lowest id that no value has so far.
  template <typename IsIt>
  Id intern(std::uint32_t hash, Id next, const IsIt& is_it) {
    if (std::size_t{next} * 2 >= slots_.size()) grow();
    Slot& slot = slots_[slot_of(hash, is_it)];
    if (slot.next_id == 0) slot = {hash, next + 1};
    return slot.next_id - 1;
  }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    Id next_id = 0;  // id + 1; 0: free
  };
  static constexpr std::size_t kFewestSlots = 16;

  // Its own, or the free one for it.
  template <typename IsIt>
  std::size_t slot_of(std::uint32_t hash, const IsIt& is_it) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash & mask;
    while (slots_[at].next_id != 0 && (slots_[at].hash != hash || !is_it(slots_[at].next_id - 1))) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    std::vector<Slot> old(std::max(kFewestSlots, slots_.size() * 2));
    old.swap(slots_);
    const auto none = [](Id) { return false; };
    for (const Slot& slot : old) {
      if (slot.next_id != 0) slots_[slot_of(slot.hash, none)] = slot;
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(kFewestSlots);  // a power of two, at most half full
};

}  // namespace cli
