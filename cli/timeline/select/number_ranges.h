// "0-3,7,10-": numbers and ranges of them, as `--ranks` and `--steps` take them. "10-" has no end, "-3" begins at 0.
#pragma once
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

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

}  // namespace cli
