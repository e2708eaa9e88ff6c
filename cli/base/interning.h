// Values that repeat, kept once, and the memory that they are kept in.
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

// Memory for many small arrays that are never moved and go all at once.

// `T`: copied byte by byte.
template <typename T>
class Arena {
 public:
  static_assert(std::is_trivially_copyable_v<T>);

  // Where these lie from now on. Null of none.
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
  T* end_ = nullptr;       // of the last one
  std::size_t left_ = 0;  // free before it
};

// The ids of values that are kept elsewhere, found by a hash of the value: open addressing, so that a copy is one of bytes.

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

// Values that repeat, kept once: ids are dense from 0, which is the value that says nothing.

// The number of a value in an Interned<T>.
template <typename T>
struct InternedId {
  std::uint32_t value = 0;

  constexpr InternedId() = default;
  constexpr InternedId(std::uint32_t number) : value(number) {}
  constexpr operator std::uint32_t() const { return value; }
};

// `T` is comparable, and has its fields in payload_fields() (payload.h).
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
  // A visitor of fields.
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
    payload_fields(mix, value);
    return static_cast<std::uint32_t>(mix.hash);
  }

  std::vector<T> values_;
  IdTable ids_;
};

// Values by numbers of which neighbours come one after the other (correlations, External ids): the newest `most` are kept. They lie
// side by side, in the order of their coming, which is what a general hash table would lose. A value takes 20 bytes besides its own.
template <typename Value>
class Newest {
 public:
  using Place = std::uint32_t;
  static constexpr Place kNone = ~Place{0};

  // `expected`: how many will come; 0: not known. There is room for them from the first one on, so that none is moved.
  explicit Newest(std::size_t most, std::size_t expected = 0) : most_(static_cast<Place>(most)), expected_(static_cast<Place>(std::min(most, expected))) {}

  // kNone: there is none, or it is too long ago. A value has its place, below `most`, until another one takes it.
  Place find(std::uint64_t number) const {
    Place place = heads_[home(number)];
    while (place != kNone && ring_[place].number != number) place = ring_[place].next;
    return place;
  }
  Value& operator[](Place place) { return ring_[place].value; }
  const Value& operator[](Place place) const { return ring_[place].value; }

  // In the place of one that has this number, and of the oldest where there are as many as are kept.
  Place add(std::uint64_t number, Value value) { return add(number, std::move(value), find(number)); }
  // `known`: what find() says of the number.
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
    Place next = kNone;   // behind the same head
    bool counts = false;  // false: another one has taken its number
  };

  // Neighbours stay so; numbers that differ in high bits alone are apart, too.
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
  std::vector<Place> heads_ = std::vector<Place>(16, kNone);  // a power of two, at least twice as many as the ring has
};

}  // namespace cli
