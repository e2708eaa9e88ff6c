// The clocks of a trace's processes, to go between each one's own times and the axis.
#pragma once
#include <vector>

#include "cli/trace/catalog.h"
#include "cli/trace/clock_fit.h"
#include "cli/trace/steps.h"

namespace cli {

// The clocks of a trace's processes.
class ProcessClocks {
 public:
  ProcessClocks() = default;  // all are on the axis
  // Both outlive it.
  ProcessClocks(const Catalog& catalog, const std::vector<ClockFit>& fits) {
    for (const Process& process : catalog.processes) {
      const bool known = process.clock >= 0 && static_cast<std::size_t>(process.clock) < fits.size();
      of_.push_back(known && fits[static_cast<std::size_t>(process.clock)].moves() ? &fits[static_cast<std::size_t>(process.clock)] : nullptr);
    }
  }

  const ClockFit* of(std::size_t process) const { return process < of_.size() ? of_[process] : nullptr; }
  std::int64_t on_axis(std::size_t process, std::int64_t ns) const {
    const ClockFit* fit = of(process);
    return fit != nullptr ? fit->on_axis(ns) : ns;
  }
  std::int64_t first_at(std::size_t process, std::int64_t axis_ns) const {
    const ClockFit* fit = of(process);
    return fit != nullptr ? fit->first_at(axis_ns) : axis_ns;
  }

 private:
  std::vector<const ClockFit*> of_;  // null: on the axis
};

// A step whose times `place` converts.
template <typename Place>
Step moved(Step step, Place&& place) {
  step.start_ns = place(step.start_ns);
  step.end_ns = place(step.end_ns);
  if (!step.knows_gpu_time()) return step;
  step.gpu_start_ns = place(step.gpu_start_ns);
  step.gpu_end_ns = place(step.gpu_end_ns);
  return step;
}

inline void put_on_axis(ProcessSteps& of, const ClockFit& fit) {
  if (of.first_ns == 0 && of.last_ns == 0) return;  // it has no events
  of.first_ns = fit.on_axis(of.first_ns);
  of.last_ns = fit.on_axis(of.last_ns);
  for (Step& step : of.steps) step = moved(step, [&](std::int64_t ns) { return fit.on_axis(ns); });
}

}  // namespace cli
