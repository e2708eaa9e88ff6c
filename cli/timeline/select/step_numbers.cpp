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

  // For a run with named steps on the rank `named`.
  void number_as(ProcessId named, const std::vector<ProcessId>& group) const {
    for (const ProcessId id : group) {
      const auto by = distance(id, named, true);
      steps_[id].alike = by.has_value();
      for (Step& step : steps_[id].steps) step.number += by.value_or(0);
    }
  }
  void number(const std::vector<ProcessId>& group) const {
    const ProcessId most = *std::max_element(group.begin(), group.end(), [&](ProcessId a, ProcessId b) {
      return steps_[a].steps.size() < steps_[b].steps.size();
    });
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

  // Returns the difference of most numbers of `other` at the same time; nullopt if there is no common time, or fewer
  // than half agree.
  std::optional<std::int64_t> distance(ProcessId id, ProcessId other, bool needs_half) const {
    std::map<std::int64_t, std::size_t> votes;
    const auto& others = steps_[other].steps;
    for (const Step& step : steps_[id].steps) {
      const std::int64_t start_ns = at(id, step.from_ns()),
                         middle_ns = start_ns + (at(id, step.to_ns()) - start_ns) / 2;
      const auto behind =
          std::upper_bound(others.begin(), others.end(), middle_ns,
                           [&](std::int64_t ns, const Step& each) { return ns < at(other, each.from_ns()); });
      if (behind != others.begin() && at(other, (behind - 1)->to_ns()) > middle_ns)
        ++votes[(behind - 1)->number - step.number];
    }
    if (votes.empty()) return std::nullopt;
    const auto most =
        std::max_element(votes.begin(), votes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    const std::size_t all = std::accumulate(votes.begin(), votes.end(), std::size_t{0},
                                            [](std::size_t sum, const auto& each) { return sum + each.second; });
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

namespace {

// The time is from the end of all work launched before, if any, to the end of its own work; zero without own work.
void set_gpu_time(Step& step, std::int64_t before_ns, std::int64_t end_ns, std::int64_t never) {
  step.gpu_start_ns =
      before_ns != never ? before_ns : std::min(step.start_ns, end_ns != never ? end_ns : step.start_ns);
  step.gpu_end_ns = std::max(step.gpu_start_ns, end_ns);
}

}  // namespace

void StepTimes::bound(std::int64_t ns) {
  const auto after = std::upper_bound(spans_.begin(), spans_.end(), ns,
                                      [](std::int64_t at, const Span& span) { return at < span.from_ns; });
  if ((after - 1)->from_ns == ns) return;
  spans_.insert(after, Span{ns, kNever, 0});
}

void StepTimes::add(std::int64_t launched_ns, std::int64_t end_ns, bool is_kernel) {
  auto span = spans_.end() - 1;
  while (span->from_ns > launched_ns) --span;  // launches wait only for a few steps
  span->end_ns = std::max(span->end_ns, end_ns);
  span->kernels += is_kernel;
  has_launched_ = true;
}

void StepTimes::add_unlaunched(std::int64_t end_ns) {
  if (!has_launched_) spans_.front().end_ns = std::max(spans_.front().end_ns, end_ns);
}

void StepTimes::finish(std::vector<Step>& steps) const {
  if (!has_launched_ && spans_.front().end_ns == kNever) return;  // no GPU work
  auto span = spans_.begin();
  std::int64_t before_ns = kNever;
  for (Step& step : steps) {
    for (; span != spans_.end() && span->from_ns < step.start_ns; ++span) before_ns = std::max(before_ns, span->end_ns);
    std::int64_t end_ns = kNever;
    step.kernels = 0;
    for (; span != spans_.end() && span->from_ns < step.end_ns; ++span) {
      end_ns = std::max(end_ns, span->end_ns);
      step.kernels += span->kernels;
    }
    set_gpu_time(step, before_ns, end_ns, kNever);
    before_ns = std::max(before_ns, end_ns);
  }
}

void add_copies(std::vector<LaunchedCopy> copies, std::vector<Step>& steps) {
  std::sort(copies.begin(), copies.end(),
            [](const LaunchedCopy& a, const LaunchedCopy& b) { return a.launched_ns < b.launched_ns; });
  auto copy = copies.begin();
  std::int64_t before_ns = std::numeric_limits<std::int64_t>::min();
  for (Step& step : steps) {
    for (; copy != copies.end() && copy->launched_ns < step.start_ns; ++copy)
      before_ns = std::max(before_ns, copy->end_ns);
    for (; copy != copies.end() && copy->launched_ns < step.end_ns; ++copy)
      step.gpu_end_ns = std::max(step.gpu_end_ns, copy->end_ns);
    step.gpu_start_ns = std::max(step.gpu_start_ns, before_ns);
    step.gpu_end_ns = std::max(step.gpu_end_ns, step.gpu_start_ns);
    before_ns = std::max(before_ns, step.gpu_end_ns);
  }
}

}  // namespace cli
