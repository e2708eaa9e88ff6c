
#include "cli/answers/rules/rule.h"
#include "cli/formats/reading/devices.h"
#include "cli/trace/ranks.h"

namespace cli::rules {
namespace {

bool has_any(const Process& process, KindSet kinds) {
  return std::ranges::any_of(kKinds, [&](const KindInfo& each) {
    const auto kind = static_cast<std::size_t>(each.kind);
    return kinds.test(kind) && process.counts[kind] > 0;
  });
}

// `has` returns true if a process with GPU work has the input.
template <typename Has>
std::string missing_of_processes(std::string_view what, const DiagnosisScope& scope, Has&& has) {
  std::vector<std::int64_t> ranks;
  bool has_some = false;
  for (ProcessId id = 0; id < scope.time.has_work.size(); ++id) {
    if (!scope.time.has_work[id]) continue;
    if (has(id))
      has_some = true;
    else
      ranks.push_back(scope.rank(id));
  }
  if (ranks.empty()) return {};
  std::string text = "no " + std::string(what);
  return has_some ? text + " of " + rank_list(ranks) : text + " in the trace";
}

std::string missing_kinds(std::string_view what, KindSet kinds, const DiagnosisScope& scope) {
  return missing_of_processes(what, scope,
                              [&](ProcessId id) { return has_any(scope.trace.catalog.processes[id], kinds); });
}

bool has_value(const std::vector<ResultTable>& tables, std::string_view name, std::string_view column) {
  const TableReading table(tables, name);
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (table.get<std::int64_t>(row, column)) return true;
  }
  return false;
}

bool knows_memory_size(const DiagnosisScope& scope, const std::vector<ResultTable>& tables) {
  const TableReading table(tables, "memory");
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const auto device = table.get<std::int64_t>(row, "device");
    for (const Process& process : scope.trace.catalog.processes) {
      const auto facts = device ? device_facts(process, *device) : std::nullopt;
      if (facts && facts->memory_bytes > 0) return true;
    }
  }
  return false;
}

std::string missing_collectives(const DiagnosisScope& scope) {
  const auto ranks =
      std::ranges::count_if(scope.trace.catalog.processes, [](const Process& process) { return process.rank >= 0; });
  const TraceCollectives* collectives = scope.trace.collectives;
  const std::string none = scope.time.has_communication
                               ? "no collectives that can be matched; table overlap shows communication time"
                               : "no collectives in the trace";
  if (collectives == nullptr) return none;
  const auto& matched = collectives->matched;
  const bool has_match =
      std::ranges::any_of(matched.collectives, [](const MatchedCollective& each) { return each.calls > 1; });
  if (has_match) return {};
  if (matched.collectives.empty() && matched.refusals.empty()) return none;
  return ranks < 2 ? "only one rank in the trace" : "collectives are not matched across ranks";
}

}  // namespace

std::string missing_input(RuleInput input, const DiagnosisScope& scope, const std::vector<ResultTable>& tables) {
  const auto& processes = scope.trace.catalog.processes;
  switch (input) {
    case RuleInput::launches:
      return missing_kinds("launch calls", kinds_of({Kind::runtime, Kind::driver}), scope);
    case RuleInput::host_ranges:
      return missing_kinds("operators or ranges", kinds_of({Kind::cpu_op, Kind::user_annotation, Kind::nvtx}), scope);
    case RuleInput::garbage_collections:
      return missing_kinds("Python garbage collections", kinds_of({Kind::garbage_collection}), scope);
    case RuleInput::overhead_records:
      return missing_kinds("CUPTI overhead records", kinds_of({Kind::overhead}), scope);
    case RuleInput::steps:
      return scope.time.steps > 0 ? "" : "no steps found";
    case RuleInput::passes:
      return has_value(tables, "step_phases", "backward_ns") ? "" : "forward and backward passes are unknown";
    case RuleInput::memory:
      return has_value(tables, "memory", "peak_bytes") ? "" : "no memory events in the trace";
    case RuleInput::device_memory:
      if (const auto memory = missing_input(RuleInput::memory, scope, tables); !memory.empty()) return memory;
      return knows_memory_size(scope, tables) ? "" : "the memory size of the GPU is unknown";
    case RuleInput::matched_collectives:
      return missing_collectives(scope);
    case RuleInput::recordings:
      return std::ranges::count(processes, SourceFormat::ring, &Process::format) > 0
                 ? ""
                 : "no recording by tracetool's agent";
  }
  return {};
}

}  // namespace cli::rules
