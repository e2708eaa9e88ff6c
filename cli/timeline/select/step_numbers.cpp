#include "cli/timeline/select/step_numbers.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "cli/trace/ranks.h"

namespace cli {
namespace {

class StepNumbering {
 public:
  StepNumbering(std::vector<ProcessSteps>& steps, const ProcessClocks& clocks) : steps_(steps), clocks_(clocks) {}

  // Of a run that names steps on the rank `named`.
  void number_as(ProcessId named, const std::vector<ProcessId>& group) const {
    for (const ProcessId id : group) {
      const auto by = distance(id, named, true);
      steps_[id].alike = by.has_value();
      for (Step& step : steps_[id].steps) step.number += by.value_or(0);
    }
  }
  void number(const std::vector<ProcessId>& group) const {
    const ProcessId most = *std::max_element(group.begin(), group.end(), [&](ProcessId a, ProcessId b) { return steps_[a].steps.size() < steps_[b].steps.size(); });
    std::int64_t first = 0;
    for (const ProcessId id : group) {
      const auto by = id == most ? 0 : distance(id, most, false);
      steps_[id].alike = by.has_value();
      if (!by) continue;
      for (Step& step : steps_[id].steps) step.number += *by;
      first = std::min(first, steps_[id].steps.front().number);
    }
    for (const ProcessId id : group) {
      for (Step& step : steps_[id].steps) step.number -= steps_[id].alike ? first : 0;
    }
  }

 private:
  std::int64_t at(ProcessId id, std::int64_t ns) const { return clocks_.on_axis(id, ns); }

  // How much higher most numbers of `other` are at the same time; none: they share no time, or these are less than half.
  std::optional<std::int64_t> distance(ProcessId id, ProcessId other, bool needs_half) const {
    std::map<std::int64_t, std::size_t> votes;
    const auto& others = steps_[other].steps;
    for (const Step& step : steps_[id].steps) {
      const std::int64_t start_ns = at(id, step.from_ns()), middle_ns = start_ns + (at(id, step.to_ns()) - start_ns) / 2;
      const auto behind = std::upper_bound(others.begin(), others.end(), middle_ns, [&](std::int64_t ns, const Step& each) { return ns < at(other, each.from_ns()); });
      if (behind != others.begin() && at(other, (behind - 1)->to_ns()) > middle_ns) ++votes[(behind - 1)->number - step.number];
    }
    if (votes.empty()) return std::nullopt;
    const auto most = std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    const std::size_t all = std::accumulate(votes.begin(), votes.end(), std::size_t{0}, [](std::size_t sum, const auto& each) { return sum + each.second; });
    return needs_half && most->second * 2 <= all ? std::nullopt : std::optional<std::int64_t>(most->first);
  }

  std::vector<ProcessSteps>& steps_;
  const ProcessClocks& clocks_;
};

}  // namespace

void number_alike(std::vector<ProcessSteps>& steps, const Catalog& catalog, const ProcessClocks& clocks) {
  struct Group {
    std::vector<ProcessId> counted;
    std::optional<ProcessId> named;  // the one with most steps
  };
  std::map<std::pair<std::string, std::string>, Group> groups;
  const std::vector<bool> beside = beside_ranks(catalog);
  for (ProcessId id = 0; id < steps.size(); ++id) {
    if (beside[id]) continue;
    Group& group = groups[{catalog.processes[id].run_id, catalog.processes[id].phase}];
    if (steps[id].steps.empty()) continue;
    if (steps[id].is_numbered_here()) {
      group.counted.push_back(id);
    } else if (!group.named || steps[*group.named].steps.size() < steps[id].steps.size()) {
      group.named = id;
    }
  }
  const StepNumbering numbering(steps, clocks);
  for (const auto& [run, group] : groups) {
    if (group.counted.empty()) continue;
    group.named ? numbering.number_as(*group.named, group.counted) : numbering.number(group.counted);
  }
}

}  // namespace cli
