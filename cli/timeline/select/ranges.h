// Ranges of numbers and of time, as people write them.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

// "0-3,7,10-": numbers and ranges of them, as `--ranks` and `--steps` take them. "10-" has no end, "-3" begins at 0.
class NumberRanges {
 public:
  // `option` is for the message: "--ranks". Throws Error (usage).
  NumberRanges(std::string_view option, std::string_view text);

  bool holds(std::int64_t number) const;
  // The first that was asked for by its number, or in a range with an end, and is not in `there`; of a range without an
  // end its first number where nothing of it is.
  std::optional<std::int64_t> first_missing(const std::set<std::int64_t>& there) const;
  const std::string& text() const { return text_; }  // as given

 private:
  struct Range {
    std::int64_t first, last;
  };
  std::string text_;
  std::vector<Range> ranges_;
};

// Lengths of time as people write them: "5us", "1.5s".

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
