// Inputs that a rule needs in addition to GPU work. A rule without its inputs is "not checked", which differs from "nothing found".
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/answers/tables/analysis.h"

namespace cli::rules {

// The time that is diagnosed. Known when the walk is over.
struct DiagnosedTime {
  std::vector<std::int64_t> lengths_ns;  // by ProcessId: length of the chosen steps or time; otherwise from its first GPU work to the end of the last
  std::int64_t length_ns = 0;            // the largest of them; savings are shares of it
  std::int64_t steps = 0;                // number of steps in it, of the process with the most; 0 if none are known
  std::vector<bool> has_work{};          // by ProcessId: chosen, with GPU work
  bool has_communication = false;        // some of that work is communication
};

struct DiagnosisScope {
  const AnalysisContext& trace;  // of the rule; its times are as ObserverNeeds::collectives says (analysis.h)
  const DiagnosedTime& time;

  // Returns the time since the start of the trace, on the common axis.
  std::int64_t since_start(ProcessId id, std::int64_t ns) const { return trace.clocks.on_axis(id, ns) - trace.origin_ns; }
  std::int64_t rank(ProcessId id) const { return trace.catalog.processes[id].rank; }
};

enum class RuleInput : std::uint8_t {
  launches,              // CUDA calls that launch work
  host_ranges,           // operators or ranges of the program
  steps,                 // at least one in the diagnosed time
  passes,                // forward and backward passes (table step_phases)
  garbage_collections,   // of Python
  overhead_records,      // of CUPTI
  memory,                // memory in use (table memory)
  device_memory,         // and how much the GPU has
  matched_collectives,   // at least one that two ranks or more took part in; needs ObserverNeeds::collectives
  recordings,            // by tracetool's agent
};

// Returns why the rule cannot check the trace: "no launch calls in the trace", "no launch calls of rank 3"; "" if it has the input.
std::string missing_input(RuleInput input, const DiagnosisScope& scope, const std::vector<ResultTable>& tables);

}  // namespace cli::rules
