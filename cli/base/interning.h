// Interned values, and memory arenas for them.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "common/hash.h"

namespace cli {

// Passes each field of `value` to the visitor `f`, by the list T::fields().
template <typename F, typename T>
constexpr void visit_fields(F& f, T& value) {
  std::remove_const_t<T>::fields(f, value);
}

// Memory for many small arrays that are never moved and are freed all at once. `T` is trivially copyable.
template <typename T>
class Arena {
 public:
  static_assert(std::is_trivially_copyable_v<T>);

  // Copies the elements and returns their address. Null if `count` is 0.
  const T* keep(const T* from, std::size_t count) {
    if (count == 0) return nullptr;
    if (count > left_) {
      left_ = std::max(kChunkBytes / sizeof(T), count);
      chunks_.push_back(std::make_unique_for_overwrite<T[]>(left_));
      end_ = chunks_.back().get() + left_;
    }
    T* const kept = end_ - left_;
    std::memcpy(kept, from, count * sizeof(T));
    left_ -= count;
    return kept;
  }

 private:
  static constexpr std::size_t kChunkBytes = 64 << 10;

  std::vector<std::unique_ptr<T[]>> chunks_;
  T* end_ = nullptr;      // end of the newest block
  std::size_t left_ = 0;  // free elements at its end
};

// Finds the ids of values stored elsewhere by a hash of the value. Uses open addressing, so that a copy is a plain
// memory copy. Ids are dense from 0.
class IdTable {
 public:
  using Id = std::uint32_t;

  // Returns the id with this hash for which `is_it` is true. 0, the id of the empty value, if there is none.
  template <typename IsIt>
  Id find(std::uint32_t hash, const IsIt& is_it) const {
    const Id next_id = slots_[slot_of(hash, is_it)].next_id;
    return next_id == 0 ? 0 : next_id - 1;
  }
  // The same, but adds `next` if there is none. `next` is the lowest unused id.
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
    Id next_id = 0;  // id + 1; 0 for a free slot
  };
  static constexpr std::size_t kFewestSlots = 16;

  // Returns the slot of the value, or the free slot for it.
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

  std::vector<Slot> slots_ = std::vector<Slot>(kFewestSlots);  // the size is a power of two; at most half full
};

// Interned values with dense ids from 0, the id of the empty value.

// The id of a value in an Interned<T>.
template <typename T>
struct InternedId {
  std::uint32_t value = 0;

  constexpr InternedId() = default;
  constexpr InternedId(std::uint32_t number) : value(number) {}
  constexpr operator std::uint32_t() const { return value; }
};

// `T` is comparable and lists its fields in T::fields().
template <typename T>
class Interned {
 public:
  using Id = InternedId<T>;

  Interned() { intern(T{}); }
  Id intern(const T& value) {
    const auto next = static_cast<std::uint32_t>(values_.size());
    const Id id = ids_.intern(hash_of(value), next, [&](std::uint32_t known) { return values_[known] == value; });
    if (id == next) values_.push_back(value);
    return id;
  }
  const T& operator[](Id id) const { return values_[id]; }
  std::size_t size() const { return values_.size(); }
  const std::vector<T>& all() const { return values_; }

 private:
  // A field visitor that computes a hash.
  struct Mix {
    std::uint64_t hash = trace::spread(1);
    template <typename V>
    void number(const char*, const V& value, bool = true) {
      if constexpr (std::is_same_v<V, float>) {
        add(std::bit_cast<std::uint32_t>(value));
      } else {
        add(static_cast<std::uint64_t>(value));
      }
    }
    template <typename V>
    void delta(const char*, const V& value, bool = true) {
      add(static_cast<std::uint64_t>(value));
    }
    template <typename V>
    void hex(const char*, const V& value, bool = true) {
      add(static_cast<std::uint64_t>(value));
    }
    void string(const char*, std::uint32_t id, bool = true) { add(id); }
    template <typename U>
    void id(const char*, InternedId<U> id, bool = true) {
      add(id);
    }
    void add(std::uint64_t value) {
      hash = (hash ^ value) * 0xc2b2ae3d27d4eb4fu;
      hash ^= hash >> 29;
    }
  };
  static std::uint32_t hash_of(const T& value) {
    Mix mix;
    visit_fields(mix, value);
    return static_cast<std::uint32_t>(mix.hash);
  }

  std::vector<T> values_;
  IdTable ids_;
};

// The newest `most` values by number. Consecutive numbers (correlations, External ids) arrive close to each other, and
// unlike in a general hash table their values are adjacent in memory, in order of arrival. A value takes 20 bytes plus
// its own size.
template <typename Value>
class Newest {
 public:
  using Place = std::uint32_t;
  static constexpr Place kNone = ~Place{0};

  // `expected` is the number of values to come, 0 if unknown. Memory for them is allocated at the first one, so that
  // none is moved.
  explicit Newest(std::size_t most, std::size_t expected = 0)
      : most_(static_cast<Place>(most)), expected_(static_cast<Place>(std::min(most, expected))) {}

  // Returns the slot of the value, below `most`, which is valid until another value takes it. kNone if there is none or
  // it has been replaced.
  Place find(std::uint64_t number) const {
    Place place = heads_[home(number)];
    while (place != kNone && ring_[place].number != number) place = ring_[place].next;
    return place;
  }
  Value& operator[](Place place) { return ring_[place].value; }
  const Value& operator[](Place place) const { return ring_[place].value; }

  // Replaces the value with this number, and the oldest value if `most` values are stored.
  Place add(std::uint64_t number, Value value) { return add(number, std::move(value), find(number)); }
  // `known` is the result of find() for the number.
  Place add(std::uint64_t number, Value value, Place known) {
    if (known != kNone) unlink(known);
    if (ring_.empty()) make_room();
    const Place place = next_;
    next_ = place + 1 < most_ ? place + 1 : 0;
    if (place == ring_.size()) {
      ring_.push_back({std::move(value), number, kNone, true});
    } else {
      if (ring_[place].counts) unlink(place);
      ring_[place] = {std::move(value), number, kNone, true};
    }
    ring_.size() * 2 > heads_.size() ? grow() : link(place);
    return place;
  }

 private:
  struct Entry {
    Value value{};
    std::uint64_t number = 0;
    Place next = kNone;   // next value with the same head
    bool counts = false;  // false if a newer value has its number
  };

  // Adjacent numbers get adjacent heads. Numbers that differ only in high bits are also spread.
  std::size_t home(std::uint64_t number) const {
    return (number ^ trace::spread(number >> 16) >> 32) & (heads_.size() - 1);
  }
  void link(Place place) { ring_[place].next = std::exchange(heads_[home(ring_[place].number)], place); }
  void unlink(Place place) {
    Place* at = &heads_[home(ring_[place].number)];
    while (*at != place) at = &ring_[*at].next;
    *at = ring_[place].next;
    ring_[place].counts = false;
  }
  void make_room() {
    ring_.reserve(expected_);
    heads_.assign(std::bit_ceil(std::max(heads_.size(), std::size_t{2} * expected_)), kNone);
  }
  void grow() {
    heads_.assign(heads_.size() * 2, kNone);
    for (Place place = 0; place < ring_.size(); ++place) {
      if (ring_[place].counts) link(place);
    }
  }

  Place most_, expected_, next_ = 0;
  std::vector<Entry> ring_;
  // The size is a power of two, at least twice that of the ring
  std::vector<Place> heads_ = std::vector<Place>(16, kNone);
};

}  // namespace cli
