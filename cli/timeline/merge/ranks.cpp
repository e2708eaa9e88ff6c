#include "cli/timeline/merge/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/base/error.h"
#include "cli/base/text.h"
#include "cli/formats/inputs/paths.h"
#include "cli/trace/ranks.h"

namespace cli {

namespace {

constexpr std::string_view kSeparators = "-_.";
constexpr std::size_t kTimeDigits = 8;  // "20240506"

bool all_differ(const std::vector<std::string>& texts) {
  return std::set<std::string>(texts.begin(), texts.end()).size() == texts.size();
}

// Returns the file's name, then its directories, innermost first.
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

// Returns the words without common first and last ones.
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

// Removes words that begin with a digit ("17148385", "06T10") and digits at the end of others ("attempt0").
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

// Returns the letters of a word that ends in a number; "" for a number alone.
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

// If `in_file_name`, numbers without a word before them may differ, too.
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

// Ranks given by --rank are taken as true.
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
  return fmt::format(
      "their names look like runs, not phases: \"{0}\" and \"{1}\" (if they are phases, use --rank {2}={3} --rank {2}={4})",
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

// Groups processes of one rank, or of one process of unknown rank; others are alone.
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

std::int64_t begin_of(const Process& process) {
  return process.first_unclamped_ns != 0 ? process.first_unclamped_ns : process.first_ns;
}

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
    if (said.size() < kPhasesSaid)
      said.push_back(notice(files));
    else
      ++more;
  }
  if (more > 0) said.push_back(fmt::format("{} more have several files treated as phases", more));
  return said;
}

namespace {

constexpr std::size_t kDigitsOfTime = 10;  // minimum digits of a number that is a time
constexpr std::int64_t kMostRanks = 1'000'000;
constexpr std::string_view kRank = "rank", kWorker = "worker", kHandlerForm = "_#.#", kHandlerEnding = ".pt.trace.json";
// Words that make a rank another kind: "tp_rank_0" is a rank within a group, "lora_rank16" no rank of a process.
constexpr std::array<std::string_view, 20> kOtherRanks{
    "tp",     "pp",   "dp",       "cp",     "ep",    "sp",   "etp", "edp",  "vpp",     "dcp",
    "tensor", "data", "pipeline", "expert", "local", "lora", "low", "node", "context", "parallel"};

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

std::string in_lower_case(std::string_view text) {
  std::string lower_text(text);
  for (char& c : lower_text) c = lower(c);
  return lower_text;
}

// Splits "a/b/c.json" into "c.json", "b", "a".
std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t slash = path.find_last_of('/');
    parts.push_back(in_lower_case(path.substr(slash + 1)));
    if (slash == path.npos) return parts;
    path = path.substr(0, slash);
  }
}

struct Number {
  std::string before;  // in its part of the path, with numbers replaced by '#'
  std::int64_t value = 0;
  std::size_t digits = 0, end = 0;
};

// Returns all numbers of a part; those beyond 64 bits have the value -1.
std::vector<Number> numbers_in(std::string_view part) {
  std::vector<Number> numbers;
  std::string before;
  for (std::size_t at = 0; at < part.size();) {
    if (!is_digit(part[at])) {
      before += part[at++];
      continue;
    }
    Number number{before, -1, 0, 0};
    const char* const end = part.data() + part.size();
    const auto parsed = std::from_chars(part.data() + at, end, number.value);
    if (parsed.ec != std::errc()) number.value = -1;
    number.digits = static_cast<std::size_t>(parsed.ptr - part.data()) - at;
    at += number.digits;
    number.end = at;
    before += '#';
    numbers.push_back(std::move(number));
  }
  return numbers;
}

// Returns true if the number follows this word: "rank3", "rank[3".
bool is_after(std::string_view before, std::string_view word) {
  if (!before.empty() && std::string_view("-_=.:[(").find(before.back()) != std::string_view::npos)
    before.remove_suffix(1);
  if (!before.ends_with(word)) return false;
  before.remove_suffix(word.size());
  if (before.empty()) return true;
  if (is_letter(before.back())) return false;
  before.remove_suffix(1);
  std::size_t letters = 0;
  while (letters < before.size() && is_letter(before[before.size() - 1 - letters])) ++letters;
  const std::string_view owner = before.substr(before.size() - letters);
  return std::find(kOtherRanks.begin(), kOtherRanks.end(), owner) == kOtherRanks.end();
}

