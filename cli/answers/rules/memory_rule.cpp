#include "cli/answers/rules/memory_rule.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/base/text.h"
#include "cli/formats/reading/devices.h"

namespace cli::rules {
namespace {

constexpr std::int64_t kShown_ns = 1000;  // length of the evidence, because a peak has none

std::optional<std::int64_t> bytes_of_device(const Catalog& catalog, std::int64_t rank, std::int64_t device) {
  for (const Process& process : catalog.processes) {
    if (process.rank != rank) continue;
    const auto facts = device_facts(process, device);
    if (facts && facts->memory_bytes > 0) return static_cast<std::int64_t>(facts->memory_bytes);
  }
  return std::nullopt;
}

}  // namespace

std::vector<Finding> MemoryRule::find(const DiagnosisScope& scope, const std::vector<ResultTable>& tables) {
  const TableReading table(tables, "memory");
  Finding finding;
  std::optional<std::pair<double, DeviceMemory>> worst;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto device = table.get<std::int64_t>(row, "device");
    if (!device) continue;
    DeviceMemory memory;
    memory.rank = table.get<std::int64_t>(row, "rank").value_or(-1);
    memory.device = *device;
    memory.device_bytes = bytes_of_device(context_.catalog, memory.rank, *device);
    memory.peak_bytes = table.get<std::int64_t>(row, "peak_bytes");
    memory.end_bytes = table.get<std::int64_t>(row, "end_bytes");
    memory.reserved_peak_bytes = table.get<std::int64_t>(row, "reserved_peak_bytes");
    memory.growth_bytes_per_step = table.get<std::int64_t>(row, "growth_bytes_per_step");
    memory.grew_in_steps = table.get<std::int64_t>(row, "grew_in_steps");
    memory.peak_step = table.get<std::int64_t>(row, "peak_step");
    memory.peak_at_ns = table.number(row, "peak_at_ns");
    memory.steps = table.number(row, "steps");
    const auto badness = judge(memory);
    if (!badness) continue;
    finding.ranks.push_back(memory.rank);
    if (finding.evidence.size() < kMostEvidence && memory.peak_bytes) {
      finding.evidence.push_back({memory.rank, memory.peak_at_ns, memory.peak_at_ns + kShown_ns,
                                  fmt::format("GPU {}: {} in use, the peak", memory.device,
                                              bytes_text(static_cast<std::uint64_t>(*memory.peak_bytes)))});
    }
    if (!worst || *badness > worst->first) worst = {*badness, memory};
  }
  if (!worst) return {};
  explain(scope, worst->second, finding);
  return {finding};
}

}  // namespace cli::rules
