#include "cli/formats/json/json_values.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "cli/base/text.h"
#include "cli/formats/json/json_check.h"

namespace cli {
namespace {

namespace od = simdjson::ondemand;

std::string_view without_trailing_space(std::string_view token) {
  const auto is_space = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
  while (!token.empty() && is_space(token.back())) token.remove_suffix(1);
  return token;
}

bool is_plain_number(std::string_view text) {
  if (text.size() > 1 && text[0] == '0') return false;
  for (char c : text) {
    if (c < '0' || c > '9') return false;
  }
  return true;
}

bool escapes_are_valid(std::string_view text) {
  return std::memchr(text.data(), '\\', text.size()) == nullptr || has_valid_escapes(text);
}

bool check_object(od::object object, int depth, const char* end) {
  for (auto result : object) {
    od::field field;
    if (std::move(result).get(field)) return false;
    if (!escapes_are_valid(key_text(field, end))) return false;
    od::value value = field.value();
    if (!check_value(value, depth, end)) return false;
  }
  return true;
}

bool check_array(od::array array, int depth, const char* end) {
  for (auto result : array) {
    od::value value;
    if (std::move(result).get(value) || !check_value(value, depth, end)) return false;
  }
  return true;
}

}  // namespace

bool read_scalar(od::value& value, JsonScalar& scalar) {
  std::string_view token = without_trailing_space(value.raw_json_token());
  if (token.empty()) return false;
  if (token[0] == '"') {
    od::raw_json_string consumed;  // otherwise simdjson skips `"a":` like a key
    if (token.size() < 2 || token.back() != '"' || value.get_raw_json_string().get(consumed)) return false;
    scalar = {JsonScalar::Form::string, token.substr(1, token.size() - 2)};
    return escapes_are_valid(scalar.text);
  }
  if (token[0] == '-' || (token[0] >= '0' && token[0] <= '9')) {
    scalar = {JsonScalar::Form::number, token};
    return is_plain_number(token) || is_json_number(token);
  }
  scalar = {JsonScalar::Form::word, token};
  return token == "true" || token == "false" || token == "null";
}

std::string_view key_text(od::field& field, const char* end) {
  const char* begin = field.key().raw();
  const char* close = begin;
  while (close < end && *close != '"' && *close != '\\') ++close;
  if (close < end && *close == '\\') close = find_quote(begin, end);
  return {begin, static_cast<std::size_t>((close == nullptr ? end : close) - begin)};
}

bool check_value(od::value& value, int depth, const char* end) {
  const std::string_view token = value.raw_json_token();
  const bool nests = !token.empty() && (token[0] == '{' || token[0] == '[');
  JsonScalar scalar;
  if (!nests) return read_scalar(value, scalar);
  if (depth >= kMaxJsonDepth) return false;
  if (token[0] == '[') {
    od::array array;
    return !value.get_array().get(array) && check_array(array, depth + 1, end);
  }
  od::object object;
  return !value.get_object().get(object) && check_object(object, depth + 1, end);
}

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

// Reads the four digits after \u.
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

namespace {

// |value| = digits * 10^exponent, plus a rest that is only compared with a half.
struct Decimal {
  bool negative = false;
  std::string_view whole, fraction;  // digits; not both empty
  int exponent = 0;                  // of ten
};

constexpr int kFarAway = 100'000;  // a larger exponent means zero or overflow

std::string_view take_digits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  const std::string_view digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

bool take(std::string_view& text, char c) {
  if (!text.starts_with(c)) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<int> take_exponent(std::string_view& text) {
  if (!take(text, 'e') && !take(text, 'E')) return 0;
  const bool negative = take(text, '-');
  if (!negative) take(text, '+');
  const std::string_view digits = take_digits(text);
  if (digits.empty()) return std::nullopt;
  int value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (result.ec != std::errc() || value > kFarAway) value = kFarAway;
  return negative ? -value : value;
}

std::optional<Decimal> split(std::string_view text) {
  Decimal number;
  number.negative = take(text, '-');
  number.whole = take_digits(text);
  if (take(text, '.')) number.fraction = take_digits(text);
  const auto exponent = take_exponent(text);
  if (!exponent || !text.empty() || (number.whole.empty() && number.fraction.empty())) return std::nullopt;
  number.exponent = *exponent;
  return number;
}

// The decimal point moved right by `shift`: the integer before it, and the rest compared with one half.
struct Rounded {
  std::uint64_t integer = 0;
  bool overflow = false;
  bool any = false;     // a digit other than zero is after the point
  int half_order = -1;  // -1, 0, 1: less than, equal to, more than a half
};

Rounded shift_point(const Decimal& number, int shift) {
  const auto whole_digits = static_cast<std::int64_t>(number.whole.size());
  const std::int64_t digits = whole_digits + static_cast<std::int64_t>(number.fraction.size());
  const std::int64_t point = whole_digits + shift + number.exponent;  // digits before the moved point
  Rounded result;
  const auto digit = [&](std::int64_t i) {
    return i < whole_digits ? number.whole[static_cast<std::size_t>(i)] - '0'
           : i < digits     ? number.fraction[static_cast<std::size_t>(i - whole_digits)] - '0'
                            : 0;
  };
  bool nonzero = false;
  for (std::int64_t i = 0; i < point && !result.overflow && (i < digits || nonzero); ++i) {
    nonzero |= digit(i) != 0;
    result.overflow = __builtin_mul_overflow(result.integer, 10u, &result.integer) ||
                      __builtin_add_overflow(result.integer, static_cast<unsigned>(digit(i)), &result.integer);
  }
  if (point < 0) {
    for (std::int64_t i = 0; i < digits; ++i) result.any |= digit(i) != 0;
    return result;
  }
  const int first = point < digits ? digit(point) : 0;
  bool rest = false;
  for (std::int64_t i = point + 1; i < digits; ++i) rest |= digit(i) != 0;
  result.any = first != 0 || rest;
  result.half_order = first < 5 ? -1 : first > 5 || rest ? 1 : 0;
  return result;
}

std::optional<std::int64_t> with_sign(bool negative, std::uint64_t magnitude) {
  constexpr std::uint64_t limit = std::numeric_limits<std::int64_t>::max();
  if (magnitude > limit + (negative ? 1 : 0)) return std::nullopt;
  return static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
}

// The form of nearly all time stamps: up to 15 digits and up to 3 decimals.
std::optional<std::int64_t> plain_micros(std::string_view text) {
  const std::string_view whole = take_digits(text);
  if (whole.empty() || whole.size() > 15) return std::nullopt;
  std::int64_t value = 0;
  for (char c : whole) value = value * 10 + (c - '0');
  if (!text.empty() && !take(text, '.')) return std::nullopt;
  if (text.size() > 3) return std::nullopt;
  for (std::size_t i = 0; i < 3; ++i) {
    if (i < text.size() && !is_digit(text[i])) return std::nullopt;
    value = value * 10 + (i < text.size() ? text[i] - '0' : 0);
  }
  return value;
}

}  // namespace

std::optional<std::int64_t> micros_to_ns(std::string_view text) {
  if (const auto plain = plain_micros(text)) return plain;
  const auto number = split(text);
  if (!number) return std::nullopt;
  Rounded rounded = shift_point(*number, 3);
  if (rounded.overflow) return std::nullopt;
  const bool up = rounded.half_order > 0 || (rounded.half_order == 0 && rounded.integer % 2 == 1);
  if (up && __builtin_add_overflow(rounded.integer, 1u, &rounded.integer)) return std::nullopt;
  return with_sign(number->negative, rounded.integer);
}

std::optional<std::int64_t> to_int64(std::string_view text) {
  std::int64_t value = 0;
  const auto plain = std::from_chars(text.data(), text.data() + text.size(), value);
  if (plain.ec == std::errc() && plain.ptr == text.data() + text.size()) return value;
  const auto number = split(text);
  if (!number) return std::nullopt;
  const Rounded rounded = shift_point(*number, 0);
  if (rounded.overflow || rounded.any) return std::nullopt;
  return with_sign(number->negative, rounded.integer);
}

std::optional<std::uint64_t> to_uint64(std::string_view text) {
  std::uint64_t value = 0;
  const auto plain = std::from_chars(text.data(), text.data() + text.size(), value);
  if (plain.ec == std::errc() && plain.ptr == text.data() + text.size()) return value;
  const auto number = split(text);
  if (!number) return std::nullopt;
  const Rounded rounded = shift_point(*number, 0);
  const bool below_zero = number->negative && rounded.integer != 0;
  if (rounded.overflow || rounded.any || below_zero) return std::nullopt;
  return rounded.integer;
}

}  // namespace cli
