// Lengths of time as people write them: "5us", "1.5s".
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

namespace cli {

// From 0, since the start of the trace; to_ns does not belong to it.
struct TimeRange {
  std::int64_t from_ns = 0;
  std::int64_t to_ns = std::numeric_limits<std::int64_t>::max();
};

// A decimal number with ns, us, ms, s, min or h behind it; exact to the nanosecond, what is finer is cut. Nothing for
// all else, and for more than 290 years.
std::optional<std::int64_t> parse_duration(std::string_view text);

// --min-dur. Throws Error (usage).
std::int64_t duration_option(std::string_view option, std::string_view text);

// "1.5s-2s", "300ms-" (to the end), "-2s" (from the start); "1-2s": one unit for both. Throws Error (usage).
TimeRange time_range_option(std::string_view option, std::string_view text);

}  // namespace cli
