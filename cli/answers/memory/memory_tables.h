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

// A moment in the history of a device.
struct Moment {
  enum class Kind : std::uint8_t { peak, end, first_failure, end_of_step };

  Kind kind = Kind::peak;
  std::size_t step = 0;  // from 0, counted by the optimizer's runs
};

// One row per device: what was in use and reserved at the start, the peak and the end, and whether the sums agree.
ResultTable device_table(const std::vector<Input>& inputs);
// What was in use at a moment, grouped.
ResultTable in_use_table(const std::vector<Input>& inputs, const Moment& moment, GroupBy by);
// The same of two sets of snapshots, and their difference. Sums over devices and files.
ResultTable change_table(const std::vector<Input>& inputs, const std::vector<Input>& baseline, const Moment& moment,
                         GroupBy by);
// Groups that grew from step to step. Empty for histories with less than 3 steps.
ResultTable growth_table(const std::vector<Input>& inputs, GroupBy by);
// Allocations that failed.
ResultTable failure_table(const std::vector<Input>& inputs);
// Free memory at the end of the history: what the allocator holds and cannot use.
ResultTable fragmentation_table(const std::vector<Input>& inputs);

}  // namespace cli::memory
