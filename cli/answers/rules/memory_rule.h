// Bases of the rules about memory. They judge the rows of the table memory, one per device of a rank.
#pragma once
#include "cli/answers/memory/holders.h"
#include "cli/answers/rules/rule.h"
#include "cli/formats/reading/devices.h"
#include "cli/trace/ranks.h"

namespace cli::rules {

// A row of the table; unknown values are empty.
struct DeviceMemory {
  std::int64_t rank = -1;
  std::int64_t device = -1;
  std::optional<std::int64_t> device_bytes;  // memory of the GPU
  std::optional<std::int64_t> start_bytes, peak_bytes, end_bytes, reserved_peak_bytes, growth_bytes_per_step,
      grew_in_steps, peak_step;
  std::int64_t steps = 0;
  std::optional<memory::Holders::Holder> holder = {};  // the code to change; empty if unknown
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
      DeviceMemory row_memory{.rank = rank,
                              .device = *device,
                              .device_bytes = bytes_of_device(rank, *device),
                              .start_bytes = number("start_bytes"),
                              .peak_bytes = number("peak_bytes"),
                              .end_bytes = number("end_bytes"),
                              .reserved_peak_bytes = number("reserved_peak_bytes"),
                              .growth_bytes_per_step = number("growth_bytes_per_step"),
                              .grew_in_steps = number("grew_in_steps"),
                              .peak_step = number("peak_step"),
                              .steps = table.number(row, "steps")};
      const auto badness = judge(row_memory);
      if (!badness) continue;
      row_memory.holder = holder_of(row_memory);
      finding.ranks.push_back(rank);
      if (finding.evidence.size() < kMostEvidence && row_memory.peak_bytes) {
        const std::int64_t peak_at_ns = table.number(row, "peak_at_ns");
        finding.evidence.push_back({rank, peak_at_ns, peak_at_ns + kShown_ns, evidence_text(row_memory)});
      }
      if (!worst || *badness > worst->first) worst = {*badness, row_memory};
    }
    if (!worst) return {};
    explain(worst->second, finding);
    return {finding};
  }

 protected:
  // Returns how severe the problem is; empty if there is none. The finding describes the worst device.
  virtual std::optional<double> judge(const DeviceMemory& memory) const = 0;
  // Sets title, advice and saving.
  virtual void explain(const DeviceMemory& worst, Finding& finding) const = 0;
  // Returns the code that a finding about this device names, and a text about it.
  virtual std::optional<memory::Holders::Holder> holder_of(const DeviceMemory& /*row*/) { return {}; }
  virtual std::string holder_text(const memory::Holders::Holder& /*holder*/) const { return {}; }

 private:
  std::string evidence_text(const DeviceMemory& row) const {
    std::string text =
        fmt::format("GPU {}: {} in use, the peak", row.device, bytes_text(static_cast<std::uint64_t>(*row.peak_bytes)));
    return row.holder ? text + "; " + holder_text(*row.holder) : text;
  }
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

// Base of the rules that name the code which allocated the memory.
class HeldMemoryRule : public MemoryRule {
 public:
  explicit HeldMemoryRule(const AnalysisContext& context)
      : MemoryRule(context), holders_(context.catalog, context.windows.host(), whole_steps(context).host()) {}

  void event(const Event& event, const Facts& facts) override { holders_.event(event, facts); }
  void end_of(ProcessId process) override { holders_.end_of(process); }

 protected:
  memory::Holders& holders() { return holders_; }
  // Calls find(process) for the processes of the row's rank and returns the result that belongs to the row: a rank may
  // have several processes, one per phase of its run.
  template <typename Find>
  std::optional<memory::Holders::Holder> holder_of_row(const DeviceMemory& row, Find&& find) const {
    for (ProcessId id = 0; id < context_.catalog.processes.size(); ++id) {
      if (context_.catalog.processes[id].rank != row.rank) continue;
      if (auto found = find(id); found && found->peak_bytes == row.peak_bytes) return found;
    }
    return {};
  }

 private:
  memory::Holders holders_;
};

}  // namespace cli::rules
