#include "cli/analyze/device_times.h"

namespace cli {

void DeviceTimes::add(const GpuWork& work) {
  const auto& windows = context_.windows.of(work.process);
  const std::pair device(work.process, work.device);
  if (newest_ == nullptr || newest_->first != device) newest_ = &*devices_.try_emplace(device, windows.size()).first;
  std::vector<GpuTime>& times = newest_->second;
  context_.windows.each_part(work.process, work.start_ns, work.end_ns,
                             [&](std::size_t i, std::int64_t start_ns, std::int64_t end_ns) { times[i].add(work.work_class, start_ns, end_ns); });
}

void DeviceTimes::add_rows(ProcessId process, std::optional<std::int64_t> device, const std::vector<GpuTime>& times,
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

std::vector<DeviceTimes::Row> DeviceTimes::rows() const {
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

}  // namespace cli
