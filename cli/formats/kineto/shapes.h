// Finds the shape of foreign arguments (cli/trace/shapes.h), and says what repeats too rarely to have one.
//
// Integers that are members of the arguments themselves are taken out; what is nested (a grid, the dimensions of inputs)
// and what is no plain integer of 64 bits stays. So shapes are few: 1,500 of the 18,300 events with arguments of a rank of a
// training on H100s, 1,200 of 151,000 in another.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/trace/shapes.h"

namespace cli::kineto {

// Tells texts that come again from those that come once, in a fixed amount of memory. A text that was seen long ago may be
// taken for a new one, and, hardly ever, a new one for one that was seen.
class SeenTwice {
 public:
  // How many texts are remembered at most: 4 bytes each, once the first was asked for.
  explicit SeenTwice(std::size_t texts) : size_(texts) {}

  // Whether it was seen before. Remembers it.
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

// An integer of a text.
struct PlainInteger {
  std::uint32_t at, length;
  std::int64_t value;
};

// False where `text` is no integer, or one that would be spelled otherwise ("-0", "1.0", beyond 64 bits).
bool read_plain_integer(std::string_view text, std::int64_t& value);

class ArgumentShapes {
 public:
  explicit ArgumentShapes(Shapes& shapes);
  // With another file's shapes, which have those so far by the same ids. What is taken of it is what would be without these.
  void go_on_in(Shapes& shapes);

  // Null: the text is to be kept as it is. `integers` in the order of the text; those of the shape are integers().
  const Shape* find(std::string_view text, const std::vector<PlainInteger>& integers);
  const std::int64_t* integers() const { return values_; }
  // An event has this shape. False: that is not known before find() has seen the event.
  bool take(const Shape& shape);

 private:
  bool is_taken(ShapeId id) const { return id < taken_.size() && taken_[id]; }
  void set_taken(const Shape& shape);
  bool has_room(std::string_view text) const;
  bool is_free(std::string_view text) const;

  Shapes* shapes_;
  std::vector<bool> taken_;  // of this file, by id; how many, and their text
  std::size_t taken_count_ = 0, taken_bytes_ = 0;
  static constexpr std::size_t kTextsSeen = 1 << 16;

  std::string text_;
  std::int64_t values_[kMostHoles] = {};
  std::uint64_t repeats_ = 0;  // events of a shape that was taken
  SeenTwice seen_{kTextsSeen};
};

}  // namespace cli::kineto
