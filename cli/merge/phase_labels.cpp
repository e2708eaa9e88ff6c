#include "cli/merge/phase_labels.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "cli/model/characters.h"

namespace cli {
namespace {

constexpr std::string_view kSeparators = "-_.";

std::string stem(const std::string& path) {
  std::string name = path.substr(path.find_last_of('/') + 1);
  constexpr std::array<std::string_view, 5> endings{".zst", ".gz", ".json", ".trace", ".pt"};
  for (const std::string_view ending : endings) {
    if (std::string_view(name).ends_with(ending)) name.resize(name.size() - ending.size());
  }
  return name;
}


std::string_view first_word(std::string_view text) { return text.substr(0, text.find_first_of(kSeparators)); }

std::string_view without_number(std::string_view word) {
  while (!word.empty() && word.back() >= '0' && word.back() <= '9') word.remove_suffix(1);
  return word;
}

// Bytes that all begin with, up to the end of a word.
std::size_t common_begin(const std::vector<std::string>& texts) {
  std::size_t size = 0;
  for (std::size_t at = 0; at < texts[0].size(); ++at) {
    const char c = texts[0][at];
    if (!std::all_of(texts.begin(), texts.end(), [&](const auto& t) { return at < t.size() && t[at] == c; })) break;
    if (kSeparators.find(c) != kSeparators.npos) size = at + 1;
  }
  return size;
}

void cut_begin(std::vector<std::string>& texts) {
  const std::size_t size = common_begin(texts);
  for (std::string& text : texts) text.erase(0, size);
}

void reverse(std::vector<std::string>& texts) {
  for (std::string& text : texts) std::reverse(text.begin(), text.end());
}

// "stage1-", "stage2-": counts them, and says no more.
void cut_count(std::vector<std::string>& texts) {
  std::set<std::string> rest;
  const std::string_view word = without_number(first_word(texts[0]));
  for (const std::string& text : texts) {
    const std::string_view first = first_word(text);
    if (first.size() + 1 >= text.size() || without_number(first) != word || first == word) return;
    rest.insert(text.substr(first.size() + 1));
  }
  if (rest.size() != texts.size()) return;
  for (std::string& text : texts) text.erase(0, first_word(text).size() + 1);
}

// "17148385", "06T10", "12Z".
bool is_time(std::string_view word) {
  const auto of_a_time = [](char c) { return is_digit(c) || c == 'T' || c == 'Z'; };
  return !word.empty() && is_digit(word[0]) && std::all_of(word.begin(), word.end(), of_a_time);
}

bool counts(std::string_view word) {
  constexpr std::array<std::string_view, 9> runs{"attempt", "exp", "experiment", "run",  "restart",
                                                 "retry",   "try", "trial",      "job"};
  const bool of_a_run = std::find(runs.begin(), runs.end(), without_number(word)) != runs.end();
  return word.empty() || is_time(word) || of_a_run;
}

std::string without_counts(std::string_view label) {
  std::string kept;
  while (!label.empty()) {
    const std::string_view word = first_word(label);
    if (!counts(word)) kept.append(word) += '-';
    label.remove_prefix(std::min(label.size(), word.size() + 1));
  }
  return kept;
}

bool all_differ(const std::vector<std::string>& texts) {
  return std::set<std::string>(texts.begin(), texts.end()).size() == texts.size();
}

// From the innermost outwards.
std::vector<std::string> folders(std::string_view path) {
  std::vector<std::string> names;
  for (std::size_t slash = path.rfind('/'); slash != path.npos; slash = path.rfind('/')) {
    path = path.substr(0, slash);
    names.emplace_back(path.substr(path.rfind('/') + 1));
  }
  return names;
}

}  // namespace

std::vector<std::string> differing_parts(const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (const std::string& name : names) parts.push_back(stem(name));
  cut_begin(parts);
  reverse(parts);
  cut_begin(parts);
  reverse(parts);
  cut_count(parts);
  return parts;
}

std::vector<std::string> differing_folders(const std::vector<std::string>& names) {
  std::vector<std::vector<std::string>> all;
  std::size_t depth = 0;
  for (const std::string& name : names) depth = std::max(depth, all.emplace_back(folders(name)).size());
  std::vector<std::string> level(names.size());
  for (std::size_t i = 0; i < depth; ++i) {
    for (std::size_t n = 0; n < all.size(); ++n) level[n] = i < all[n].size() ? all[n][i] : "";
    if (std::set<std::string>(level.begin(), level.end()).size() > 1) return level;
  }
  return std::vector<std::string>(names.size());
}

bool name_phases_apart(const std::vector<std::string>& labels) {
  std::vector<std::string> said;
  for (const std::string& label : labels) {
    if (said.emplace_back(without_counts(label)).empty()) return false;
  }
  return all_differ(said);
}

bool only_count(const std::vector<std::string>& labels) {
  return std::all_of(labels.begin(), labels.end(),
                     [](const std::string& label) { return !label.empty() && without_counts(label).empty(); });
}

std::vector<std::string> phase_labels(const std::vector<std::string>& names) {
  std::vector<std::string> parts = differing_parts(names), folders = differing_folders(names);
  if (name_phases_apart(parts)) return parts;
  if (name_phases_apart(folders) || !all_differ(parts)) return folders;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (parts[i].empty()) parts[i] = stem(names[i]);
  }
  return parts;
}

}  // namespace cli