// Returns true for HOST_PID.TIME.pt.trace.json as written by tensorboard_trace_handler, where "worker" is part of the
// host name.
bool has_host_name(std::string_view part) {
  std::string form;
  for (const Number& number : numbers_in(part)) form = number.before + '#';
  return form.ends_with(kHandlerForm) && part.find(kHandlerEnding) != part.npos;
}

// Returns the numbers after `word` in one part of each path; paths without one have no entry.
using Found = std::vector<std::vector<Number>>;
Found numbers_after(std::string_view word, const std::vector<std::vector<std::string>>& parts, std::size_t level) {
  Found found;
  for (const auto& of_path : parts) {
    auto& numbers = found.emplace_back();
    if (level >= of_path.size()) continue;
    if (word == kWorker && has_host_name(of_path[level])) continue;
    numbers = numbers_in(of_path[level]);
    std::erase_if(numbers,
                  [&](const Number& n) { return n.value < 0 || n.value >= kMostRanks || !is_after(n.before, word); });
  }
  return found;
}

// Returns the numbers that differ between the files, if any; otherwise all.
void keep_differing(Found& found) {
  std::map<std::string, std::set<std::int64_t>> values;
  for (const auto& numbers : found) {
    for (const Number& number : numbers) values[number.before].insert(number.value);
  }
  for (auto& numbers : found) {
    const auto is_same = [&](const Number& number) { return values[number.before].size() < 2; };
    if (!std::all_of(numbers.begin(), numbers.end(), is_same)) std::erase_if(numbers, is_same);
  }
}

bool count_from_zero(const std::set<std::int64_t>& values) {
  return values.size() > 1 && *values.begin() == 0 && *values.rbegin() == static_cast<std::int64_t>(values.size()) - 1;
}

bool count_from_zero(const Found& found) {
  std::set<std::int64_t> values;
  for (const auto& numbers : found) {
    for (const Number& number : numbers) values.insert(number.value);
  }
  return count_from_zero(values);
}

// A report of Nsight Systems may contain several processes. They have no single rank.
std::vector<Process*> profiles_without_rank(Catalog& catalog) {
  std::map<std::string_view, std::size_t> in_report;
  for (const Process& process : catalog.processes) in_report[process.source] += process.format == SourceFormat::nsys;
  std::vector<Process*> profiles;
  for (Process& process : catalog.processes) {
    if (process.format != SourceFormat::ring && process.rank < 0 && in_report[process.source] < 2)
      profiles.push_back(&process);
  }
  return profiles;
}

bool ran_at_one_time(const std::vector<Process*>& profiles) {
  std::int64_t begin_ns = INT64_MIN, end_ns = INT64_MAX;
  for (const Process* profile : profiles) {
    begin_ns = std::max(begin_ns, begin_of(*profile));
    end_ns = std::min(end_ns, profile->last_ns);
  }
  return begin_ns < end_ns;
}

// Returns the values of the only number that differs between the paths, in their order; empty if there is not exactly
// one.
std::vector<std::int64_t> differing_numbers(const std::vector<Process*>& profiles) {
  std::map<std::pair<std::size_t, std::string>, std::vector<std::int64_t>> values;
  for (const Process* profile : profiles) {
    const auto parts = parts_of(profile->source);
    for (std::size_t level = 0; level < parts.size(); ++level) {
      for (const Number& n : numbers_in(parts[level])) {
        if (n.digits < kDigitsOfTime) values[{level, n.before}].push_back(n.value);
      }
    }
  }
  std::vector<std::int64_t> found;
  for (auto& [place, of_place] : values) {
    if (std::set<std::int64_t>(of_place.begin(), of_place.end()).size() < 2) continue;
    if (!found.empty() || of_place.size() != profiles.size()) return {};
    found = std::move(of_place);
  }
  return found;
}

}  // namespace

