// The tables of `tracetool mem`.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/answers/memory/replay.h"
#include "cli/answers/memory/subjects.h"
#include "cli/answers/tables/analysis_table.h"

namespace cli::memory {

// A snapshot of one process.
struct Input {
  snapshot::Snapshot snapshot;
  std::string name;                  // of the file, for people
  std::optional<std::int64_t> rank;  // from the name of the file
  std::vector<DeviceMemory> devices;
};

// One row per device: what was in use and reserved at the start, the peak and the end, and whether the sums agree.
ResultTable device_table(const std::vector<Input>& inputs);
// What was in use at the peak, grouped.
ResultTable peak_table(const std::vector<Input>& inputs, GroupBy by);
// Free memory at the end of the history: what the allocator holds and cannot use.
ResultTable fragmentation_table(const std::vector<Input>& inputs);

}  // namespace cli::memory
