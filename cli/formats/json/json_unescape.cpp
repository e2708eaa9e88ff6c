#include "cli/formats/json/json_unescape.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace cli {
namespace {

constexpr std::uint32_t kReplacement = 0xfffd;

void append_utf8(std::string& out, std::uint32_t code) {
  const auto byte = [&](std::uint32_t value) { out.push_back(static_cast<char>(value)); };
  const auto follow = [&](int shift) { byte(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xc0 | code >> 6);
    return follow(0);
  }
  if (code < 0x10000) {
    byte(0xe0 | code >> 12);
    follow(6);
    return follow(0);
  }
  byte(0xf0 | code >> 18);
  follow(12);
  follow(6);
  follow(0);
}

// Takes the four digits after \u.
std::uint32_t take_unit(std::string_view& text) {
  std::uint32_t unit = kReplacement;
  std::from_chars(text.data(), text.data() + std::min<std::size_t>(4, text.size()), unit, 16);
  text.remove_prefix(std::min<std::size_t>(4, text.size()));
  return unit;
}

std::uint32_t take_code_point(std::string_view& text) {
  const std::uint32_t unit = take_unit(text);
  if (unit < 0xd800 || unit > 0xdfff) return unit;
  if (unit > 0xdbff || !text.starts_with("\\u")) return kReplacement;
  std::string_view ahead = text.substr(2);
  const std::uint32_t low = take_unit(ahead);
  if (low < 0xdc00 || low > 0xdfff) return kReplacement;
  text = ahead;
  return 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
}

char simple_escape(char c) {
  switch (c) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return c;
  }
}

}  // namespace

std::string_view unescape_json(std::string_view raw, std::string& scratch) {
  std::size_t slash = raw.find('\\');
  if (slash == std::string_view::npos) return raw;
  scratch.clear();
  for (; slash != std::string_view::npos && slash + 1 < raw.size(); slash = raw.find('\\')) {
    scratch.append(raw.substr(0, slash));
    const char kind = raw[slash + 1];
    raw.remove_prefix(slash + 2);
    if (kind == 'u')
      append_utf8(scratch, take_code_point(raw));
    else
      scratch.push_back(simple_escape(kind));
  }
  scratch.append(raw);
  return scratch;
}

}  // namespace cli
