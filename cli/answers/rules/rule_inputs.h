// Inputs that a rule needs in addition to GPU work. A rule without its inputs is reported as "not checked", which
// differs from "nothing found".
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/answers/tables/analysis.h"

namespace cli::rules {

// The diagnosed time. Known after the walk.
struct DiagnosedTime {
  // By ProcessId: length of the chosen steps or time; otherwise from the start of its first GPU work to the end of the
  // last
  std::vector<std::int64_t> lengths_ns;
  std::int64_t length_ns = 0;      // the largest length; savings are shares of it
  std::int64_t steps = 0;          // number of steps in that time, of the process with the most; 0 if unknown
  std::vector<bool> has_work{};    // by ProcessId: chosen and with GPU work
  bool has_communication = false;  // some of that work is communication
};

struct DiagnosisScope {
  const AnalysisContext& trace;  // context of the rule; see ObserverNeeds::collectives for its times
  const DiagnosedTime& time;

  // Returns the time since the start of the trace, on the common axis.
  std::int64_t since_start(ProcessId id, std::int64_t ns) const {
    return trace.clocks.on_axis(id, ns) - trace.origin_ns;
  }
  std::int64_t rank(ProcessId id) const { return trace.catalog.processes[id].rank; }
};

enum class RuleInput : std::uint8_t {
  launches,             // CUDA calls that launch work
  host_ranges,          // operators or ranges of the program
  steps,                // at least one in the diagnosed time
  passes,               // forward and backward passes (table step_phases)
  garbage_collections,  // Python's garbage collections
  overhead_records,     // CUPTI's overhead records
  memory,               // memory in use (table memory)
  device_memory,        // memory in use and total memory of the GPU
  matched_collectives,  // at least one with two or more ranks; needs ObserverNeeds::collectives
  recordings,           // made by tracetool's agent
};

// Returns why the rule cannot check the trace ("no launch calls in the trace", "no launch calls of rank 3"); "" if it
// has the input.
std::string missing_input(RuleInput input, const DiagnosisScope& scope, const std::vector<ResultTable>& tables);

}  // namespace cli::rules
