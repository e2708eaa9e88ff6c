// Decimal text to exact integers, never by way of a double: 53 bits do not hold nanoseconds since 1970.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace cli {

// Microseconds ("12", "-0.5", "1.5e3") to nanoseconds. Further decimals round half to even. nullopt: not a decimal
// number, or outside the 64 bits (about 292 years).
std::optional<std::int64_t> micros_to_ns(std::string_view text);

// An integer, also spelled "3.0" or "1e3". nullopt: not one, or outside the type.
std::optional<std::int64_t> to_int64(std::string_view text);
std::optional<std::uint64_t> to_uint64(std::string_view text);

}  // namespace cli
