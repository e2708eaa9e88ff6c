#include "cli/timeline/merge/phase_labels.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>

#include "cli/trace/characters.h"

namespace cli {
namespace {

constexpr std::string_view kSeparators = "-_.";
constexpr std::size_t kTimeDigits = 8;  // "20240506"

bool all_differ(const std::vector<std::string>& texts) {
  return std::set<std::string>(texts.begin(), texts.end()).size() == texts.size();
}

// The file's name, then its directories from the innermost outwards.
std::vector<std::string> names_in(const std::filesystem::path& path) {
  std::string file = path.filename().string();
  for (const std::string_view ending : {".zst", ".gz", ".json", ".trace", ".pt"}) {
    if (file.ends_with(ending)) file.resize(file.size() - ending.size());
  }
  std::vector<std::string> names{file};
  for (auto above = path.parent_path(); above.has_filename(); above = above.parent_path())
    names.push_back(above.filename().string());
  return names;
}

// Without the words that all begin with, and those that all end with.
std::vector<std::string> differing_words(std::vector<std::string> texts) {
  for (int side = 0; side < 2; ++side) {
    std::size_t same = 0;
    for (std::size_t at = 0; at < texts[0].size(); ++at) {
      const char c = texts[0][at];
      if (!std::all_of(texts.begin(), texts.end(), [&](const auto& t) { return at < t.size() && t[at] == c; })) break;
      if (kSeparators.find(c) != kSeparators.npos) same = at + 1;
    }
    for (std::string& text : texts) {
      text.erase(0, same);
      std::reverse(text.begin(), text.end());
    }
  }
  return texts;
}

// Without words that begin with a digit ("17148385", "06T10"), and without the digits that end others ("attempt0").
std::string without_numbers(std::string_view text) {
  std::string kept;
  while (!text.empty()) {
    std::string_view word = text.substr(0, text.find_first_of(kSeparators));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    while (!word.empty() && is_digit(word.back())) word.remove_suffix(1);
    if (!word.empty() && !is_digit(word[0])) kept.append(word) += '-';
  }
  return kept;
}

std::vector<std::string> words_in(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    words.emplace_back(text.substr(0, text.find_first_of(kSeparators)));
    text.remove_prefix(std::min(text.size(), words.back().size() + 1));
  }
  return words;
}

// The letters of a word that ends in a number; "" for a number alone.
std::string counted(std::string word) {
  if (word.empty() || is_digit(word[0])) return {};
  while (is_digit(word.back())) word.pop_back();
  for (char& c : word) c = lower(c);
  return word;
}

bool counts_steps(std::string_view word) {
  constexpr std::string_view kSteps[] = {"step", "iter", "iteration", "it", "cycle", "epoch", "batch", "profilerstep"};
  return std::find(std::begin(kSteps), std::end(kSteps), word) != std::end(kSteps);
}

// `in_file_name`: then numbers that no word names may differ, too.
bool differ_as_phases(const std::vector<std::string>& a, const std::vector<std::string>& b, bool in_file_name) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i]) continue;
    if (counted(a[i]) != counted(b[i]) || !is_digit(a[i].back()) || !is_digit(b[i].back())) return false;
    const bool alone = counted(a[i]).empty();
    const std::string before = i == 0 ? "" : a[i - 1];
    if (counts_steps(alone ? counted(before) : counted(a[i]))) continue;
    const bool named = !before.empty() && !is_digit(before.back());
    const bool is_time = a[i].size() >= kTimeDigits && b[i].size() >= kTimeDigits;
    if (!alone || !in_file_name || (named && !is_time)) return false;
  }
  return true;
}

}  // namespace

bool differ_without_numbers(const std::vector<std::string>& labels) {
  std::vector<std::string> words;
  for (const std::string& label : labels) words.push_back(without_numbers(label));
  return all_differ(words);
}

bool number_phases(const std::string& a, const std::string& b) {
  const auto names_a = names_in(std::filesystem::path(a)), names_b = names_in(std::filesystem::path(b));
  if (names_a.size() != names_b.size() || names_a == names_b) return false;
  for (std::size_t level = 0; level < names_a.size(); ++level) {
    if (!differ_as_phases(words_in(names_a[level]), words_in(names_b[level]), level == 0)) return false;
  }
  return true;
}

std::vector<std::string> phase_labels(const std::vector<std::string>& paths) {
  std::vector<std::vector<std::string>> all;
  std::size_t depth = 0;
  for (const std::string& path : paths) depth = std::max(depth, all.emplace_back(names_in(path)).size());
  std::vector<std::string> found(paths.size());
  for (std::size_t i = 0; i < depth; ++i) {
    std::vector<std::string> names;
    for (const auto& of_path : all) names.push_back(i < of_path.size() ? of_path[i] : "");
    std::vector<std::string> words = differing_words(std::move(names));
    if (differ_without_numbers(words)) return words;
    if (!all_differ(found) && all_differ(words)) found = std::move(words);
  }
  return found;
}

}  // namespace cli
