// The time of each device of each process in each of its windows.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "cli/analyze/analysis.h"
#include "cli/analyze/gpu_time.h"

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

 private:
  void add_rows(ProcessId process, std::optional<std::int64_t> device, const std::vector<GpuTime>& times,
                std::vector<Row>& rows) const;

  const AnalysisContext& context_;
  using Devices = std::map<std::pair<ProcessId, std::int64_t>, std::vector<GpuTime>>;  // by window
  Devices devices_;
  Devices::value_type* newest_ = nullptr;  // of them that of the work before
};

}  // namespace cli
