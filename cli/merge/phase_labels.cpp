#include "cli/merge/phase_labels.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>

#include "cli/model/characters.h"

namespace cli {
namespace {

constexpr std::string_view kSeparators = "-_.";

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

}  // namespace

bool differ_without_numbers(const std::vector<std::string>& labels) {
  std::vector<std::string> words;
  for (const std::string& label : labels) words.push_back(without_numbers(label));
  return all_differ(words);
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
