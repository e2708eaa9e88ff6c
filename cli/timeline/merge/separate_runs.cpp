#include "cli/timeline/merge/separate_runs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "cli/base/shell_word.h"
#include "cli/base/units.h"
#include "cli/timeline/merge/phases.h"

namespace cli {
namespace {

constexpr std::int64_t kClockError_ns = 300'000'000'000, kRanksApart_ns = 3'600'000'000'000, kPhasesApart_ns = 86'400'000'000'000;
constexpr std::int64_t kYear2000_ns = 946'684'800'000'000'000;

class RunGroups {
 public:
  explicit RunGroups(const Catalog& catalog) : all_(catalog.processes), group_(all_.size()) {
    std::iota(group_.begin(), group_.end(), 0);
    const auto has_times = [](const Process& p) { return p.first_ns != 0 || p.last_ns != 0; };
    const bool any_set = std::any_of(all_.begin(), all_.end(), [&](const Process& p) { return has_times(p) && begin_of(p) >= kYear2000_ns; });
    for (ProcessId id = 0; id < all_.size(); ++id) {
      if (has_times(all_[id]) && (!any_set || begin_of(all_[id]) >= kYear2000_ns)) sorted_.push_back(id);
    }
    std::stable_sort(sorted_.begin(), sorted_.end(), [&](ProcessId a, ProcessId b) { return begin_of(all_[a]) < begin_of(all_[b]); });
  }

  // Joins those that have one key and at most this gap between them. `key_of` returns an optional-like: false for none.
  template <typename KeyOf>
  void join_near(std::int64_t most_ns, KeyOf&& key_of) {
    using Key = typename std::decay_t<decltype(key_of(all_[0]))>::value_type;
    std::map<Key, ProcessId> last;  // that ends last so far
    for (const ProcessId id : sorted_) {
      const auto key = key_of(all_[id]);
      if (!key) continue;
      const auto [known, is_first] = last.try_emplace(*key, id);
      if (is_first) continue;
      const std::int64_t end_ns = all_[known->second].last_ns;
      if (begin_of(all_[id]) <= end_ns || begin_of(all_[id]) - end_ns <= most_ns) group_[root(id)] = root(known->second);
      if (all_[id].last_ns > end_ns) known->second = id;
    }
  }

  std::vector<std::vector<ProcessId>> take() {
    std::vector<std::vector<ProcessId>> runs;
    std::map<ProcessId, std::size_t> numbers;  // by root
    for (const ProcessId id : sorted_) {
      const auto [known, is_new] = numbers.try_emplace(root(id), runs.size());
      if (is_new) runs.emplace_back();
      runs[known->second].push_back(id);
    }
    return runs;
  }

 private:
  ProcessId root(ProcessId id) {
    while (group_[id] != id) id = group_[id] = group_[group_[id]];
    return id;
  }

  const std::vector<Process>& all_;
  std::vector<ProcessId> group_;   // by ProcessId: another of its run, up to one that is its own
  std::vector<ProcessId> sorted_;  // by begin
};

using Owner = std::tuple<std::int64_t, std::int64_t, std::string_view>;

// A rank, or a process of unknown rank.
std::optional<Owner> owner_of(const Process& p) {
  if (p.rank >= 0) return Owner(p.rank, -1, "");
  if (p.pid < 0) return std::nullopt;
  return Owner(-1, p.pid, p.host);
}

}  // namespace

std::vector<std::vector<ProcessId>> separate_runs(const Catalog& catalog) {
  RunGroups groups(catalog);
  groups.join_near(kClockError_ns, [](const Process&) { return std::optional(0); });
  groups.join_near(kRanksApart_ns, [](const Process& p) { return p.rank >= 0 ? std::optional(0) : std::nullopt; });
  groups.join_near(kRanksApart_ns, owner_of);
  groups.join_near(kPhasesApart_ns, [](const Process& p) { return p.phase.empty() ? std::nullopt : owner_of(p); });
  groups.join_near(INT64_MAX, [](const Process& p) { return p.run_id.empty() ? std::nullopt : std::optional(std::string_view(p.run_id)); });
  return groups.take();
}

std::string separate_runs_text(const Catalog& catalog) {
  const auto runs = separate_runs(catalog);
  if (runs.size() < 2) return {};
  const auto name = [&](const std::vector<ProcessId>& run) {
    const std::string more = run.size() > 1 ? fmt::format(" and {} more", run.size() - 1) : "";
    return fmt::format("{}{}, from {}", catalog.processes[run[0]].source, more, time_text(begin_of(catalog.processes[run[0]])));
  };
  const auto path = [&](const std::vector<ProcessId>& run, const char* otherwise) {
    return run.size() > 1 ? std::string(otherwise) : shell_word(catalog.processes[run[0]].source);
  };
  const auto last = std::max_element(runs[0].begin(), runs[0].end(), [&](ProcessId a, ProcessId b) { return catalog.processes[a].last_ns < catalog.processes[b].last_ns; });
  return fmt::format("{} unrelated runs: {}; and {}, which begins {} after the first ends; compare them with `tracetool diff {} {}`, or "
                     "give the files of one run (--run NAME chooses a run of a directory)",
                     runs.size(), name(runs[0]), name(runs[1]), duration_text(begin_of(catalog.processes[runs[1][0]]) - catalog.processes[*last].last_ns),
                     path(runs[0], "A"), path(runs[1], "B"));
}

}  // namespace cli
