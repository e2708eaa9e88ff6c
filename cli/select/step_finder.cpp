#include "cli/select/step_finder.h"

#include <algorithm>

#include "cli/model/slice.h"

namespace cli {
namespace {

bool is_host_range(const Event& event) {
  return event.phase == 'X' &&
         (event.kind == Kind::nvtx || event.kind == Kind::user_annotation || event.kind == Kind::cpu_op);
}

}  // namespace

StepFinder::StepFinder(const Catalog& catalog)
    : catalog_(&catalog), processes_(catalog.processes.size()), names_(catalog.strings.size(), Name::unseen) {}

void StepFinder::event(const Event& event, const Facts&) {
  if (event.kind == Kind::flow) return;
  first_ns_ = std::min(first_ns_, event.start_ns);
  last_ns_ = std::max(last_ns_, slice_end(event, event.start_ns));
  if (!is_host_range(event) || !may_be_step(event.name)) return;
  const StepName name = *step_name(catalog_->strings[event.name]);
  if (event.kind == Kind::cpu_op && name.family != 0) return;
  const Found found{{name.number, event.start_ns, slice_end(event, event.start_ns)}, event.duration_ns < 0};
  add(processes_[catalog_->tracks[event.track].process][name.family], found);
}

bool StepFinder::may_be_step(StringId name) {
  if (names_[name] == Name::unseen) {
    names_[name] = step_name(catalog_->strings[name]) ? Name::step : Name::no_step;
  }
  return names_[name] == Name::step;
}

void StepFinder::add(std::vector<Found>& steps, const Found& next) {
  if (steps.empty()) return steps.push_back(next);
  Found& last = steps.back();
  const bool overlaps = last.open || next.step.start_ns < last.step.end_ns;
  if (overlaps && next.step.number == last.step.number) {
    last.step.end_ns = std::max(last.step.end_ns, next.step.end_ns);
    last.open = last.open || next.open;
  } else if (!overlaps || last.open || next.open || next.step.end_ns > last.step.end_ns) {
    if (last.open) last.step.end_ns = next.step.start_ns, last.open = false;
    steps.push_back(next);
  }
}

std::vector<std::string_view> StepFinder::found_by() const {
  std::vector<std::string_view> names(processes_.size());
  for (std::size_t id = 0; id < names.size(); ++id) {
    for (std::size_t family = kStepFamilies; family-- > 0;) {
      if (!processes_[id][family].empty()) names[id] = kStepFamilyNames[family];
    }
  }
  return names;
}

Steps StepFinder::take() {
  Steps steps(processes_.size());
  for (std::size_t id = 0; id < steps.size(); ++id) {
    const auto family = std::find_if(processes_[id].begin(), processes_[id].end(), [](auto& f) { return !f.empty(); });
    if (family == processes_[id].end()) continue;
    if (family->back().open) family->back().step.end_ns = last_ns();
    for (const Found& found : *family) steps[id].push_back(found.step);
  }
  return steps;
}

}  // namespace cli
