#include "cli/answers/compare/kept_steps.h"

#include <algorithm>
#include <map>
#include <set>

#include "cli/answers/tables/whole_steps.h"

namespace cli {
namespace {

std::set<std::int64_t> warm_up_numbers(const AnalysisContext& context) {
  std::set<std::int64_t> numbers;
  for (ProcessId id = 0; id < context.steps_found.size(); ++id) {
    if (!context.chosen[id]) continue;
    const std::vector<Step>& steps = context.steps_found[id].steps;
    const std::size_t count = warm_up_steps(steps);
    for (std::size_t i = 0; i < count; ++i) numbers.insert(steps[i].number);
  }
  return numbers;
}

}  // namespace

KeptSteps::KeptSteps(const AnalysisContext& context, bool whole, RunProfile& profile)
    : whole_(whole), windows_(whole ? context.windows : whole_steps(context)), takes_part_(context.catalog.processes.size()) {
  for (ProcessId id = 0; id < takes_part_.size(); ++id) takes_part_[id] = context.chosen[id] && (whole || !windows_.of(id).empty());
  if (profile.steps.empty()) choose(context, profile);
  std::map<std::int64_t, std::size_t> place_of;
  for (std::size_t place = 0; place < profile.steps.size(); ++place) place_of[profile.steps[place]] = place;
  places_.resize(takes_part_.size());
  for (ProcessId id = 0; id < takes_part_.size(); ++id) {
    std::set<std::size_t> taken;  // of steps of one number the first counts
    for (const AnalysisWindow& window : windows_.of(id)) {
      const auto found = place_of.find(window.step.value_or(0));
      const bool is_kept = takes_part_[id] && found != place_of.end() && (whole_ || taken.insert(found->second).second);
      places_[id].push_back(is_kept ? found->second : kNone);
    }
  }
}

void KeptSteps::choose(const AnalysisContext& context, RunProfile& profile) const {
  if (whole_) {
    profile.steps = {0};
    return;
  }
  const std::set<std::int64_t> warm_up = warm_up_numbers(context);
  std::map<std::int64_t, std::size_t> having;  // by number: processes
  std::size_t processes = 0;
  std::set<std::int64_t> left_out;
  for (ProcessId id = 0; id < takes_part_.size(); ++id) {
    if (!takes_part_[id]) continue;
    ++processes;
    std::set<std::int64_t> numbers;
    for (const AnalysisWindow& window : windows_.of(id)) numbers.insert(window.step.value_or(0));
    for (const std::int64_t number : numbers) warm_up.contains(number) ? void(left_out.insert(number)) : void(++having[number]);
  }
  profile.warm_up.assign(left_out.begin(), left_out.end());
  for (const auto& [number, count] : having) {
    if (count == processes) profile.steps.push_back(number);
  }
  profile.not_everywhere = having.size() - profile.steps.size();
}

std::size_t KeptSteps::window_of(ProcessId process, std::size_t place) const {
  const auto& places = places_[process];
  return static_cast<std::size_t>(std::find(places.begin(), places.end(), place) - places.begin());
}

}  // namespace cli
