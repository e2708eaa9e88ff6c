// The time of each device of each process in each of its windows.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/answers/tables/analysis.h"
#include "cli/answers/tables/gpu_time.h"

namespace cli {

class DeviceTimes {
 public:
  explicit DeviceTimes(const AnalysisContext& context) : context_(context) {}
  DeviceTimes(const DeviceTimes&) = delete;
  DeviceTimes& operator=(const DeviceTimes&) = delete;

  // By start_ns ascending: all work that runs in the windows (ObserverNeeds::by_time).
  void add(const GpuWork& work);

  struct Row {
    ProcessId process = 0;
    std::optional<std::int64_t> device;  // none: the process has no GPU work in any of its windows
    AnalysisWindow window;               // where windows are steps
    DeviceTime time;
  };
  // By process, device, then window. Where windows are steps, a row for each; else one for all windows of a device.
  std::vector<Row> rows() const;
  // If rows are steps: how long the first step begins before the first GPU work of the trace, which a row of the whole trace begins with.
  std::vector<std::string> notes() const;

 private:
  void add_rows(ProcessId process, std::optional<std::int64_t> device, const std::vector<GpuTime>& times,
                std::vector<Row>& rows) const;

  const AnalysisContext& context_;
  using Devices = std::map<std::pair<ProcessId, std::int64_t>, std::vector<GpuTime>>;  // by window
  Devices devices_;
  std::map<std::pair<ProcessId, std::int64_t>, std::int64_t> first_ns_;  // by device: the start of its first work
  Devices::value_type* newest_ = nullptr;  // of them that of the work before
};

}  // namespace cli
