// Numbers as nearly all of a profile are written, read in one pass: their end is found by reading them.
#pragma once
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#include "cli/model/characters.h"

namespace cli {

// Moves `at` behind the digits there and appends them to `value`, which wraps around beyond 64 bits. Reads up to 7 bytes
// behind the digits.
inline void take_plain_digits(const char*& at, std::uint64_t& value) {
  static_assert(std::endian::native == std::endian::little);
  for (;;) {
    std::uint64_t word;
    std::memcpy(&word, at, sizeof word);
    // Each byte but for digits has a bit of 0xf0 that '0' has not, or gets one when 6 is added to it.
    const std::uint64_t digits = word ^ 0x3030303030303030u;
    if (((digits | (digits + 0x0606060606060606u)) & 0xf0f0f0f0f0f0f0f0u) != 0) break;
    std::uint64_t pairs = digits * 10 + (digits >> 8);
    pairs &= 0x00ff00ff00ff00ffu;
    const std::uint64_t fours = (pairs * 100 + (pairs >> 16)) & 0x0000ffff0000ffffu;
    value = value * 100'000'000 + ((fours * 10'000 + (fours >> 32)) & 0xffffffffu);
    at += 8;
  }
  for (; is_digit(*at); ++at) value = value * 10 + static_cast<std::uint64_t>(*at - '0');
}

inline bool continues_number(char c) { return c == '.' || c == 'e' || c == 'E' || is_digit(c); }

// The next two read the number at `at` and move `at` behind it; up to 8 bytes behind the number are read. False where it is
// another number or none; `at` and the value are then undefined. What they take is a number by JSON's grammar.

// Microseconds that are not negative, are below 9 * 10^15, and have at most three decimals and no exponent.
inline bool take_plain_time(const char*& at, std::int64_t& ns) {
  const char* const begin = at;
  std::uint64_t micros = 0;
  take_plain_digits(at, micros);
  const auto digits = at - begin;
  if (digits == 0 || digits > 16 || (*begin == '0' && digits > 1) || micros >= 9'000'000'000'000'000u) return false;
  std::uint64_t decimals = 0;
  if (*at == '.') {
    const char* const point = at++;
    for (; is_digit(*at) && at - point <= 3; ++at) decimals = decimals * 10 + static_cast<std::uint64_t>(*at - '0');
    const auto count = at - point - 1;
    if (count == 0) return false;
    decimals *= count == 3 ? 1 : count == 2 ? 10 : 100;
  }
  ns = static_cast<std::int64_t>(micros * 1000 + decimals);
  return !continues_number(*at);
}

// An integer of 64 bits without needless zeros, that would be written the same way again.
inline bool take_plain_integer(const char*& at, std::int64_t& value) {
  const bool negative = *at == '-';
  const char* const begin = at += negative;
  std::uint64_t magnitude = 0;
  take_plain_digits(at, magnitude);
  const auto digits = at - begin;
  // 19 digits do not wrap around.
  const std::uint64_t most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) + (negative ? 1 : 0);
  if (digits == 0 || digits > 19 || magnitude > most || (*begin == '0' && (digits > 1 || negative))) return false;
  value = static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
  return !continues_number(*at);
}

}  // namespace cli
