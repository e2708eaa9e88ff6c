#include "cli/select/step_numbers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace cli {
namespace {

class Numbering {
 public:
  Numbering(std::vector<ProcessSteps>& steps, const ProcessClocks& clocks) : steps_(steps), clocks_(clocks) {}

  void number(const std::vector<ProcessId>& group) const {
    const ProcessId most = *std::max_element(group.begin(), group.end(), [&](ProcessId a, ProcessId b) { return steps_[a].steps.size() < steps_[b].steps.size(); });
    std::int64_t first = 0;
    for (const ProcessId id : group) {
      const auto by = id == most ? 0 : distance(id, most);
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

  // How much higher most numbers of `other` are at the same time; none: they share no time.
  std::optional<std::int64_t> distance(ProcessId id, ProcessId other) const {
    std::map<std::int64_t, std::size_t> votes;
    const auto& others = steps_[other].steps;
    for (const Step& step : steps_[id].steps) {
      const std::int64_t start_ns = at(id, step.start_ns), middle_ns = start_ns + (at(id, step.end_ns) - start_ns) / 2;
      const auto behind = std::upper_bound(others.begin(), others.end(), middle_ns, [&](std::int64_t ns, const Step& each) { return ns < at(other, each.start_ns); });
      if (behind != others.begin() && at(other, (behind - 1)->end_ns) > middle_ns) ++votes[(behind - 1)->number - step.number];
    }
    if (votes.empty()) return std::nullopt;
    return std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; })->first;
  }

  std::vector<ProcessSteps>& steps_;
  const ProcessClocks& clocks_;
};

}  // namespace

void number_alike(std::vector<ProcessSteps>& steps, const Catalog& catalog, const ProcessClocks& clocks) {
  std::map<std::pair<std::string, std::string>, std::vector<ProcessId>> groups;
  for (ProcessId id = 0; id < steps.size(); ++id) {
    if (steps[id].by_period()) groups[{catalog.processes[id].run_id, catalog.processes[id].phase}].push_back(id);
  }
  const Numbering numbering(steps, clocks);
  for (const auto& [run, group] : groups) numbering.number(group);
}

}  // namespace cli
