#include "cli/answers/tables/gpu_time.h"

#include <fmt/format.h>

#include "cli/base/text.h"

namespace cli {

void DeviceTimes::add(const GpuWork& work) {
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

std::vector<std::string> DeviceTimes::notes() const {
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

}  // namespace cli
