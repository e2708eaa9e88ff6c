#include "cli/formats/json/decimal.h"

#include <charconv>
#include <cstddef>
#include <limits>

#include "cli/trace/characters.h"

namespace cli {
namespace {

// |value| = digits * 10^exponent, plus a rest that is only compared with a half.
struct Decimal {
  bool negative = false;
  std::string_view whole, fraction;  // digits; not both empty
  int exponent = 0;                  // of ten
};

constexpr int kFarAway = 100'000;  // an exponent beyond it is zero or overflow


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

// The decimal point moved right by `shift`: the integer before it, and what is behind it compared with one half.
struct Rounded {
  std::uint64_t integer = 0;
  bool overflow = false;
  bool any = false;     // something but zeros is behind the point
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

// What nearly every time stamp looks like: up to 15 digits and up to 3 decimals.
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
