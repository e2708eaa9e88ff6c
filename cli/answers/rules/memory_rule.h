// Base of the rules about memory. They judge the rows of the table memory, one per device of a rank.
#pragma once
#include "cli/answers/rules/rule.h"
#include "cli/formats/reading/devices.h"
#include "cli/trace/ranks.h"

namespace cli::rules {

// A row of the table; unknown values are empty.
struct DeviceMemory {
  std::int64_t rank = -1;
  std::int64_t device = -1;
  std::optional<std::int64_t> device_bytes;  // memory of the GPU
  std::optional<std::int64_t> peak_bytes, end_bytes, reserved_peak_bytes, growth_bytes_per_step, grew_in_steps,
      peak_step;
  std::int64_t steps = 0;
};

class MemoryRule : public Rule {
 public:
  using Rule::Rule;

  std::vector<Finding> find(const DiagnosisScope&, const std::vector<ResultTable>& tables) override {
    const TableReading table(tables, "memory");
    Finding finding;
    std::optional<std::pair<double, DeviceMemory>> worst;
    for (std::size_t row = 0; row < table.rows(); ++row) {
      const auto number = [&](std::string_view key) { return table.get<std::int64_t>(row, key); };
      const auto device = number("device");
      if (!device) continue;
      const std::int64_t rank = number("rank").value_or(-1);
      const DeviceMemory memory{.rank = rank,
                                .device = *device,
                                .device_bytes = bytes_of_device(rank, *device),
                                .peak_bytes = number("peak_bytes"),
                                .end_bytes = number("end_bytes"),
                                .reserved_peak_bytes = number("reserved_peak_bytes"),
                                .growth_bytes_per_step = number("growth_bytes_per_step"),
                                .grew_in_steps = number("grew_in_steps"),
                                .peak_step = number("peak_step"),
                                .steps = table.number(row, "steps")};
      const auto badness = judge(memory);
      if (!badness) continue;
      finding.ranks.push_back(rank);
      if (finding.evidence.size() < kMostEvidence && memory.peak_bytes) {
        const std::int64_t peak_at_ns = table.number(row, "peak_at_ns");
        finding.evidence.push_back({rank, peak_at_ns, peak_at_ns + kShown_ns,
                                    fmt::format("GPU {}: {} in use, the peak", *device,
                                                bytes_text(static_cast<std::uint64_t>(*memory.peak_bytes)))});
      }
      if (!worst || *badness > worst->first) worst = {*badness, memory};
    }
    if (!worst) return {};
    explain(worst->second, finding);
    return {finding};
  }

 protected:
  // Returns how severe the problem is; empty if there is none. The finding describes the worst device.
  virtual std::optional<double> judge(const DeviceMemory& memory) const = 0;
  // Sets title and advice.
  virtual void explain(const DeviceMemory& worst, Finding& finding) const = 0;

 private:
  static constexpr std::int64_t kShown_ns = 1000;  // length of the evidence, because a peak has none

  std::optional<std::int64_t> bytes_of_device(std::int64_t rank, std::int64_t device) const {
    for (const Process& process : context_.catalog.processes) {
      if (process.rank != rank) continue;
      const auto facts = device_facts(process, device);
      if (facts && facts->memory_bytes > 0) return static_cast<std::int64_t>(facts->memory_bytes);
    }
    return std::nullopt;
  }
};

}  // namespace cli::rules
