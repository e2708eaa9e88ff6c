// Parses ranges of numbers and of time.
#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

// Numbers and ranges as accepted by `--ranks` and `--steps`: "0-3,7,10-". "10-" has no end, "-3" begins at 0.
class NumberRanges {
 public:
  // `option` is the name for error messages: "--ranks". Throws Error (usage).
  NumberRanges(std::string_view option, std::string_view text);

  bool holds(std::int64_t number) const;
  // Returns the first requested number that is not in `there`: given by itself, in a range with an end, or, for a range
  // without an end, its first number if `there` has no number of the range.
  std::optional<std::int64_t> first_missing(const std::set<std::int64_t>& there) const;
  const std::string& text() const { return text_; }  // as given

 private:
  struct Range {
    std::int64_t first, last;
  };
  std::string text_;
  std::vector<Range> ranges_;
};

// Durations and time ranges: "5us", "1.5s".

// Relative to the start of the trace. to_ns is exclusive.
struct TimeRange {
  std::int64_t from_ns = 0;
  std::int64_t to_ns = std::numeric_limits<std::int64_t>::max();
};

// Parses a decimal number followed by ns, us, ms, s, min or h. Fractions of a nanosecond are cut. Returns nullopt for
// any other text and for more than 290 years.
std::optional<std::int64_t> parse_duration(std::string_view text);

// Parses --min-dur. Throws Error (usage).
std::int64_t duration_option(std::string_view option, std::string_view text);

// Parses "1.5s-2s", "300ms-" (to the end) or "-2s" (from the start); in "1-2s" the unit is for both. Throws Error
// (usage).
TimeRange time_range_option(std::string_view option, std::string_view text);

}  // namespace cli
