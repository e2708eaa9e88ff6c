// The text of foreign arguments, kept once for all events whose arguments differ in integers only:
//
//   "External id": 18, "Ev Idx": 7, "Input Dims": [[8, 4]]      is the shape
//   "External id": ~, "Ev Idx": ~, "Input Dims": [[8, 4]]       and the integers 18 and 7.
//
// Which integers are taken out is the reader's choice (cli/formats/kineto/shapes.h). Here a shape is any text with holes; put
// together with its integers it is the same bytes again.
#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>

#include "cli/base/interning.h"
#include "cli/trace/strings.h"

namespace cli {

using ShapeId = std::uint32_t;  // in Shapes; 0 is "" without holes

inline constexpr char kHole = '\1';               // stands for an integer: a byte that no JSON text holds
inline constexpr std::size_t kMostHoles = 64;     // of a shape
inline constexpr std::size_t kShapeSlots = 256;   // integers that are likely near each other share one
inline constexpr std::size_t kMostShapeText = 16 << 10;
inline constexpr std::size_t kMostTextOfShapes = 64 << 20;  // of all, which stay in memory

// Its address stays while the catalogue is there, so that it is read while others are added.
struct Shape {
  struct Hole {
    std::uint32_t at;   // in the text
    std::uint8_t slot;  // FNV-1a (32 bits), modulo kShapeSlots, of what stands between the last two quotes before it
  };
  ShapeId id = 0;
  std::string_view text;
  std::span<const Hole> holes;

  // Appends the text with its integers, one for each hole.
  void put_together(const std::int64_t* integers, std::string& out) const;
};

// Dense ids from 0, interned.
class Shapes {
 public:
  Shapes() { shapes_.emplace_back(); }
  explicit Shapes(const Shapes& from);
  Shapes(Shapes&&) = default;
  Shapes& operator=(Shapes&&) = default;
  // Null: it is not known.
  const Shape* find(std::string_view text) const;
  // At most kMostHoles and kMostShapeText.
  const Shape& intern(std::string_view text);
  const Shape& intern(const Shapes& from, ShapeId id);  // as it is there
  const Shape& operator[](ShapeId id) const { return shapes_[id]; }
  std::size_t size() const { return shapes_.size(); }
  std::size_t text_bytes() const { return text_bytes_; }  // of all
  // What a reader should keep to.
  std::size_t most_text_bytes() const { return most_text_bytes_; }
  void limit_text(std::size_t bytes) { most_text_bytes_ = bytes; }

 private:
  const Shape& add(ShapeId id, std::span<const Shape::Hole> holes);

  Strings texts_;
  std::deque<Shape> shapes_;
  Arena<Shape::Hole> holes_;
  std::size_t text_bytes_ = 0, most_text_bytes_ = kMostTextOfShapes;
};

std::size_t holes_in(std::string_view text);

}  // namespace cli
