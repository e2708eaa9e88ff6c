// Numbers as nearly all of a profile are written, read in one pass: their end is found by reading them.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#include "cli/trace/characters.h"

namespace cli {

// The digits that a text begins with, of its first eight bytes.
struct PlainDigits {
  std::uint64_t values;  // one in each byte; what is behind the digits is no matter
  unsigned count;
};

inline PlainDigits plain_digits(const char* at) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  // Each byte but for digits has a bit of 0xf0 that '0' has not, or gets one when 6 is added to it. What that carries into
  // the next byte is behind the digits.
  const std::uint64_t values = word ^ 0x3030303030303030u;
  const std::uint64_t others = (values | (values + 0x0606060606060606u)) & 0xf0f0f0f0f0f0f0f0u;
  return {values, static_cast<unsigned>(std::countr_zero(others)) / 8};
}

inline std::uint64_t number_of(PlainDigits digits) {
  // What is behind the digits is pushed out, and zeros come before the first; in two steps, as there may be none.
  const unsigned half = 32 - 4 * digits.count;
  const std::uint64_t all = digits.values << half << half;
  const std::uint64_t pairs = (all * 10 + (all >> 8)) & 0x00ff00ff00ff00ffu;
  const std::uint64_t fours = (pairs * 100 + (pairs >> 16)) & 0x0000ffff0000ffffu;
  return (fours * 10'000 + (fours >> 32)) & 0xffffffffu;
}

// Moves `at` behind the digits there and appends them to `number`, which wraps around beyond 64 bits. Reads up to 8 bytes
// behind them.
inline void append_plain_digits(const char*& at, std::uint64_t& number) {
  static constexpr std::uint64_t kPowers[] = {1, 10, 100, 1000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000};
  for (PlainDigits digits{0, 8}; digits.count == 8; at += digits.count) {
    digits = plain_digits(at);
    number = number * kPowers[digits.count] + number_of(digits);
  }
}

inline bool has_leading_zero(PlainDigits digits) { return (digits.values & 0xff) == 0 && digits.count > 1; }

inline bool continues_number(char c) { return c == '.' || c == 'e' || c == 'E' || is_digit(c); }

// The next two read the number at `at` and move `at` behind it; up to 8 bytes behind the number are read. False where it is
// another number or none; `at` and the value are then undefined. What they take is a number by JSON's grammar.

// Microseconds that are not negative, are below 9 * 10^15, and have at most three decimals and no exponent.
inline bool take_plain_time(const char*& at, std::int64_t& ns) {
  const char* const begin = at;
  const PlainDigits first = plain_digits(at);
  if (first.count == 0 || has_leading_zero(first)) return false;
  std::uint64_t micros = number_of(first);
  at += first.count;
  if (first.count == 8) {
    append_plain_digits(at, micros);
    if (at - begin > 16 || micros >= 9'000'000'000'000'000u) return false;
  }
  std::uint64_t decimals = 0;
  if (*at == '.') {
    const PlainDigits digits = plain_digits(at + 1);
    if (digits.count == 0 || digits.count > 3) return false;
    const std::uint64_t three = digits.values & 0xffffffu >> (24 - 8 * digits.count);
    decimals = (three & 0xff) * 100 + (three >> 8 & 0xff) * 10 + (three >> 16);
    at += 1 + digits.count;
  }
  ns = static_cast<std::int64_t>(micros * 1000 + decimals);
  return !continues_number(*at);
}

// An integer of 64 bits without needless zeros, that would be written the same way again.
inline bool take_plain_integer(const char*& at, std::int64_t& value) {
  const bool negative = *at == '-';
  const char* const begin = at += negative;
  const PlainDigits first = plain_digits(at);
  std::uint64_t magnitude = number_of(first);
  if (first.count == 0 || has_leading_zero(first) || (negative && magnitude == 0)) return false;
  at += first.count;
  if (first.count == 8) {
    append_plain_digits(at, magnitude);
    // 19 digits do not wrap around.
    const std::uint64_t most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) + (negative ? 1 : 0);
    if (at - begin > 19 || magnitude > most) return false;
  }
  value = static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
  return !continues_number(*at);
}

// Any number by JSON's grammar; its value is not looked at.
inline bool pass_json_number(const char*& at) {
  const auto pass_digits = [&] {
    const char* const begin = at;
    while (is_digit(*at)) ++at;
    return at != begin;
  };
  at += *at == '-';
  if (*at == '0') {
    ++at;
  } else if (!pass_digits()) {
    return false;
  }
  if (*at == '.') {
    ++at;
    if (!pass_digits()) return false;
  }
  if (*at != 'e' && *at != 'E') return !is_digit(*at);
  ++at;
  at += *at == '-' || *at == '+';
  return pass_digits();
}

}  // namespace cli
