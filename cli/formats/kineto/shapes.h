// Finds the shape of foreign arguments (cli/trace/shapes.h), and detects texts that repeat too rarely to have one.
//
// Integers that are direct members of the arguments become holes. Nested values (a grid, the dimensions of inputs) and
// anything other than plain 64-bit integers stay in the text. Shapes are therefore few: 1,500 for the 18,300 events
// with arguments of a rank of a training on H100s, 1,200 for 151,000 in another.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/trace/shapes.h"

namespace cli::kineto {

// Detects repeated texts in a fixed amount of memory. A text seen long ago may be taken for a new one and, very rarely,
// a new one for a repeated one.
class SeenTwice {
 public:
  // `texts` is the maximum number of texts remembered: 4 bytes each, allocated at the first call.
  explicit SeenTwice(std::size_t texts) : size_(texts) {}

  // Returns true if the text was seen before. Remembers it.
  bool operator()(std::string_view text) {
    if (marks_.empty()) marks_.resize(size_);
    const std::size_t hash = std::hash<std::string_view>{}(text);
    const auto mark = static_cast<std::uint32_t>(hash >> 32 | 1);
    std::uint32_t& seen = marks_[hash % size_];
    if (seen == mark) return true;
    seen = mark;
    return false;
  }

 private:
  std::size_t size_;
  std::vector<std::uint32_t> marks_;
};

// An integer in a text.
struct PlainInteger {
  std::uint32_t at, length;
  std::int64_t value;
};

// Returns false if `text` is no integer, or has another canonical spelling ("-0", "1.0", beyond 64 bits).
bool read_plain_integer(std::string_view text, std::int64_t& value);

class ArgumentShapes {
 public:
  explicit ArgumentShapes(Shapes& shapes);
  // Continues with the shapes of another file, which contain those so far with the same ids. Results are the same as
  // without them.
  void go_on_in(Shapes& shapes);

  // Returns null if the text has to be kept as it is. `integers` is in the order of the text; integers() returns those
  // of the shape.
  const Shape* find(std::string_view text, const std::vector<PlainInteger>& integers);
  const std::int64_t* integers() const { return values_; }
  // Counts an event with this shape. Returns false if find() has to see the event first.
  bool take(const Shape& shape);

 private:
  bool is_taken(ShapeId id) const { return id < taken_.size() && taken_[id]; }
  void set_taken(const Shape& shape);
  bool has_room(std::string_view text) const;
  bool is_free(std::string_view text) const;

  Shapes* shapes_;
  std::vector<bool> taken_;  // shapes used by this file, by id; below their number and text size
  std::size_t taken_count_ = 0, taken_bytes_ = 0;
  static constexpr std::size_t kTextsSeen = 1 << 16;

  std::string text_;
  std::int64_t values_[kMostHoles] = {};
  std::uint64_t repeats_ = 0;  // events with a shape that was already used
  SeenTwice seen_{kTextsSeen};
};

}  // namespace cli::kineto
