// Exact division of one device's time (gpu_intervals.h).
//
//   busy     union of all work                     idle     span - busy
//   comm     union of communication                compute  union of the other kernels
//   memory   union of copies and memsets           exposed  comm that does not overlap with compute
#pragma once
#include <map>

#include "cli/answers/tables/analysis.h"
#include "cli/base/text.h"
#include "cli/timeline/gpu/gpu_intervals.h"

namespace cli {

struct DeviceTime {
  std::int64_t span_ns = 0;  // from the first start to the last end, or the length of a window
  std::int64_t busy_ns = 0, compute_ns = 0, comm_ns = 0, memory_ns = 0, exposed_comm_ns = 0;
  std::int64_t idle_ns() const { return span_ns - busy_ns; }
  std::int64_t overlap_ns() const { return comm_ns - exposed_comm_ns; }  // communication and compute at once
  DeviceTime& operator+=(const DeviceTime& other) {
    span_ns += other.span_ns;
    busy_ns += other.busy_ns;
    compute_ns += other.compute_ns;
    comm_ns += other.comm_ns;
    memory_ns += other.memory_ns;
    exposed_comm_ns += other.exposed_comm_ns;
    return *this;
  }
};

class GpuTime {
 public:
  // Adds work in order of start_ns. Requires start_ns <= end_ns.
  void add(WorkClass work_class, std::int64_t start_ns, std::int64_t end_ns) {
    intervals_.add(work_class, start_ns, end_ns, sums_);
  }

  // Returns the time of all work added so far.
  DeviceTime time() const {
    GpuIntervals intervals = intervals_;
    Sums sums = sums_;
    intervals.finish(sums);
    const std::int64_t span_ns = intervals.span_ns();
    const auto of = [&](WorkClass work_class) { return sums.class_ns[static_cast<std::size_t>(work_class)]; };
    return {span_ns,        span_ns - sums.gaps_ns, of(WorkClass::compute), of(WorkClass::comm), of(WorkClass::memory),
            sums.exposed_ns};
  }

 private:
  struct Sums {
    void gap(std::int64_t from_ns, std::int64_t to_ns) { gaps_ns += to_ns - from_ns; }
    void busy(std::int64_t, std::int64_t) {}
    void ran(WorkClass work_class, std::int64_t from_ns, std::int64_t to_ns) {
      class_ns[static_cast<std::size_t>(work_class)] += to_ns - from_ns;
    }
    void exposed(std::int64_t from_ns, std::int64_t to_ns) { exposed_ns += to_ns - from_ns; }

    std::array<std::int64_t, 3> class_ns{};
    std::int64_t gaps_ns = 0, exposed_ns = 0;
  };

  GpuIntervals intervals_;
  Sums sums_;
};

// The time of each device of each process in each of its windows.
class DeviceTimes {
 public:
  explicit DeviceTimes(const AnalysisContext& context) : context_(context) {}
  DeviceTimes(const DeviceTimes&) = delete;
  DeviceTimes& operator=(const DeviceTimes&) = delete;

  // Adds work in order of start_ns: all work that runs in the windows (ObserverNeeds::by_time).
  void add(const GpuWork& work) {
    const auto& windows = context_.windows.of(work.process);
    const std::pair device(work.process, work.device);
    if (newest_ == nullptr || newest_->first != device) {
      newest_ = &*devices_.try_emplace(device, windows.size()).first;
      first_ns_.try_emplace(device, work.start_ns);
    }
    std::vector<GpuTime>& times = newest_->second;
    context_.windows.each_part(work.process, work.start_ns, work.end_ns,
                               [&](std::size_t i, std::int64_t start_ns, std::int64_t end_ns) {
                                 times[i].add(work.work_class, start_ns, end_ns);
                               });
  }

  struct Row {
    ProcessId process = 0;
    std::optional<std::int64_t> device;  // empty if the process has no GPU work in any of its windows
    AnalysisWindow window;               // if windows are steps
    DeviceTime time;
  };
  // Returns rows sorted by process, device and window. One row per step if windows are steps; else one row per device
  // for all windows.
  std::vector<Row> rows() const {
    std::vector<Row> rows;
    for (ProcessId process = 0; process < context_.catalog.processes.size(); ++process) {
      if (!context_.chosen[process]) continue;
      auto device = devices_.lower_bound({process, std::numeric_limits<std::int64_t>::min()});
      if (device == devices_.end() || device->first.first != process) add_rows(process, std::nullopt, {}, rows);
      for (; device != devices_.end() && device->first.first == process; ++device) {
        add_rows(process, device->first.second, device->second, rows);
      }
    }
    return rows;
  }
  // If rows are steps, contains the time from the first step's begin to the first GPU work of the trace, at which a row
  // of the whole trace begins.
  std::vector<std::string> notes() const {
    if (context_.keys.by != GroupBy::step) return {};
    std::int64_t longest_ns = 0, number = 0, devices = 0;
    for (const auto& [device, first_ns] : first_ns_) {
      const std::vector<Step>& steps = context_.steps[device.first];
      if (steps.empty() || steps.front().from_ns() != steps.front().start_ns || steps.front().from_ns() >= first_ns)
        continue;
      ++devices;
      if (first_ns - steps.front().from_ns() > longest_ns)
        longest_ns = first_ns - steps.front().from_ns(), number = steps.front().number;
    }
    if (devices == 0) return {};
    return {fmt::format(
        "step {} begins {}{} before the first GPU work in the trace; rows of the whole trace exclude that idle time",
        number, devices > 1 ? "up to " : "", duration_text(longest_ns))};
  }

 private:
  void add_rows(ProcessId process, std::optional<std::int64_t> device, const std::vector<GpuTime>& times,
                std::vector<Row>& rows) const {
    const auto& windows = context_.windows.of(process);
    for (std::size_t i = 0; i < windows.size(); ++i) {
      DeviceTime time = i < times.size() ? times[i].time() : DeviceTime{};
      if (context_.windows.are_bounded()) time.span_ns = windows[i].to_ns - windows[i].from_ns;
      if (i == 0 || windows[i].step) {
        rows.push_back({process, device, windows[i], time});
      } else {
        rows.back().time += time;
      }
    }
  }

  const AnalysisContext& context_;
  using Devices = std::map<std::pair<ProcessId, std::int64_t>, std::vector<GpuTime>>;  // by window
  Devices devices_;
  std::map<std::pair<ProcessId, std::int64_t>, std::int64_t> first_ns_;  // start of the first work of each device
  Devices::value_type* newest_ = nullptr;                                // the entry used for the previous work
};

}  // namespace cli
