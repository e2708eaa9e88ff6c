#include "cli/timeline/select/step_name.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "cli/trace/characters.h"

namespace cli {
namespace {

struct Pattern {
  std::size_t family;
  std::string_view before, word;  // `before` may be "": then the name begins with the word
};

constexpr std::array<Pattern, 16> kPatterns{{
    {0, "", "profilerstep"},
    {1, "train", "step"},
    {1, "training", "step"},
    {2, "", "step"},
    {2, "global", "step"},
    {3, "", "iteration"},
    {3, "", "iter"},
    {3, "train", "iteration"},
    {3, "train", "iter"},
    {3, "training", "iteration"},
    {3, "training", "iter"},
    {3, "global", "iteration"},
    {4, "", "batch"},
    {4, "train", "batch"},
    {4, "training", "batch"},
    {4, "global", "batch"},
}};


// Takes `word` from the front, whatever its case.
bool take(std::string_view& text, std::string_view word) {
  if (text.size() < word.size()) return false;
  if (!std::equal(word.begin(), word.end(), text.begin(), [](char a, char b) { return a == lower(b); })) return false;
  text.remove_prefix(word.size());
  return true;
}

void skip_separators(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" _-.:/#="), text.size()));
}

std::size_t digits(std::string_view text) {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_digit) - text.begin());
}

// "12" or "12/2315".
std::optional<std::int64_t> whole_number(std::string_view text) {
  const std::size_t size = digits(text);
  if (size == 0 || size > 18) return {};
  const std::string_view rest = text.substr(size);
  if (!rest.empty() && (rest[0] != '/' || rest.size() == 1 || digits(rest.substr(1)) != rest.size() - 1)) return {};
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + size, number);
  return number;
}

std::optional<StepName> match(const Pattern& pattern, std::string_view name) {
  if (!take(name, pattern.before)) return {};
  if (!pattern.before.empty()) skip_separators(name);
  if (!take(name, pattern.word)) return {};
  skip_separators(name);
  const auto number = whole_number(name);
  if (!number) return {};
  return StepName{pattern.family, *number};
}

}  // namespace

std::optional<StepName> step_name(std::string_view name) {
  if (name.empty() || !is_digit(name.back())) return {};
  for (const Pattern& pattern : kPatterns) {
    if (const auto found = match(pattern, name)) return found;
  }
  return {};
}

}  // namespace cli
