#include "cli/timeline/select/step_times.h"

#include <algorithm>

namespace cli {
namespace {

// From the end of all work that was launched before, where there is some, to the end of its own; without own work it takes no time.
void set_gpu_time(Step& step, std::int64_t before_ns, std::int64_t end_ns, std::int64_t never) {
  step.gpu_start_ns = before_ns != never ? before_ns : std::min(step.start_ns, end_ns != never ? end_ns : step.start_ns);
  step.gpu_end_ns = std::max(step.gpu_start_ns, end_ns);
}

}  // namespace

void StepTimes::bound(std::int64_t ns) {
  const auto after = std::upper_bound(spans_.begin(), spans_.end(), ns, [](std::int64_t at, const Span& span) { return at < span.from_ns; });
  if ((after - 1)->from_ns == ns) return;
  spans_.insert(after, Span{ns, kNever, 0});
}

void StepTimes::add(std::int64_t launched_ns, std::int64_t end_ns, bool is_kernel) {
  auto span = spans_.end() - 1;
  while (span->from_ns > launched_ns) --span;  // launches wait for few steps
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
  std::sort(copies.begin(), copies.end(), [](const LaunchedCopy& a, const LaunchedCopy& b) { return a.launched_ns < b.launched_ns; });
  auto copy = copies.begin();
  std::int64_t before_ns = std::numeric_limits<std::int64_t>::min();
  for (Step& step : steps) {
    for (; copy != copies.end() && copy->launched_ns < step.start_ns; ++copy) before_ns = std::max(before_ns, copy->end_ns);
    for (; copy != copies.end() && copy->launched_ns < step.end_ns; ++copy) step.gpu_end_ns = std::max(step.gpu_end_ns, copy->end_ns);
    step.gpu_start_ns = std::max(step.gpu_start_ns, before_ns);
    step.gpu_end_ns = std::max(step.gpu_end_ns, step.gpu_start_ns);
    before_ns = std::max(before_ns, step.gpu_end_ns);
  }
}

}  // namespace cli
