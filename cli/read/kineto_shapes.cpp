#include "cli/read/kineto_shapes.h"

#include <algorithm>
#include <charconv>
#include <functional>

namespace cli {
namespace {

// The first shapes are taken as they come. Then one has to come twice, so that a trace whose texts never repeat does not
// fill the catalogue; and there is an end.
constexpr std::size_t kFreeShapes = 4096, kFreeText = 2 << 20;
constexpr std::size_t kSeen = 1 << 16;

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
  }
  return shape->holes.size() == count ? shape : nullptr;
}

bool KinetoShapes::is_admitted(std::string_view text) {
  if (shapes_.text_bytes() + text.size() > shapes_.most_text_bytes()) return false;
  if (shapes_.size() < kFreeShapes && shapes_.text_bytes() < kFreeText) return true;
  if (seen_.empty()) seen_.resize(kSeen);
  const std::size_t hash = std::hash<std::string_view>{}(text);
  const auto mark = static_cast<std::uint32_t>(hash >> 32 | 1);
  std::uint32_t& seen = seen_[hash % kSeen];
  return seen == mark || (seen = mark, false);
}

}  // namespace cli
