// The memory of GPUs over time, and what was in use at the peak, for the section Memory of a report.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/answers/memory/from_trace.h"
#include "cli/answers/memory/memory_tables.h"
#include "cli/base/text.h"
#include "cli/show/report/memory_chart.h"
#include "cli/show/report/section.h"
#include "cli/show/report/table_html.h"

namespace cli::report {
namespace {

constexpr std::size_t kMostMemoryCharts = 4, kMostPeakRows = 50;

// Replays the memory of the chosen processes.
std::vector<memory::Input> replayed_memory(const AnalysisContext& context, std::vector<snapshot::Snapshot> snapshots) {
  std::vector<memory::Input> inputs;
  for (ProcessId id = 0; id < snapshots.size(); ++id) {
    if (context.chosen[id]) inputs.push_back(memory::replayed(std::move(snapshots[id]), context.catalog.processes[id]));
  }
  return inputs;
}

// Removes all GPUs except those with the highest peaks. Returns true if it removed any.
bool keep_fullest_gpus(std::vector<memory::Input>& inputs, std::size_t most) {
  std::vector<std::pair<std::uint64_t, const memory::DeviceMemory*>> peaks;
  for (const memory::Input& input : inputs) {
    for (const memory::DeviceMemory& device : input.devices) peaks.emplace_back(device.peak_bytes, &device);
  }
  if (peaks.size() <= most) return false;
  std::ranges::stable_sort(peaks, std::greater(), [](const auto& peak) { return peak.first; });
  std::set<const memory::DeviceMemory*> kept;
  for (std::size_t i = 0; i < most; ++i) kept.insert(peaks[i].second);
  for (memory::Input& input : inputs) {
    std::vector<memory::DeviceMemory> devices;
    for (memory::DeviceMemory& device : input.devices) {
      if (kept.contains(&device)) devices.push_back(std::move(device));
    }
    input.devices = std::move(devices);
  }
  return true;
}

void write_gpu(Html& page, memory::Input& input, const memory::DeviceMemory& device, const std::string& command) {
  page.element("h3",
               fmt::format("{}, GPU {}", input.rank ? fmt::format("rank {}", *input.rank) : input.name, device.device));
  page.element(
      "p", {{"class", "sentence"}},
      fmt::format("The peak is {}, {} after the first allocation in the trace.{}", bytes_text(device.peak_bytes),
                  duration_text((device.peak_time_us - device.first_time_us) * 1000),
                  device.reserved_peak_bytes == 0
                      ? ""
                      : fmt::format(" The allocator reserved at most {}.", bytes_text(device.reserved_peak_bytes))));
  write_memory_chart(page, input, device, memory::GroupBy::category);
  input.devices = {device};
  write_folded_table(page, memory::in_use_table({&input, 1}, {}, memory::GroupBy::line), "what was in use at the peak",
                     kMostPeakRows, command);
}

class MemoryObserver : public TablesObserver {
 public:
  MemoryObserver(const AnalysisContext& context, const std::string& inputs, std::string& markup)
      : context_(context), command_("tracetool mem " + inputs), markup_(markup), memory_(context.catalog) {}

  void event(const Event& event, const Facts& facts) override { memory_.event(event, facts); }
  void finish(const std::vector<ResultTable>&) override {
    Html page;
    std::vector<memory::Input> inputs = replayed_memory(context_, memory_.finish());
    if (keep_fullest_gpus(inputs, kMostMemoryCharts)) {
      write_paragraph(page,
                      fmt::format("The {} GPUs with the highest peaks are shown over time. All: {} --html memory.html",
                                  kMostMemoryCharts, command_));
    }
    for (memory::Input& input : inputs) {
      for (const memory::DeviceMemory& device : std::exchange(input.devices, {}))
        write_gpu(page, input, device, command_);
    }
    markup_ = page.all();
  }

 private:
  const AnalysisContext& context_;
  std::string command_;
  std::string& markup_;
  memory::TraceMemory memory_;
};

}  // namespace

TablesObserverEntry memory_observer(const std::string& inputs, std::string& markup) {
  return {{.kinds = memory::TraceMemory::kinds()}, [inputs, &markup](const AnalysisContext& context) {
            return std::make_unique<MemoryObserver>(context, inputs, markup);
          }};
}

}  // namespace cli::report
