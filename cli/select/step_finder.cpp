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
  Seen& seen = processes_[catalog_->tracks[event.track].process];
  seen.first_ns = std::min(seen.first_ns, event.start_ns);
  seen.last_ns = std::max(seen.last_ns, slice_end(event, event.start_ns));
  if (!is_host_range(event) || !may_be_step(event.name)) return;
  const StepName name = *step_name(catalog_->strings[event.name]);
  if (event.kind == Kind::cpu_op && name.family != 0) return;
  const Found found{{name.number, event.start_ns, slice_end(event, event.start_ns)}, event.duration_ns < 0};
  add(seen.families[name.family], found);
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
    if (last.open) {
      last.step.end_ns = next.step.start_ns;
      last.open = false;
    }
    steps.push_back(next);
  }
}

std::vector<ProcessSteps> StepFinder::take() {
  std::vector<ProcessSteps> all(processes_.size());
  for (std::size_t id = 0; id < all.size(); ++id) {
    Seen& seen = processes_[id];
    if (seen.first_ns > seen.last_ns) continue;
    all[id].first_ns = seen.first_ns;
    all[id].last_ns = seen.last_ns;
    const auto family = std::find_if(seen.families.begin(), seen.families.end(), [](auto& f) { return !f.empty(); });
    if (family == seen.families.end()) continue;
    all[id].found_by = kStepFamilyNames[static_cast<std::size_t>(family - seen.families.begin())];
    if (family->back().open) family->back().step.end_ns = seen.last_ns;
    for (const Found& found : *family) all[id].steps.push_back(found.step);
  }
  return all;
}

}  // namespace cli