std::vector<std::optional<std::int64_t>> rank_names(const std::vector<std::string>& paths) {
  std::vector<std::vector<std::string>> parts;
  std::size_t levels = 0;
  for (const std::string& path : paths) levels = std::max(levels, parts.emplace_back(parts_of(path)).size());
  std::vector<std::optional<std::int64_t>> ranks(paths.size());
  std::vector<bool> settled(paths.size());
  for (std::size_t level = 0; level < levels; ++level) {
    for (const std::string_view word : {kRank, kWorker}) {
      Found found = numbers_after(word, parts, level);
      if (level > 0 && !count_from_zero(found)) continue;
      const bool all = std::none_of(found.begin(), found.end(), [](const auto& numbers) { return numbers.empty(); });
      if (word == kWorker && !all) continue;
      keep_differing(found);
      for (std::size_t i = 0; i < paths.size(); ++i) {
        if (settled[i] || found[i].empty()) continue;
        settled[i] = true;
        if (found[i].size() == 1) ranks[i] = found[i][0].value;
      }
    }
  }
  return ranks;
}

void give_named_rank(Catalog& catalog, std::size_t first, std::optional<std::int64_t> rank) {
  if (!rank || catalog.processes.size() != first + 1) return;
  Process& process = catalog.processes[first];
  if (process.format == SourceFormat::ring || process.rank >= 0) return;
  process.rank = *rank;
  process.rank_source = RankSource::file_name;
}

namespace {

bool is_by_device(const Process& process) { return process.rank_source == RankSource::device_order; }

// Hosts of one job have different names, as far as they are known, and work at the same time. A copy of a report has
// equal processes and times.
bool may_be_other_host(const Process& a, const Process& b) {
  const bool is_copy = a.source == b.source || (a.pid == b.pid && a.first_ns == b.first_ns);
  return !is_copy && (a.host != b.host || a.host.empty()) && begin_of(a) < b.last_ns && begin_of(b) < a.last_ns;
}

}  // namespace

void continue_device_ranks(Catalog& catalog, std::size_t first) {
  std::int64_t next = 0;
  for (std::size_t i = 0; i < first; ++i) {
    const Process& earlier = catalog.processes[i];
    if (!is_by_device(earlier)) continue;
    for (std::size_t j = first; j < catalog.processes.size(); ++j) {
      const Process& process = catalog.processes[j];
      if (is_by_device(process) && !may_be_other_host(earlier, process)) return;
    }
    next = std::max(next, earlier.rank + 1);
  }
  for (std::size_t j = first; j < catalog.processes.size(); ++j) {
    if (is_by_device(catalog.processes[j])) catalog.processes[j].rank += next;
  }
}

std::string device_ranks_text(const Catalog& catalog) {
  std::vector<std::int64_t> ranks;
  std::set<std::string_view> reports;
  for (const Process& process : catalog.processes) {
    if (!is_by_device(process)) continue;
    ranks.push_back(process.rank);
    reports.insert(process.source);
  }
  if (ranks.empty()) return {};
  if (reports.size() == 1)
    return fmt::format("{} follow the order of the GPUs in {}, because it contains no ranks",
                       rank_list(std::move(ranks)), *reports.begin());
  return fmt::format(
      "{} follow the order of the GPUs in {} reports and the order of the reports, because they contain no ranks",
      rank_list(std::move(ranks)), reports.size());
}

std::string count_ranks(Catalog& catalog) {
  const std::vector<Process*> profiles = profiles_without_rank(catalog);
  if (profiles.empty() || catalog.processes.size() < 2 || !ran_at_one_time(profiles)) return {};
  const std::vector<std::int64_t> numbers = differing_numbers(profiles);
  const std::set<std::int64_t> different(numbers.begin(), numbers.end());
  if (profiles.size() == catalog.processes.size() && different.size() == profiles.size() &&
      count_from_zero(different)) {
    for (std::size_t i = 0; i < profiles.size(); ++i) {
      profiles[i]->rank = numbers[i];
      profiles[i]->rank_source = RankSource::file_name;
    }
    return fmt::format("ranks 0 to {} are the numbers in the file names ({}, ...); use --rank N=FILE to change them",
                       profiles.size() - 1, profiles[0]->source);
  }
  return fmt::format(
      "the ranks of {} are unknown: neither contents nor names contain them ({}{}); set each with --rank N=FILE",
      count_text(profiles.size(), "file"), profiles[0]->source, profiles.size() > 1 ? ", ..." : "");
}

