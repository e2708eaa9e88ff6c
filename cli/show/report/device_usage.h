// Usage of one device over a time range, in total and in equal parts of it.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "cli/timeline/gpu/gpu_intervals.h"

namespace cli::report {

// Lengths of unions, as in `analyze --only overlap`.
struct Usage {
  std::int64_t busy_ns = 0, compute_ns = 0, comm_ns = 0, exposed_comm_ns = 0, memory_ns = 0;
};

class DeviceUsage {
 public:
  // Counts in [from_ns, to_ns), in parts of part_ns; the last part may be shorter. `keeps_exposed` enables
  // exposed_times().
  DeviceUsage(std::int64_t from_ns, std::int64_t to_ns, std::int64_t part_ns, bool keeps_exposed = false)
      : keeps_exposed_(keeps_exposed),
        from_ns_(from_ns),
        to_ns_(to_ns),
        part_ns_(part_ns),
        parts_(static_cast<std::size_t>((to_ns - from_ns + part_ns - 1) / part_ns)) {}

  // Adds work in order of start_ns. It may lie outside of the time range.
  void work(WorkClass work_class, std::int64_t start_ns, std::int64_t end_ns) {
    start_ns = std::max(start_ns, from_ns_);
    end_ns = std::min(end_ns, to_ns_);
    if (start_ns < end_ns) intervals_.add(work_class, start_ns, end_ns, *this);
  }
  void finish() { intervals_.finish(*this); }

  const Usage& whole() const { return whole_; }
  const std::vector<Usage>& parts() const { return parts_; }

  // Returns the times in which communication ran without compute, sorted.
  const std::vector<std::pair<std::int64_t, std::int64_t>>& exposed_times() const { return exposed_times_; }

  // Callbacks of intervals_.
  void gap(std::int64_t, std::int64_t) {}
  void busy(std::int64_t start_ns, std::int64_t until_ns) {
    spread(std::max(start_ns, busy_to_ns_), until_ns, &Usage::busy_ns);
    busy_to_ns_ = std::max(busy_to_ns_, until_ns);
  }
  void ran(WorkClass work_class, std::int64_t from_ns, std::int64_t to_ns) {
    spread(from_ns, to_ns,
           work_class == WorkClass::comm     ? &Usage::comm_ns
           : work_class == WorkClass::memory ? &Usage::memory_ns
                                             : &Usage::compute_ns);
  }
  void exposed(std::int64_t from_ns, std::int64_t to_ns) {
    spread(from_ns, to_ns, &Usage::exposed_comm_ns);
    if (keeps_exposed_ && from_ns < to_ns) exposed_times_.emplace_back(from_ns, to_ns);
  }

 private:
  void spread(std::int64_t from_ns, std::int64_t to_ns, std::int64_t Usage::*sum) {
    if (from_ns >= to_ns) return;
    whole_.*sum += to_ns - from_ns;
    for (std::int64_t at = from_ns; at < to_ns;) {
      const std::int64_t part = (at - from_ns_) / part_ns_, end = std::min(to_ns, from_ns_ + (part + 1) * part_ns_);
      parts_[static_cast<std::size_t>(part)].*sum += end - at;
      at = end;
    }
  }

  bool keeps_exposed_;
  std::int64_t from_ns_, to_ns_, part_ns_;
  std::int64_t busy_to_ns_ = from_ns_;
  GpuIntervals intervals_;
  Usage whole_;
  std::vector<Usage> parts_;
  std::vector<std::pair<std::int64_t, std::int64_t>> exposed_times_;
};

}  // namespace cli::report
