// How clocks lie on the common axis: those of hosts and of processes. Which times can be right.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/trace/catalog.h"
#include "cli/trace/event.h"
#include "cli/trace/event_times.h"
#include "cli/trace/steps.h"

namespace cli {

// How one clock domain (a host) lies on the common axis.

// How sure a line through delays is: their standard deviation by their median absolute deviation, of an exponential distribution as
// delays have (of a normal one it is 1.483); and how many points are few, of which that is not well known.
inline constexpr double kSigmaOfMad = 2.078, kFewPoints = 8;

// ClockFit::method of a clock of which nothing was estimated.
inline constexpr const char* kWallClock = "wall_clock";

// axis_ns = t + offset_ns + drift_ppm * 1e-6 * (t - reference_ns)
struct ClockLine {
  std::int64_t offset_ns = 0;  // at reference_ns
  std::int64_t reference_ns = 0;
  double drift_ppm = 0;

  std::int64_t on_axis(std::int64_t ns) const {
    if (drift_ppm == 0) return ns + offset_ns;
    return ns + offset_ns + std::llround(drift_ppm * 1e-6 * static_cast<double>(ns - reference_ns));
  }
};

// From a time of the clock on it runs otherwise: it was set, or its drift changed.
struct ClockPiece : ClockLine {
  std::int64_t from_ns = 0;                                           // by the clock itself
  std::int64_t least_ns = std::numeric_limits<std::int64_t>::min();   // on the axis: nothing of this piece lies before it
  std::optional<std::int64_t> bound_lo_ns, bound_hi_ns;               // as below
};

struct ClockFit : ClockLine {
  std::string host;
  std::string boot_id;              // the clock domain; "" when unknown
  std::vector<std::int64_t> ranks;  // ascending, known ones only
  std::uint64_t samples = 0;                             // what the estimate rests on; 0: nothing was estimated
  std::optional<std::int64_t> mad_ns;                    // median absolute deviation of the samples
  std::optional<std::int64_t> bound_lo_ns, bound_hi_ns;  // the true offset lies between; none: unknown
  std::string method;
  std::vector<ClockPiece> later;  // after the line of this one; ascending

  bool moves() const { return offset_ns != 0 || drift_ppm != 0 || !later.empty(); }
  // Equal differences of times stay so.
  bool is_rigid() const { return drift_ppm == 0 && later.empty(); }

  std::int64_t on_axis(std::int64_t ns) const {
    if (later.empty() || ns < later.front().from_ns) return ClockLine::on_axis(ns);
    const auto next = std::upper_bound(later.begin(), later.end(), ns, [](std::int64_t at, const ClockPiece& piece) { return at < piece.from_ns; });
    const ClockPiece& piece = *(next - 1);
    return std::max(piece.on_axis(ns), piece.least_ns);
  }

  // The first time of the clock that does not lie before this one of the axis.
  std::int64_t first_at(std::int64_t axis_ns) const {
    if (axis_ns <= kEarliest_ns || axis_ns >= kLatest_ns) return axis_ns;
    std::int64_t lo = kEarliest_ns, hi = kLatest_ns;
    while (lo < hi) {
      const std::int64_t middle = lo + (hi - lo) / 2;
      if (on_axis(middle) >= axis_ns) {
        hi = middle;
      } else {
        lo = middle + 1;
      }
    }
    return lo;
  }
};

// Puts the events of one clock on the axis, in their order: both ends of what has two, so that what lies within another event
// still does.
class AxisPlacer {
 public:
  explicit AxisPlacer(const ClockFit* fit) : fit_(fit) {}  // null: they are on it

  void place(Event& event) {
    if (fit_ == nullptr) return;
    const std::int64_t start_ns = event.start_ns;
    event.start_ns = fit_->on_axis(start_ns);
    if (fit_->is_rigid()) return;
    // Where a clock was set, lines of before and after may overlap.
    event.start_ns = last_ns_ = std::max(last_ns_, event.start_ns);
    if (!is_slice(event) || event.duration_ns <= 0 || event.duration_ns > kLatest_ns - start_ns) return;
    event.duration_ns = std::max<std::int64_t>(fit_->on_axis(start_ns + event.duration_ns) - event.start_ns, 0);
  }

 private:
  const ClockFit* fit_;
  std::int64_t last_ns_ = std::numeric_limits<std::int64_t>::min();
};

// The clocks of a trace's processes, to go between each one's own times and the axis.

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

// Which events of a trace have times that can be right. Some writers give GPU work that was never timed the time 0, or an
// annotation that was never closed a length of months. A reader sets Process::first_ns and last_ns without such events
// (cli/formats/kineto/implausible_times.h): what lies outside is kept and exported, but no span or sum has it.
class TimeBounds {
 public:
  // For events by each process's own clock, if `clocks` put the catalogue's times on the axis.
  explicit TimeBounds(const Catalog& catalog, const ProcessClocks& clocks = {}) {
    constexpr std::int64_t kRoom_ns = 43'200'000'000'000;  // half of what separates events
    for (ProcessId id = 0; id < catalog.processes.size(); ++id) {
      const Process& p = catalog.processes[id];
      auto& [from, to] = bounds_.emplace_back(INT64_MIN, INT64_MAX);
      if (p.first_ns == 0 && p.last_ns == 0) continue;
      const std::int64_t first = clocks.first_at(id, p.first_ns), last = clocks.first_at(id, p.last_ns);
      from = first < INT64_MIN + kRoom_ns ? INT64_MIN : first - kRoom_ns;
      to = last > INT64_MAX - kRoom_ns ? INT64_MAX : last + kRoom_ns;
    }
  }

  bool hold(ProcessId process, const Event& event) const {
    const auto& [from, to] = bounds_[process];
    return event.start_ns >= from && slice_end(event, event.start_ns) <= to;
  }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>> bounds_;
};

}  // namespace cli
