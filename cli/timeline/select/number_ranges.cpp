#include "cli/timeline/select/number_ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "cli/trace/error.h"

namespace cli {
namespace {

// Nothing for what is not a number; `otherwise` for "".
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
      throw Error(Exit::usage, fmt::format("{} {}: \"{}\" is not a range; expected numbers and ranges from 0, joined by "
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

}  // namespace cli
