#include "cli/timeline/select/step_finder.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "cli/trace/event_times.h"

namespace cli {

void OptimizerSteps::add(StepMark mark, StringId name, std::int64_t start_ns, std::int64_t end_ns) {
  if (mark == StepMark::begin) {
    has_begun_ = true;
    if (optimizers_.empty() && !first_ns_) first_ns_ = start_ns;
    return;
  }
  optimizers_.push_back({name, start_ns, end_ns, std::exchange(has_begun_, false)});
}

// Returns the median time from a mark to the next one with its name; the largest number if none repeats.
std::int64_t OptimizerSteps::usual_distance_ns() const {
  std::map<StringId, std::int64_t> last_ns;
  std::vector<std::int64_t> distances_ns;
  for (const Optimizer& each : optimizers_) {
    const auto [last, is_first] = last_ns.try_emplace(each.name, each.start_ns);
    if (!is_first) distances_ns.push_back(each.start_ns - std::exchange(last->second, each.start_ns));
  }
  if (distances_ns.empty()) return std::numeric_limits<std::int64_t>::max();
  const auto middle = distances_ns.begin() + static_cast<std::ptrdiff_t>(distances_ns.size() / 2);
  std::nth_element(distances_ns.begin(), middle, distances_ns.end());
  return *middle;
}

std::vector<Step> OptimizerSteps::steps() const {
  const std::int64_t most_ns = usual_distance_ns() / 4;
  std::vector<std::int64_t> ends_ns;
  std::vector<StringId> names;  // of the last end
  for (const Optimizer& each : optimizers_) {
    const bool follows = !ends_ns.empty() && !each.after_begin && each.start_ns - ends_ns.back() <= most_ns;
    const bool is_another = std::find(names.begin(), names.end(), each.name) == names.end();
    if (follows && is_another) {
      ends_ns.back() = std::max(ends_ns.back(), each.end_ns);
    } else {
      ends_ns.push_back(each.end_ns);
      names.clear();
    }
    names.push_back(each.name);
  }
  std::vector<Step> steps;
  std::optional<std::int64_t> start_ns = first_ns_;
  for (const std::int64_t end_ns : ends_ns) {
    if (start_ns && *start_ns <= end_ns) steps.push_back({static_cast<std::int64_t>(steps.size()), *start_ns, end_ns});
    start_ns = end_ns;
  }
  return steps;
}

namespace {

bool is_host_range(const Event& event) {
  return event.phase == 'X' &&
         (event.kind == Kind::nvtx || event.kind == Kind::user_annotation || event.kind == Kind::cpu_op);
}

constexpr std::size_t kAllKernels = 1 << 22, kFewestKernels = 1 << 14, kMostKernels = 1 << 17;

// Limit of the copies and memsets considered when a sequence is cut into steps. In longer traces, the kernels determine
// the ends of steps.
constexpr std::size_t kMostCopies = 1 << 18;

// Returns a number for a grid, or for a whole graph.
std::uint32_t grid_of(const Catalog& catalog, const Facts& facts) {
  if (const auto* graph = facts.get<GraphLaunchFacts>()) return graph->graph;
  const auto* kernel = facts.get<KernelFacts>();
  if (kernel == nullptr || kernel->launch == 0) return 0;
  const auto& grid = catalog.launches[kernel->launch].grid;
  return (grid[0] * 31 + grid[1]) * 31 + grid[2];
}

}  // namespace

StepFinder::StepFinder(const Catalog& catalog, const ProcessClocks& clocks)
    : catalog_(&catalog),
      bounds_(catalog, clocks),
      processes_(catalog.processes.size()),
      found_(catalog.processes.size()),
      names_(catalog.strings.size(), Name::unseen),
      classes_(catalog.strings),
      calls_(catalog) {
  const std::size_t most =
      std::clamp(kAllKernels / std::max<std::size_t>(processes_.size(), 1), kFewestKernels, kMostKernels);
  for (ProcessId id = 0; id < processes_.size(); ++id) {
    const Process& process = catalog.processes[id];
    processes_[id].kernels.emplace(most, process.counts[static_cast<std::size_t>(Kind::kernel)]);
    processes_[id].records_calls = records_calls(process);
  }
}

void StepFinder::add_work(ProcessId process, const Event& event, const Facts& facts) {
  Seen& seen = processes_[process];
  const LaunchCall* call = seen.records_calls ? calls_.of(event.track, event.correlation) : nullptr;
  const std::int64_t end_ns = slice_end(event, event.start_ns);
  const bool is_kernel = event.kind == Kind::kernel || event.kind == Kind::graph;
  ++seen.launches.count;
  seen.launches.sum_ns += end_ns - event.start_ns;
  if (call != nullptr || !seen.records_calls) {
    const std::int64_t launched_ns = call != nullptr ? call->start_ns : event.start_ns;
    seen.times.add(launched_ns, end_ns, is_kernel);
    if (seen.kernels && !is_kernel && seen.copies.size() < kMostCopies) seen.copies.push_back({launched_ns, end_ns});
  } else {
    seen.times.add_unlaunched(end_ns);
    ++seen.launches.unlaunched_count;
    seen.launches.unlaunched_ns += end_ns - event.start_ns;
  }
  if (seen.kernels && is_kernel && event.correlation != 0) add_to_sequence(seen, event, facts, call);
}

void StepFinder::add_to_sequence(Seen& seen, const Event& event, const Facts& facts, const LaunchCall* call) {
  LaunchedWork work;
  work.order = static_cast<std::int64_t>(event.correlation);
  work.launched_ns = call != nullptr ? call->start_ns : event.start_ns;
  if (call != nullptr) work.returned_ns = call->end_ns;
  work.end_ns = slice_end(event, event.start_ns);
  if (const auto* kernel = facts.get<KernelFacts>()) work.node = static_cast<std::uint32_t>(kernel->graph.node);
  work.name = event.name;
  work.grid = grid_of(*catalog_, facts);
  seen.kernels->add(work);
}

void StepFinder::event(const Event& read, const Facts& facts) {
  Event room;
  const Event& event = with_cut_overrun(*catalog_, read, room);
  if (event.kind == Kind::flow) return;
  const ProcessId process = catalog_->tracks[event.track].process;
  if (!bounds_.hold(process, event)) return;
  Seen& seen = processes_[process];
  seen.first_ns = std::min(seen.first_ns, event.start_ns);
  seen.last_ns = std::max(seen.last_ns, slice_end(event, event.start_ns));
  if (is_api_call(event.kind)) {
    if (event.correlation != 0 && classes_[event.name].launches) calls_.add(event);
  } else if (is_gpu_work(event.kind)) {
    if (is_slice(event) && catalog_->tracks[event.track].kind == TrackKind::stream) add_work(process, event, facts);
  } else if (is_host_range(event)) {
    add_range(seen, event);
  }
}

void StepFinder::add_outermost(Seen& seen, const Event& event) {
  std::int64_t& end_ns = seen.ranges_end_ns.try_emplace(event.track, kEarliest_ns).first->second;
  if (event.start_ns < end_ns || event.duration_ns <= 0) return;
  end_ns = slice_end(event, event.start_ns);
  seen.ranges.push_back({event.name, event.start_ns, end_ns});
}

// Steps found by the period are discarded if they are within one range of the program.
void StepFinder::drop_repeats(const std::vector<Range>& ranges, ProcessSteps& of) const {
  const auto& steps = of.steps;
  for (const Range& range : ranges) {
    // Checks both ends of a whole repeat, because a range of a single step, which begins elsewhere than the period,
    // contains one of them.
    const auto first = std::upper_bound(steps.begin(), steps.end(), range.start_ns,
                                        [](std::int64_t ns, const Step& step) { return ns < step.end_ns; });
    if (steps.end() - first < 2 || (first + 1)->end_ns >= range.end_ns) continue;
    of.repeats = std::ssize(steps);
    of.repeats_within = catalog_->strings[range.name];
    of.steps.clear();
    of.found_by.clear();
    return;
  }
}

void StepFinder::add_range(Seen& seen, const Event& event) {
  const Name kind = kind_of(event.name);
  if (seen.kernels && event.kind != Kind::cpu_op) add_outermost(seen, event);
  if (kind == Name::no_step) return;
  seen.times.bound(event.start_ns);
  seen.times.bound(slice_end(event, event.start_ns));
  if (kind != Name::step) {
    const StepMark mark = kind == Name::optimizer ? StepMark::optimizer : StepMark::begin;
    return seen.optimizers.add(mark, event.name, event.start_ns, slice_end(event, event.start_ns));
  }
  const StepName name = *step_name(catalog_->strings[event.name]);
  if (event.kind == Kind::cpu_op && name.family != 0) return;
  const Found found{{name.number, event.start_ns, slice_end(event, event.start_ns)}, event.duration_ns < 0};
  add(seen.families[name.family], found);
  seen.kernels.reset();
  seen.copies = {};
  seen.ranges = {};
}

StepFinder::Name StepFinder::kind_of(StringId name) {
  if (names_[name] != Name::unseen) return names_[name];
  const std::string_view text = catalog_->strings[name];
  const StepMark mark = step_mark(text);
  names_[name] = step_name(text)               ? Name::step
                 : mark == StepMark::optimizer ? Name::optimizer
                 : mark == StepMark::begin     ? Name::begin
                                               : Name::no_step;
  return names_[name];
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

void StepFinder::end_of(ProcessId id) {
  Seen seen = std::exchange(processes_[id], {});
  calls_.forget(id);
  if (seen.first_ns > seen.last_ns) return;
  ProcessSteps& found = found_[id];
  found.first_ns = seen.first_ns;
  found.last_ns = seen.last_ns;
  found.launches = seen.launches;
  const auto family = std::find_if(seen.families.begin(), seen.families.end(), [](auto& f) { return !f.empty(); });
  if (family != seen.families.end()) {
    found.found_by = kStepFamilyNames[static_cast<std::size_t>(family - seen.families.begin())];
    if (family->back().open) family->back().step.end_ns = seen.last_ns;
    for (const Found& each : *family) found.steps.push_back(each.step);
    return seen.times.finish(found.steps);
  }
  found.steps = seen.optimizers.steps();
  if (!found.steps.empty()) {
    found.found_by = kOptimizerSteps;
    return seen.times.finish(found.steps);
  }
  seen.kernels->finish(found);
  drop_repeats(seen.ranges, found);
  add_copies(std::move(seen.copies), found.steps);
}

std::vector<ProcessSteps> StepFinder::take() {
  for (ProcessId id = 0; id < processes_.size(); ++id) end_of(id);
  return std::move(found_);
}

}  // namespace cli
