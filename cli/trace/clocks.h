// Conversion between the clocks of hosts or processes and the common axis, and the range of plausible times.
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

// Returns the name of the clock that a process shares with others: of its boot, or of its host if the boot is unknown.
// Returns "" if it shares none. Reports of Nsight Systems read the wall clock once each, so only the processes of one
// report share a clock.
inline std::string clock_name(const Process& process) {
  if (process.format == SourceFormat::nsys) return "report " + process.source;
  if (!process.boot_id.empty()) return "boot " + process.boot_id;
  return process.host.empty() ? "" : "host " + process.host;
}

// Position of one clock domain (a host) on the common axis.

// kSigmaOfMad: standard deviation divided by the median absolute deviation of an exponential distribution, which delays
// have (1.483 for a normal distribution). With fewer than kFewPoints points this ratio is not reliable.
inline constexpr double kSigmaOfMad = 2.078, kFewPoints = 8;

// ClockFit::method of a clock that was not estimated.
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

// A change of the clock at `from_ns`: it was set, or its drift changed.
struct ClockPiece : ClockLine {
  std::int64_t from_ns = 0;  // by the clock itself
  // On the common axis: lower bound of all times of this piece
  std::int64_t least_ns = std::numeric_limits<std::int64_t>::min();
  std::optional<std::int64_t> bound_lo_ns, bound_hi_ns;  // as in ClockFit
};

struct ClockFit : ClockLine {
  std::string host;
  std::string boot_id;              // clock domain; "" if unknown
  std::vector<std::int64_t> ranks;  // sorted; known ranks only
  // Number of samples of the estimate; 0 if the clock was not estimated
  std::uint64_t samples = 0;
  std::optional<std::int64_t> mad_ns;                    // median absolute deviation of the samples
  std::optional<std::int64_t> bound_lo_ns, bound_hi_ns;  // bounds of the true offset; empty if unknown
  std::string method;
  std::vector<ClockPiece> later;  // changes after the first line; sorted

  bool moves() const { return offset_ns != 0 || drift_ppm != 0 || !later.empty(); }
  // Returns true if the conversion preserves all time differences.
  bool is_rigid() const { return drift_ppm == 0 && later.empty(); }

  std::int64_t on_axis(std::int64_t ns) const {
    if (later.empty() || ns < later.front().from_ns) return ClockLine::on_axis(ns);
    const auto next = std::upper_bound(later.begin(), later.end(), ns,
                                       [](std::int64_t at, const ClockPiece& piece) { return at < piece.from_ns; });
    const ClockPiece& piece = *(next - 1);
    return std::max(piece.on_axis(ns), piece.least_ns);
  }

  // Returns the first time of the clock that is not before `axis_ns` on the common axis.
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

// Converts the events of one clock to the common axis, in their order. Converts start and end of a slice, so that
// nested slices stay nested.
class AxisPlacer {
 public:
  explicit AxisPlacer(const ClockFit* fit) : fit_(fit) {}  // null if the events are on the common axis already

  void place(Event& event) {
    if (fit_ == nullptr) return;
    const std::int64_t start_ns = event.start_ns;
    event.start_ns = fit_->on_axis(start_ns);
    if (fit_->is_rigid()) return;
    // The lines before and after a clock change may overlap.
    event.start_ns = last_ns_ = std::max(last_ns_, event.start_ns);
    if (!is_slice(event) || event.duration_ns <= 0 || event.duration_ns > kLatest_ns - start_ns) return;
    event.duration_ns = std::max<std::int64_t>(fit_->on_axis(start_ns + event.duration_ns) - event.start_ns, 0);
  }

 private:
  const ClockFit* fit_;
  std::int64_t last_ns_ = std::numeric_limits<std::int64_t>::min();
};

// Conversion between the clocks of a trace's processes and the common axis.
class ProcessClocks {
 public:
  ProcessClocks() = default;  // all times are on the common axis
  // Both must outlive this object.
  ProcessClocks(const Catalog& catalog, const std::vector<ClockFit>& fits) {
    for (const Process& process : catalog.processes) {
      const bool known = process.clock >= 0 && static_cast<std::size_t>(process.clock) < fits.size();
      of_.push_back(known && fits[static_cast<std::size_t>(process.clock)].moves()
                        ? &fits[static_cast<std::size_t>(process.clock)]
                        : nullptr);
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
  std::vector<const ClockFit*> of_;  // null if the times are on the common axis
};

// Converts the times of a step with `place`.
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
  if (of.first_ns == 0 && of.last_ns == 0) return;  // the process has no events
  of.first_ns = fit.on_axis(of.first_ns);
  of.last_ns = fit.on_axis(of.last_ns);
  for (Step& step : of.steps) step = moved(step, [&](std::int64_t ns) { return fit.on_axis(ns); });
}

// Ranges of plausible event times, per process. Some writers give GPU work that was never timed the time 0, or give an
// annotation that was never closed a duration of months. Readers exclude such events from Process::first_ns and last_ns
// (cli/formats/kineto/implausible_times.h). Events outside this range are kept and exported, but excluded from spans
// and sums.
class TimeBounds {
 public:
  // Expects events by each process's own clock if `clocks` converted the times of the catalogue to the common axis.
  explicit TimeBounds(const Catalog& catalog, const ProcessClocks& clocks = {}) {
    constexpr std::int64_t kRoom_ns = 43'200'000'000'000;  // half of the gap that separates events
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
