// Parses values of JSON from their text: strings, numbers and words.
#pragma once
#include <simdjson.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "cli/base/text.h"

namespace cli {

// A string, number or word of JSON as in the text, so that no number is rounded to a double.
struct JsonScalar {
  enum class Form : unsigned char { absent, string, number, word };  // word: true, false, null
  Form form = Form::absent;
  std::string_view text;  // for a string: the text between the quotes, still escaped

  bool is_string() const { return form == Form::string; }
  bool is_number() const { return form == Form::number; }
  bool empty() const { return form == Form::absent || (form == Form::word && text == "null"); }
};

// Reads a complete and valid string, number or word. Returns false for anything else.
bool read_scalar(simdjson::ondemand::value& value, JsonScalar& scalar);

// Returns the key as spelled in the text, which ends at `end`.
std::string_view key_text(simdjson::ondemand::field& field, const char* end);

// Consumes a value of any type and checks it completely, because simdjson does not check skipped values. `depth` is the
// number of brackets around it. find_json_fault() accepts all bytes accepted here.
bool check_value(simdjson::ondemand::value& value, int depth, const char* end);

// Unescaping of JSON strings.

// Returns the text of a JSON string. `raw` is the content between the quotes, with valid escapes (has_valid_escapes).
// Returns `raw` itself if it has no escapes, otherwise a view of `scratch`. A lone surrogate, which UTF-8 cannot
// represent, becomes U+FFFD.
std::string_view unescape_json(std::string_view raw, std::string& scratch);

// Converts decimal text to exact integers without doubles, because 53 bits are not enough for nanoseconds since 1970.

// Converts microseconds ("12", "-0.5", "1.5e3") to nanoseconds. Further decimals are rounded half to even. Returns
// nullopt if it is no decimal number, or outside of 64 bits (about 292 years).
std::optional<std::int64_t> micros_to_ns(std::string_view text);

// Converts an integer, also if spelled "3.0" or "1e3". Returns nullopt if it is none, or outside of the type.
std::optional<std::int64_t> to_int64(std::string_view text);
std::optional<std::uint64_t> to_uint64(std::string_view text);

// Parses the number formats that nearly all numbers of a profile have, in one pass: parsing finds the end.

// The leading digits of a text, within its first eight bytes.
struct PlainDigits {
  std::uint64_t values;  // one in each byte; bytes after the digits are undefined
  unsigned count;
};

inline PlainDigits plain_digits(const char* at) {
  static_assert(std::endian::native == std::endian::little);
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  // A byte that is no digit has a bit of 0xf0 that '0' has not, or gets one when 6 is added. The carry of that affects
  // only bytes after it.
  const std::uint64_t values = word ^ 0x3030303030303030u;
  const std::uint64_t others = (values | (values + 0x0606060606060606u)) & 0xf0f0f0f0f0f0f0f0u;
  return {values, static_cast<unsigned>(std::countr_zero(others)) / 8};
}

inline std::uint64_t number_of(PlainDigits digits) {
  // Shifts out the bytes after the digits and puts zeros before the first digit. Two shifts, because there may be no
  // digit.
  const unsigned half = 32 - 4 * digits.count;
  const std::uint64_t all = digits.values << half << half;
  const std::uint64_t pairs = (all * 10 + (all >> 8)) & 0x00ff00ff00ff00ffu;
  const std::uint64_t fours = (pairs * 100 + (pairs >> 16)) & 0x0000ffff0000ffffu;
  return (fours * 10'000 + (fours >> 32)) & 0xffffffffu;
}

// Appends the digits at `at` to `number`, which wraps around beyond 64 bits, and advances `at` past them. Reads up to 8
// bytes after them.
inline void append_plain_digits(const char*& at, std::uint64_t& number) {
  static constexpr std::uint64_t kPowers[] = {1, 10, 100, 1000, 10'000, 100'000, 1'000'000, 10'000'000, 100'000'000};
  for (PlainDigits digits{0, 8}; digits.count == 8; at += digits.count) {
    digits = plain_digits(at);
    number = number * kPowers[digits.count] + number_of(digits);
  }
}

inline bool has_leading_zero(PlainDigits digits) { return (digits.values & 0xff) == 0 && digits.count > 1; }

inline bool continues_number(char c) { return c == '.' || c == 'e' || c == 'E' || is_digit(c); }

// The next two functions parse the number at `at` and advance `at` past it. They read up to 8 bytes after the number.
// They return false for other numbers or text; `at` and the value are then undefined. Accepted text is a number by
// JSON's grammar.

// Microseconds that are not negative, below 9 * 10^15, with at most three decimals and without exponent.
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

// An integer of 64 bits in its canonical form, without redundant zeros.
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
    const std::uint64_t most =
        static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) + (negative ? 1 : 0);
    if (at - begin > 19 || magnitude > most) return false;
  }
  value = static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
  return !continues_number(*at);
}

// Skips any number by JSON's grammar without converting it.
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
