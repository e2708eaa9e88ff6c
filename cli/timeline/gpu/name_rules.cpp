#include "cli/timeline/gpu/name_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <fstream>
#include <iterator>

#include "cli/base/error.h"
#include "cli/base/text.h"
#include "cli/trace/short_name.h"

namespace cli {
namespace {

constexpr std::size_t kMostPatterns = 256;  // per line, with braces expanded
constexpr std::string_view kBlank = " \t\r";
// Spelling of GNU's and NVIDIA's demanglers
constexpr std::string_view kNameless[] = {"(anonymous namespace)::", "<unnamed>::"};

[[noreturn]] void refuse_line(std::string_view source, std::size_t line, const std::string& why) {
  throw Error(Exit::bad_content, fmt::format("{}:{}: {}", source, line, why));
}

std::string lowered(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), lower);
  return result;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(kBlank);
  return from == text.npos ? std::string_view() : text.substr(from, text.find_last_not_of(kBlank) + 1 - from);
}

void remove_all(std::string& text, std::string_view part) {
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at)) text.erase(at, part.size());
}

// The texts between stars have to occur in order; those at the ends of the pattern have to be at the ends of the name.
bool matches(std::string_view pattern, std::string_view name) {
  const std::size_t star = pattern.find('*');
  if (star == pattern.npos) return pattern == name;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  name.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  while (true) {
    const std::size_t next = pattern.find('*');
    if (next == pattern.npos) return name.ends_with(pattern);
    const std::size_t found = name.find(pattern.substr(0, next));
    if (found == name.npos) return false;
    name.remove_prefix(found + next);
    pattern.remove_prefix(next + 1);
  }
}

// The pairs of neighbouring characters in a name, which exclude most patterns before they are compared. Pairs may share
// a bit.
class LetterPairs {
 public:
  explicit LetterPairs(std::string_view name) {
    for (std::size_t i = 1; i < name.size(); ++i) pairs_.set(place(name[i - 1], name[i]));
  }
  // Returns false if the name lacks the pattern's first pair.
  bool may_match(std::string_view pattern) const {
    for (std::size_t i = 1; i < pattern.size(); ++i) {
      if (pattern[i - 1] != '*' && pattern[i] != '*') return pairs_.test(place(pattern[i - 1], pattern[i]));
    }
    return true;
  }

 private:
  static constexpr std::size_t kPlaces = 1024;
  static std::size_t place(char a, char b) {
    return (static_cast<unsigned char>(a) * 32u + static_cast<unsigned char>(b)) % kPlaces;
  }
  std::bitset<kPlaces> pairs_;
};

// Returns every combination of the alternatives in braces; empty if braces do not match or there are too many.
std::vector<std::string> written_out(std::string_view pattern) {
  std::vector<std::string> all{""};
  while (!pattern.empty()) {
    const std::size_t open = std::min(pattern.find_first_of("{}"), pattern.size());
    for (std::string& text : all) text += pattern.substr(0, open);
    pattern.remove_prefix(open);
    if (pattern.empty()) break;
    const std::size_t close = pattern.find_first_of("{}", 1);
    if (pattern[0] != '{' || close == pattern.npos || pattern[close] != '}') return {};
    std::string_view choices = pattern.substr(1, close - 1);
    pattern.remove_prefix(close + 1);
    std::vector<std::string> longer;
    for (bool more = true; more;) {
      const std::size_t comma = choices.find(',');
      for (const std::string& text : all) longer.push_back(text + std::string(choices.substr(0, comma)));
      if (longer.size() > kMostPatterns) return {};
      more = comma != choices.npos;
      if (more) choices.remove_prefix(comma + 1);
    }
    all = std::move(longer);
  }
  return all;
}

bool is_class_name(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return (lower(c) >= 'a' && lower(c) <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

std::string matched_name(std::string_view kernel) {
  std::string name = demangled(kernel);
  if (name.empty()) name = kernel;
  for (const std::string_view part : kNameless) remove_all(name, part);
  if (name.starts_with("void ")) name.erase(0, 5);
  return lowered(name);
}

NameRules::NameRules(std::string_view text, std::string_view source) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line[0] == '#') continue;
    const std::size_t space = std::min(line.find_first_of(kBlank), line.size());
    const std::string_view word = line.substr(0, space), pattern = trimmed(line.substr(space));
    if (!is_class_name(word)) {
      refuse_line(source, number,
                  fmt::format("'{}': expected the name of a class (letters, digits and _), then a pattern", word));
    }
    if (pattern.empty())
      refuse_line(source, number, fmt::format("expected a pattern after '{}', for example: {} *gemm*", word, word));
    Rule rule{std::string(word), written_out(lowered(pattern)), number};
    if (rule.patterns.empty()) {
      refuse_line(source, number,
                  fmt::format("'{}': expected braces as in {{a,b}}, not nested, with at most {} combinations", pattern,
                              kMostPatterns));
    }
    rules_.push_back(std::move(rule));
  }
}

const NameRules::Rule* NameRules::of(std::string_view name) const {
  const LetterPairs pairs(name);
  const auto found = std::find_if(rules_.begin(), rules_.end(), [&](const Rule& rule) {
    return std::any_of(rule.patterns.begin(), rule.patterns.end(),
                       [&](const std::string& pattern) { return pairs.may_match(pattern) && matches(pattern, name); });
  });
  return found == rules_.end() ? nullptr : &*found;
}

bool NameRules::has_class(std::string_view name) const {
  return std::any_of(rules_.begin(), rules_.end(), [&](const Rule& rule) { return rule.class_name == name; });
}

NameRules read_name_rules(const std::string& name) {
  if (name == "kempnerforge") return kempnerforge_rules();
  std::ifstream file(name, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file.is_open() || file.bad())
    throw Error(Exit::cannot_open, fmt::format("{}: cannot be read; expected a file of rules, or kempnerforge", name));
  NameRules rules(text, name);
  if (rules.rules().empty())
    throw Error(Exit::bad_content,
                fmt::format("{}: contains no rules; expected lines with a class and a pattern", name));
  return rules;
}

}  // namespace cli
