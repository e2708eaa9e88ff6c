// Values by numbers of which neighbours come one after the other (correlations, External ids): the newest `most` are kept. They lie
// side by side, in the order of their coming, which is what a general hash table would lose. A value takes 20 bytes besides its own.
#pragma once
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cli {

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
    return (number ^ (number >> 16) * 0x9e3779b97f4a7c15u >> 32) & (heads_.size() - 1);
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
