#include "cli/timeline/merge/phases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "cli/base/text.h"

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

namespace {

constexpr std::int64_t kDayNs = 86'400'000'000'000;
constexpr std::size_t kPhasesSaid = 3;

bool given(const Process& process) { return process.rank_source == RankSource::option; }

bool has_times(const Process& p) { return p.first_ns != 0 || p.last_ns != 0; }

bool known_apart(const std::string& a, const std::string& b) { return !a.empty() && !b.empty() && a != b; }

bool known_apart(std::int64_t a, std::int64_t b) { return a >= 0 && b >= 0 && a != b; }

std::string fault_of_times(const Process& a, const Process& b) {
  if (!has_times(a) || !has_times(b)) return {};
  if (begin_of(a) > begin_of(b)) return fault_of_times(b, a);
  if (begin_of(b) < a.last_ns) return "their times overlap";
  return begin_of(b) - a.last_ns > kDayNs ? "they are more than a day apart" : "";
}

// What --rank says of two processes is true.
std::string fault_of_process(const Process& a, const Process& b) {
  if (given(a) && given(b)) return {};
  if (known_apart(a.pid, b.pid)) return fmt::format("they belong to different processes, {} and {}", a.pid, b.pid);
  const bool known = (a.pid >= 0 || !has_times(a)) && (b.pid >= 0 || !has_times(b));
  return known ? "" : "it is unknown whether they belong to one process";
}

std::string fault_of_names(const Process& a, const Process& b) {
  if (!a.phase.empty() && !b.phase.empty()) return a.phase != b.phase ? "" : "they have the same phase, " + a.phase;
  const std::vector<std::string> labels = phase_labels({a.source, b.source});
  if (labels[0] == labels[1]) return "they have the same name";
  if ((given(a) && given(b)) || differ_without_numbers(labels) || number_phases(a.source, b.source)) return {};
  return fmt::format("their names look like runs, not phases: \"{0}\" and \"{1}\" (if they are phases, use --rank {2}={3} --rank {2}={4})",
                     labels[0], labels[1], std::max<std::int64_t>(a.rank, 0), a.source, b.source);
}

std::string fault_of_run(const Process& a, const Process& b) {
  if (known_apart(a.host, b.host)) return fmt::format("they are from different hosts, {} and {}", a.host, b.host);
  if (known_apart(a.world_size, b.world_size)) {
    return fmt::format("their runs have {} and {} ranks", a.world_size, b.world_size);
  }
  if (!known_apart(a.device_name, b.device_name)) return {};
  return fmt::format("their GPUs differ, {} and {}", a.device_name, b.device_name);
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

void label(const std::vector<Process*>& files) {
  std::vector<std::string> names;
  for (const Process* file : files) names.push_back(file->source);
  const std::vector<std::string> labels = phase_labels(names);
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i]->phase.empty()) files[i]->phase = labels[i];
  }
}

std::string notice(const std::vector<Process*>& files) {
  const Process& first = *files[0];
  std::string text = first.rank >= 0 ? fmt::format("rank {}", first.rank) : fmt::format("process {}", first.pid);
  text += fmt::format(": treating {} files as phases: ", files.size());
  for (const Process* file : files) {
    text += fmt::format("{}{} ({})", file == &first ? "" : ", ", file->source, file->phase);
  }
  return text;
}

}  // namespace

std::string phases_fault(const Process& a, const Process& b) {
  if (a.format != SourceFormat::kineto || b.format != SourceFormat::kineto) {
    return "only torch.profiler files can be phases";
  }
  if (a.rank != b.rank) return "they have different ranks";
  for (const auto rule : {fault_of_run, fault_of_process, fault_of_times, fault_of_names}) {
    if (std::string fault = rule(a, b); !fault.empty()) return fault;
  }
  return {};
}

std::int64_t begin_of(const Process& process) { return process.first_unclamped_ns != 0 ? process.first_unclamped_ns : process.first_ns; }

bool are_phases(const Process& a, const Process& b) { return phases_fault(a, b).empty(); }

std::vector<std::string> name_phases(Catalog& catalog) {
  std::map<std::tuple<bool, std::int64_t, std::string>, std::vector<Process*>> owners;
  for (Process& process : catalog.processes) {
    if (process.rank >= 0 || process.pid >= 0) owners[owner(process)].push_back(&process);
  }
  std::vector<std::string> said;
  std::size_t more = 0;
  for (auto& [owner, files] : owners) {
    if (!all_are_phases(files)) continue;
    label(files);
    if (said.size() < kPhasesSaid) said.push_back(notice(files));
    else ++more;
  }
  if (more > 0) said.push_back(fmt::format("{} more have several files treated as phases", more));
  return said;
}

}  // namespace cli
