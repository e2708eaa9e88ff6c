// Finds the shape of foreign arguments (model/shapes.h), and says what repeats too rarely to have one.
//
// Integers that are members of the arguments themselves are taken out; what is nested (a grid, the dimensions of inputs)
// and what is no plain integer of 64 bits stays. So shapes are few: 1,500 of the 18,300 events with arguments of a rank of a
// training on H100s, 1,200 of 151,000 in another.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/model/shapes.h"
#include "cli/read/seen_twice.h"

namespace cli {

// An integer of a text.
struct PlainInteger {
  std::uint32_t at, length;
  std::int64_t value;
};

// False where `text` is no integer, or one that would be spelled otherwise ("-0", "1.0", beyond 64 bits).
bool read_plain_integer(std::string_view text, std::int64_t& value);

class KinetoShapes {
 public:
  explicit KinetoShapes(Shapes& shapes) : shapes_(shapes) {}

  // Null: the text is to be kept as it is. `integers` in the order of the text; those of the shape are integers().
  const Shape* find(std::string_view text, const std::vector<PlainInteger>& integers);
  const std::int64_t* integers() const { return values_; }
  // An event had a known shape without being looked for here.
  void note_repeat() { ++repeats_; }

 private:
  bool is_admitted(std::string_view text);

  Shapes& shapes_;
  std::string text_;
  std::int64_t values_[kMostHoles] = {};
  std::uint64_t repeats_ = 0;  // events whose shape was known
  SeenTwice seen_{1 << 16};
};

}  // namespace cli
