#include "cli/timeline/select/step_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "cli/base/text.h"
#include "cli/trace/launch_calls.h"
#include "cli/trace/ranks.h"

namespace cli {

namespace {

struct Pattern {
  std::size_t family;
  std::string_view before, word;  // if `before` is "", the name begins with the word
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

// Removes `word` from the front, ignoring case.
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

// Accepts "12" or "12/2315".
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

namespace {

constexpr std::size_t kMostLines = 8;

std::string match_text(const KernelPeriod& period) {
  return fmt::format("{:.1f} % of the kernels repeat after {}{}",
                     100.0 * static_cast<double>(period.matched) / static_cast<double>(period.compared),
                     count_text(period.kernels, "kernel"), period.by_names ? " (by name)" : "");
}

std::string note_of(const ProcessSteps& found, bool also_named) {
  if (found.by_period()) {
    return fmt::format("steps found by the period of kernels, which begins at the largest gap between launches: {}{}",
                       match_text(found.period), found.alike ? "" : "; step numbers are of this rank only");
  }
  if (found.found_by == kOptimizerSteps) {
    return fmt::format("steps found by PyTorch's optimizers; each ends with its last {}{}", kOptimizerSteps,
                       found.alike ? "" : "; step numbers are of this rank only");
  }
  if (!found.steps.empty()) return also_named ? fmt::format("steps found by ranges: {}", found.found_by) : "";
  const std::string named =
      "no training steps were found: no range is named ProfilerStep#N, step N, iteration N or the like";
  if (found.period.compared == 0) return named;
  if (found.repeats > 0) {
    return fmt::format("{}, and the kernels that repeat ({} of {}) are within one iteration: {} contains them", named,
                       count_text(static_cast<std::uint64_t>(found.repeats), "repeat"),
                       count_text(found.period.kernels, "kernel"), found.repeats_within);
  }
  if (found.repeated > 0 && found.launched > 0) {
    return fmt::format("{}, and only {:.1f} % of the kernels repeat, as those of layers do; 80 % are needed: {}", named,
                       100.0 * static_cast<double>(found.repeated) / static_cast<double>(found.launched),
                       match_text(found.period));
  }
  if (found.period.is_accepted())
    return fmt::format("{}, and the trace contains no whole period of kernels: {}", named, match_text(found.period));
  return fmt::format("{}, and the kernels have no period: at best {}; 80 % are needed", named,
                     match_text(found.period));
}

std::string whose(const std::vector<ProcessId>& ids, const Catalog& catalog) {
  std::vector<std::int64_t> ranks;
  for (const ProcessId id : ids) ranks.push_back(catalog.processes[id].rank);
  if (*std::min_element(ranks.begin(), ranks.end()) < 0)
    return ids.size() == 1 ? catalog.processes[ids[0]].source : count_text(ids.size(), "process", "processes");
  return rank_list(ranks);
}

// For processes with steps.
std::string unlaunched_note(const std::vector<ProcessSteps>& found, const std::vector<bool>& chosen) {
  LaunchShare sum;
  for (ProcessId id = 0; id < found.size(); ++id) {
    if (!chosen[id] || found[id].steps.empty()) continue;
    sum.count += found[id].launches.count;
    sum.sum_ns += found[id].launches.sum_ns;
    sum.unlaunched_count += found[id].launches.unlaunched_count;
    sum.unlaunched_ns += found[id].launches.unlaunched_ns;
  }
  if (sum.unlaunched_count == 0) return {};
  const double percent =
      sum.sum_ns > 0 ? 100.0 * static_cast<double>(sum.unlaunched_ns) / static_cast<double>(sum.sum_ns) : 0.0;
  return fmt::format(
      "{} of {} kernels, copies and memsets ({:.1f} % of their time) have no launch in the trace and belong to no step",
      sum.unlaunched_count, sum.count, percent);
}

std::string no_calls_note(const std::vector<ProcessSteps>& found, const Catalog& catalog,
                          const std::vector<bool>& chosen) {
  std::vector<ProcessId> without;
  for (ProcessId id = 0; id < found.size(); ++id) {
    if (chosen[id] && !found[id].steps.empty() && found[id].launches.count > 0 && !records_calls(catalog.processes[id]))
      without.push_back(id);
  }
  if (without.empty()) return {};
  return whose(without, catalog) +
         ": the trace has no CUDA calls, so GPU work counts in the step whose host range it begins in";
}

}  // namespace

std::vector<std::string> step_notes(const std::vector<ProcessSteps>& found, const Catalog& catalog,
                                    const std::vector<bool>& chosen, bool also_named) {
  std::vector<std::pair<std::string, std::vector<ProcessId>>> notes;
  for (ProcessId id = 0; id < found.size(); ++id) {
    const std::string note = chosen[id] ? note_of(found[id], also_named) : "";
    if (note.empty()) continue;
    auto same = std::find_if(notes.begin(), notes.end(), [&](const auto& each) { return each.first == note; });
    if (same == notes.end()) same = notes.insert(notes.end(), {note, {}});
    same->second.push_back(id);
  }
  const auto all = static_cast<std::size_t>(std::count(chosen.begin(), chosen.end(), true));
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::min(notes.size(), kMostLines); ++i) {
    const bool is_of_all = notes[i].second.size() == all;
    lines.push_back(is_of_all ? notes[i].first : whose(notes[i].second, catalog) + ": " + notes[i].first);
  }
  if (notes.size() > kMostLines)
    lines.push_back(
        fmt::format("and {} like these", count_text(notes.size() - kMostLines, "group of ranks", "groups of ranks")));
  for (std::string note : {unlaunched_note(found, chosen), no_calls_note(found, catalog, chosen)}) {
    if (!note.empty()) lines.push_back(std::move(note));
  }
  return lines;
}

StepMark step_mark(std::string_view name) {
  constexpr std::array<std::string_view, 5> kBegins = {"enumerate(DataLoader)#", "DistributedDataParallel.forward",
                                                       "DataParallel.forward", "FullyShardedDataParallel.forward",
                                                       "FSDP::root_pre_forward"};
  if (name.starts_with("Optimizer.step#")) return StepMark::optimizer;
  const bool begins =
      std::any_of(kBegins.begin(), kBegins.end(), [&](std::string_view each) { return name.starts_with(each); });
  return begins ? StepMark::begin : StepMark::none;
}

}  // namespace cli
