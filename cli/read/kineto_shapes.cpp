#include "cli/read/kineto_shapes.h"

#include <algorithm>
#include <charconv>

namespace cli {
namespace {

// The first shapes are taken as they come: 4,096 of 2 MiB together where one input may have kMostTextOfShapes, less where
// several share that; and more of them for each event that repeats one. Then one has to come twice, so that traces whose texts
// never repeat do not fill the catalogue; and there is an end.
constexpr std::size_t kFreeShare = 32, kTextPerFreeShape = kMostTextOfShapes / 4096;
constexpr std::size_t kRepeatsPerFreeShape = 2, kFreeTextPerRepeat = 128;

}  // namespace

bool read_plain_integer(std::string_view text, std::int64_t& value) {
  if (text.size() > 1 && (text[0] == '0' || (text[0] == '-' && text[1] == '0'))) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

const Shape* KinetoShapes::find(std::string_view text, const std::vector<PlainInteger>& integers) {
  const std::size_t count = std::min(integers.size(), kMostHoles);
  if (text.empty() || text.size() > kMostShapeText) return nullptr;
  text_.resize(text.size());
  char* to = text_.data();
  const char* from = text.data();
  for (std::size_t i = 0; i < count; ++i) {
    const PlainInteger& integer = integers[i];
    to = std::copy(from, text.data() + integer.at, to);
    *to++ = kHole;
    from = text.data() + integer.at + integer.length;
    values_[i] = integer.value;
  }
  to = std::copy(from, text.data() + text.size(), to);
  const std::string_view key(text_.data(), static_cast<std::size_t>(to - text_.data()));
  const Shape* shape = shapes_.find(key);
  if (shape == nullptr) {
    if (holes_in(key) != count || !is_admitted(key)) return nullptr;
    shape = &shapes_.intern(key);
  } else {
    ++repeats_;
  }
  return shape->holes.size() == count ? shape : nullptr;
}

bool KinetoShapes::is_admitted(std::string_view text) {
  if (shapes_.text_bytes() + text.size() > shapes_.most_text_bytes()) return false;
  const std::size_t free_shapes = shapes_.most_text_bytes() / kTextPerFreeShape + repeats_ / kRepeatsPerFreeShape;
  const std::size_t free_bytes = shapes_.most_text_bytes() / kFreeShare + repeats_ * kFreeTextPerRepeat;
  return (shapes_.size() < free_shapes && shapes_.text_bytes() < free_bytes) || seen_(text);
}

}  // namespace cli
