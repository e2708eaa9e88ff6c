// Texts of foreign arguments (Kineto, Chrome JSON). Arguments that differ only in integers share one stored shape:
//
//   "External id": 18, "Ev Idx": 7, "Input Dims": [[8, 4]]      arguments
//   "External id": ~, "Ev Idx": ~, "Input Dims": [[8, 4]]       their shape; the integers are 18 and 7
//
// The reader chooses which integers become holes (cli/formats/kineto/shapes.h). Filling the holes of a shape
// with its integers restores the original bytes.
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

using ShapeId = std::uint32_t;  // index in Shapes; 0 is "" without holes

inline constexpr char kHole = '\1';              // placeholder of an integer; this byte never occurs in JSON text
inline constexpr std::size_t kMostHoles = 64;    // per shape
inline constexpr std::size_t kShapeSlots = 256;  // integers that are usually close in value share a slot
inline constexpr std::size_t kMostShapeText = 16 << 10;
inline constexpr std::size_t kMostTextOfShapes = 64 << 20;  // of all shapes together, which stay in memory

// Text with holes for integers. Its address stays valid as long as the catalogue exists, so shapes can be read while
// others are added.
struct Shape {
  struct Hole {
    std::uint32_t at;   // offset in the text
    std::uint8_t slot;  // 32-bit FNV-1a of the text between the last two quotes before the hole, modulo kShapeSlots
  };
  ShapeId id = 0;
  std::string_view text;
  std::span<const Hole> holes;

  // Appends the text with its holes filled; `integers` has one value per hole.
  void put_together(const std::int64_t* integers, std::string& out) const;
};

// Interned shapes with dense ids from 0.
class Shapes {
 public:
  Shapes() { shapes_.emplace_back(); }
  explicit Shapes(const Shapes& from);
  Shapes(Shapes&&) = default;
  Shapes& operator=(Shapes&&) = default;
  // Null if `text` has not been interned.
  const Shape* find(std::string_view text) const;
  // `text` has at most kMostHoles holes and kMostShapeText bytes.
  const Shape& intern(std::string_view text);
  const Shape& intern(const Shapes& from, ShapeId id);  // copies a shape of another catalogue
  const Shape& operator[](ShapeId id) const { return shapes_[id]; }
  std::size_t size() const { return shapes_.size(); }
  std::size_t text_bytes() const { return text_bytes_; }  // of all shapes
  // The limit that a reader should keep `text_bytes()` within.
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
