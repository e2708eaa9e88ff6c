#include "cli/merge/phases.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

namespace cli {
namespace {

constexpr std::int64_t kDayNs = 86'400'000'000'000;
constexpr std::string_view kSeparators = "-_.";

std::string stem(const std::string& path) {
  std::string name = path.substr(path.find_last_of('/') + 1);
  constexpr std::array<std::string_view, 5> endings{".zst", ".gz", ".json", ".trace", ".pt"};
  for (const std::string_view ending : endings) {
    if (std::string_view(name).ends_with(ending)) name.resize(name.size() - ending.size());
  }
  return name;
}

bool given(const Process& process) { return process.rank_source == "--rank"; }

bool apart_in_time(const Process& a, const Process& b) {
  if (a.first_ns > b.first_ns) return apart_in_time(b, a);
  const bool known = a.last_ns != 0 && b.last_ns != 0;
  return known && a.last_ns <= b.first_ns && b.first_ns - a.last_ns <= kDayNs;
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

// Of one rank, or of one process of unknown rank; else each its own.
auto owner(const Process& p) {
  const bool ranked = p.rank >= 0;
  return std::tuple(!ranked, ranked ? p.rank : p.pid, ranked ? std::string() : p.host);
}

bool all_are_phases(const std::vector<Process*>& files) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (!are_phases(*files[i], *files[j])) return false;
    }
  }
  return files.size() > 1;
}

}  // namespace

bool are_phases(const Process& a, const Process& b) {
  const bool files = a.format == SourceFormat::kineto && b.format == SourceFormat::kineto;
  const bool one_host = a.host == b.host || a.host.empty() || b.host.empty();
  const bool one_process = (a.pid >= 0 && a.pid == b.pid) || (given(a) && given(b));
  const bool named_apart = a.phase.empty() || b.phase.empty() ? stem(a.source) != stem(b.source) : a.phase != b.phase;
  return files && a.rank == b.rank && one_host && one_process && named_apart && apart_in_time(a, b);
}

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

void name_phases(Catalog& catalog) {
  std::map<std::tuple<bool, std::int64_t, std::string>, std::vector<Process*>> owners;
  for (Process& process : catalog.processes) {
    if (process.rank >= 0 || process.pid >= 0) owners[owner(process)].push_back(&process);
  }
  for (const auto& [owner, files] : owners) {
    if (!all_are_phases(files)) continue;
    std::vector<std::string> names;
    for (const Process* file : files) names.push_back(file->source);
    std::vector<std::string> labels = differing_parts(names);
    for (std::size_t i = 0; i < files.size(); ++i) {
      if (files[i]->phase.empty()) files[i]->phase = labels[i].empty() ? stem(names[i]) : labels[i];
    }
  }
}

}  // namespace cli
