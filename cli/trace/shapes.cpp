#include "cli/trace/shapes.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace cli {
namespace {

constexpr std::size_t kLongestInteger = 20;

// Optimized for small values: most are devices, streams or shape ids.
char* put_decimal(char* to, std::int64_t value) {
  if (value >= 0 && value < 10) {
    *to = static_cast<char>('0' + value);
    return to + 1;
  }
  return std::to_chars(to, to + kLongestInteger, value).ptr;
}

std::uint8_t slot_of(std::string_view before) {
  const std::size_t end = std::min(before.rfind('"'), before.size());
  const std::size_t begin = end == 0 ? before.npos : before.rfind('"', end - 1);
  std::uint32_t hash = 2166136261u;
  if (begin == before.npos || end == before.size()) return static_cast<std::uint8_t>(hash % kShapeSlots);
  for (const char c : before.substr(begin + 1, end - begin - 1))
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return static_cast<std::uint8_t>(hash % kShapeSlots);
}

}  // namespace

void Shape::put_together(const std::int64_t* integers, std::string& out) const {
  const std::size_t before = out.size();
  out.resize(before + text.size() + holes.size() * kLongestInteger);
  char* to = out.data() + before;
  std::size_t from = 0;
  for (const Hole& hole : holes) {
    to = std::copy(text.data() + from, text.data() + hole.at, to);
    to = put_decimal(to, *integers++);
    from = hole.at + 1;
  }
  to = std::copy(text.data() + from, text.data() + text.size(), to);
  out.resize(static_cast<std::size_t>(to - out.data()));
}

Shapes::Shapes(const Shapes& from)
    : texts_(from.texts_),
      shapes_(from.shapes_),
      text_bytes_(from.text_bytes_),
      most_text_bytes_(from.most_text_bytes_) {
  for (Shape& shape : shapes_) {
    shape.text = texts_[shape.id];
    shape.holes = {holes_.keep(shape.holes.data(), shape.holes.size()), shape.holes.size()};
  }
}

const Shape* Shapes::find(std::string_view text) const {
  const StringId id = texts_.find(text);
  return id == 0 ? nullptr : &shapes_[id];
}

const Shape& Shapes::intern(std::string_view text) {
  const StringId id = texts_.intern(text);
  if (id < shapes_.size()) return shapes_[id];
  std::array<Shape::Hole, kMostHoles> holes;
  std::size_t count = 0;
  for (std::size_t at = text.find(kHole); at != text.npos; at = text.find(kHole, at + 1)) {
    holes[count++] = {static_cast<std::uint32_t>(at), slot_of(text.substr(0, at))};
  }
  return add(id, {holes.data(), count});
}

const Shape& Shapes::intern(const Shapes& from, ShapeId id) {
  const StringId known = texts_.intern(from.texts_, id);
  return known < shapes_.size() ? shapes_[known] : add(known, from[id].holes);
}

const Shape& Shapes::add(ShapeId id, std::span<const Shape::Hole> holes) {
  Shape& shape = shapes_.emplace_back();
  shape.id = id;
  shape.text = texts_[id];
  shape.holes = {holes_.keep(holes.data(), holes.size()), holes.size()};
  text_bytes_ += shape.text.size();
  return shape;
}

std::size_t holes_in(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = text.find(kHole); at != text.npos; at = text.find(kHole, at + 1)) ++count;
  return count;
}

}  // namespace cli
