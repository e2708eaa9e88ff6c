#include "cli/timeline/select/ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>

#include "cli/base/error.h"

namespace cli {

namespace {

// Returns nullopt if the text is no number; `otherwise` for "".
std::optional<std::int64_t> number(std::string_view text, std::int64_t otherwise) {
  if (text.empty()) return otherwise;
  std::int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || value < 0) return {};
  return value;
}

}  // namespace

NumberRanges::NumberRanges(std::string_view option, std::string_view text) : text_(text) {
  for (std::string_view rest = text;;) {
    const std::string_view part = rest.substr(0, rest.find(','));
    const std::size_t dash = part.find('-');
    const auto first = number(part.substr(0, dash), 0);
    const auto last =
        dash == part.npos ? first : number(part.substr(dash + 1), std::numeric_limits<std::int64_t>::max());
    if (part.empty() || part == "-" || !first || !last || *first > *last) {
      throw Error(Exit::usage,
                  fmt::format("{} {}: \"{}\" is not a range; expected numbers and ranges from 0, joined by "
                              "commas, like 0-3,7,10-",
                              option, text, part));
    }
    ranges_.push_back({*first, *last});
    if (part.size() == rest.size()) return;
    rest.remove_prefix(part.size() + 1);
  }
}

std::optional<std::int64_t> NumberRanges::first_missing(const std::set<std::int64_t>& there) const {
  for (const Range& range : ranges_) {
    auto next = there.lower_bound(range.first);
    if (range.last == std::numeric_limits<std::int64_t>::max()) {
      if (next == there.end()) return range.first;
      continue;
    }
    for (std::int64_t number = range.first; number <= range.last; ++number, ++next) {
      if (next == there.end() || *next != number) return number;
    }
  }
  return {};
}

bool NumberRanges::holds(std::int64_t number) const {
  return std::any_of(ranges_.begin(), ranges_.end(),
                     [&](const Range& range) { return range.first <= number && number <= range.last; });
}

namespace {

struct TimeUnit {
  std::string_view name;
  std::int64_t ns;
};

constexpr std::array<TimeUnit, 6> kUnits{{{"ns", 1},
                                          {"us", 1'000},
                                          {"ms", 1'000'000},
                                          {"s", 1'000'000'000},
                                          {"min", 60'000'000'000},
                                          {"h", 3'600'000'000'000}}};

bool is_number(char c) { return (c >= '0' && c <= '9') || c == '.'; }

std::string_view unit_of(std::string_view text) {
  return {std::find_if_not(text.begin(), text.end(), is_number), text.end()};
}

// Returns `digits` * `unit_ns`; each digit of a fraction counts a tenth of the one before.
std::optional<std::int64_t> scale(std::string_view digits, std::int64_t unit_ns) {
  const std::size_t point = std::min(digits.find('.'), digits.size());
  std::int64_t whole = 0, fraction = 0;
  for (const char digit : digits.substr(0, point)) {
    if (digit == '.' || __builtin_mul_overflow(whole, 10, &whole) || __builtin_add_overflow(whole, digit - '0', &whole))
      return {};
  }
  if (__builtin_mul_overflow(whole, unit_ns, &whole)) return {};
  for (const char digit : digits.substr(std::min(point + 1, digits.size()))) {
    if (digit == '.') return {};
    fraction += (digit - '0') * (unit_ns /= 10);
  }
  if (__builtin_add_overflow(whole, fraction, &whole)) return {};
  return whole;
}

}  // namespace

std::optional<std::int64_t> parse_duration(std::string_view text) {
  const std::string_view name = unit_of(text), digits = text.substr(0, text.size() - name.size());
  const auto unit = std::find_if(kUnits.begin(), kUnits.end(), [&](const TimeUnit& u) { return u.name == name; });
  if (unit == kUnits.end() || digits.empty() || digits == ".") return {};
  return scale(digits, unit->ns);
}

std::int64_t duration_option(std::string_view option, std::string_view text) {
  if (const auto ns = parse_duration(text)) return *ns;
  throw Error(Exit::usage,
              fmt::format("{} {}: expected a time with a unit (ns, us, ms, s, min, h), like 5us", option, text));
}

TimeRange time_range_option(std::string_view option, std::string_view text) {
  const std::size_t dash = text.find('-');
  const std::string_view last = dash == text.npos ? "" : text.substr(dash + 1);
  std::string first(text.substr(0, dash));
  if (!first.empty() && unit_of(first).empty()) first += unit_of(last);
  TimeRange range;
  const auto from = first.empty() ? range.from_ns : parse_duration(first);
  const auto to = last.empty() ? range.to_ns : parse_duration(last);
  if (dash == text.npos || text == "-" || !from || !to) {
    throw Error(Exit::usage,
                fmt::format("{} {}: expected A-B since the start of the trace, with units (ns, us, ms, s, min, "
                            "h), like 1.5s-2s, 300ms- or -2s",
                            option, text));
  }
  if (*from >= *to)
    throw Error(Exit::usage,
                fmt::format("{} {}: ends before it begins; give the earlier time first, like 1.5s-2s", option, text));
  return {*from, *to};
}

}  // namespace cli