std::vector<std::string> without_rank_directories(const std::vector<std::string>& names) {
  // The name without its rank's directory, and the rank; -1 if none
  std::vector<std::pair<std::string, std::int64_t>> split;
  std::map<std::string, std::set<std::int64_t>> ranks;
  for (const std::string& name : names) {
    const std::size_t slash = name.find_last_of('/');
    const std::string last = in_lower_case(std::string_view(name).substr(slash == name.npos ? 0 : slash + 1));
    const std::vector<Number> numbers = numbers_in(last);
    const bool is_rank = numbers.size() == 1 && is_after(numbers[0].before, kRank) &&
                         last.find_first_not_of("])", numbers[0].end) == last.npos;
    split.emplace_back(is_rank ? slash == name.npos ? "." : name.substr(0, slash) : name,
                       is_rank ? numbers[0].value : -1);
    if (is_rank) ranks[split.back().first].insert(numbers[0].value);
  }
  std::vector<std::string> without;
  for (std::size_t i = 0; i < names.size(); ++i) {
    without.push_back(split[i].second >= 0 && count_from_zero(ranks[split[i].first]) ? split[i].first : names[i]);
  }
  return without;
}

namespace {

[[noreturn]] void fail_twice(const Process& first, const Process& second) {
  if (first.source == second.source) {  // the file and a merged file that contains it, or two of these
    throw Error(Exit::usage,
                fmt::format("duplicate rank {}: two inputs contain {}; omit one (one may already be merged)",
                            second.rank, first.source));
  }
  throw Error(Exit::usage,
              fmt::format("duplicate rank {0}: {1} and {2} are not phases of one run, because {3}; omit one "
                          "(`tracetool diff {4} {5}` compares two runs), or change the rank of one with --rank N=FILE",
                          second.rank, first.source, second.source, phases_fault(first, second),
                          shell_word(first.source), shell_word(second.source)));
}

// Returns the first two for which `holds` is true; nullptr if there are none.
template <typename Holds>
std::pair<const Process*, const Process*> find_pair(const std::vector<const Process*>& all, Holds holds) {
  for (std::size_t i = 1; i < all.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (holds(all[j], all[i])) return {all[j], all[i]};
    }
  }
  return {};
}

}  // namespace

void set_rank(Catalog& catalog, std::size_t first, const std::string& source, std::optional<std::int64_t> rank) {
  if (!rank) return;
  if (const std::size_t count = catalog.processes.size() - first; count != 1) {
    throw Error(Exit::usage,
                fmt::format("--rank {}={}: that file contains {} processes, so it has no single rank; set the ranks "
                            "of the files that it was merged from",
                            *rank, source, count));
  }
  catalog.processes.back().rank = *rank;
  catalog.processes.back().rank_source = RankSource::option;
}

void check_ranks(const Catalog& catalog) {
  std::map<std::int64_t, std::vector<const Process*>> seen;
  for (const Process& process : catalog.processes) {
    if (process.rank < 0) continue;
    std::vector<const Process*>& others = seen[process.rank];
    for (const Process* other : others) {
      if (!are_phases(*other, process)) fail_twice(*other, process);
    }
    others.push_back(&process);
  }
}

void check_given_ranks(const Catalog& catalog) {
  Catalog given;
  for (const Process& process : catalog.processes) {
    if (process.rank_source == RankSource::option) given.processes.push_back(process);
  }
  check_ranks(given);
}

