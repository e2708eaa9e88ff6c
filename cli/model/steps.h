// The training steps of a trace, as its programs named them: ProfilerStep#N, NVTX ranges such as "Train step N".
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace cli {

struct Step {
  std::int64_t number = 0;
  std::int64_t start_ns = 0, end_ns = 0;  // of the range on the host

  bool operator==(const Step&) const = default;
};

// By ProcessId; ascending by start. Empty where a process named none.
using Steps = std::vector<std::vector<Step>>;

// What was found of one process.
struct ProcessSteps {
  std::string found_by;                    // the family of names (select/step_name.h); "": it named no steps
  std::int64_t first_ns = 0, last_ns = 0;  // of all its events but the ends of flows; 0, 0: it has none
  std::vector<Step> steps;                 // ascending by start
};

}  // namespace cli