std::string contradiction(const Catalog& catalog) {
  const Process *with_id = nullptr, *with_size = nullptr;
  for (const Process& p : catalog.processes) {
    if (with_id == nullptr && !p.run_id.empty()) with_id = &p;
    if (with_size == nullptr && p.world_size >= 0) with_size = &p;
    if (!p.run_id.empty() && p.run_id != with_id->run_id) {
      return fmt::format(
          "different runs: {} is from run {}, {} from run {}; choose one with --run NAME, or give "
          "its files",
          with_id->source, with_id->run_id, p.source, p.run_id);
    }
    if (p.world_size >= 0 && p.world_size != with_size->world_size) {
      return fmt::format("different runs: {} is from a run of {}, {} from a run of {}; give the files of one run",
                         with_size->source, count_text(with_size->world_size, "rank"), p.source,
                         count_text(p.world_size, "rank"));
    }
  }
  return {};
}

std::string apart_in_time(const Catalog& catalog) {
  struct Span {
    std::int64_t first_ns, last_ns;
    const Process* process;
  };
  std::map<std::int64_t, Span> of_ranks;
  std::vector<Span> spans;
  for (const Process& p : catalog.processes) {
    if (p.first_ns == 0 && p.last_ns == 0) continue;
    const Span span{begin_of(p), p.last_ns, &p};
    if (p.rank < 0) {
      spans.push_back(span);
      continue;
    }
    Span& all = of_ranks.try_emplace(p.rank, span).first->second;
    all.first_ns = std::min(all.first_ns, span.first_ns);
    all.last_ns = std::max(all.last_ns, span.last_ns);
  }
  for (const auto& [rank, span] : of_ranks) spans.push_back(span);
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) { return a.first_ns < b.first_ns; });
  const Span *last = nullptr, *before = nullptr, *after = nullptr;
  std::int64_t gap_ns = 0;
  for (const Span& span : spans) {
    if (last != nullptr && span.first_ns - last->last_ns > gap_ns) {
      gap_ns = span.first_ns - last->last_ns;
      before = last;
      after = &span;
    }
    if (last == nullptr || span.last_ns > last->last_ns) last = &span;
  }
  if (gap_ns == 0) return {};
  return fmt::format(
      "not all files overlap in time: {} ends {} before {} begins; if they are from one run, a clock "
      "is wrong",
      before->process->source, duration_text(gap_ns), after->process->source);
}

std::vector<std::string> repeated_ranks(const Catalog& catalog) {
  std::map<std::int64_t, std::vector<const Process*>> by_rank;
  for (const Process& process : catalog.processes) {
    if (process.rank >= 0) by_rank[process.rank].push_back(&process);
  }
  std::vector<std::int64_t> ranks;
  const Process *a = nullptr, *b = nullptr;
  const auto may_be_one = [](const Process* a, const Process* b) {
    if (are_phases(*a, *b)) return false;
    return a->run_id == b->run_id || a->run_id.empty() || b->run_id.empty();
  };
  for (const auto& [rank, all] : by_rank) {
    const auto [first, second] = find_pair(all, may_be_one);
    if (first == nullptr) continue;
    if (ranks.empty()) {
      a = first;
      b = second;
    }
    ranks.push_back(rank);
  }
  if (ranks.empty()) return {};
  const std::string where = a->source == b->source ? fmt::format("{} and a file that was merged from it", a->source)
                                                   : fmt::format("{} and {}", a->source, b->source);
  return {fmt::format("{}: counted twice, because they come from several files, like {}; give only one of these",
                      rank_list(ranks), where)};
}

std::vector<ProcessId> sort_processes(Catalog& catalog) {
  std::vector<ProcessId> order(catalog.processes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](ProcessId a, ProcessId b) {
    const Process &x = catalog.processes[a], &y = catalog.processes[b];
    const auto place = [](const Process& p) {
      return std::tuple(p.rank < 0, p.rank, p.phase.empty() ? 0 : p.first_ns, std::string_view(p.source));
    };
    return place(x) < place(y);
  });
  std::vector<Process> processes;
  std::vector<ProcessId> now(order.size());
  for (ProcessId old : order) {
    now[old] = static_cast<ProcessId>(processes.size());
    processes.push_back(std::move(catalog.processes[old]));
  }
  catalog.processes = std::move(processes);
  for (Track& track : catalog.tracks) track.process = now[track.process];
  return now;
}

}  // namespace cli
