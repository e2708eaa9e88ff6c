// The tables of `tracetool mem`.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/answers/memory/categories.h"
#include "cli/answers/memory/replay.h"
#include "cli/answers/memory/subjects.h"
#include "cli/answers/tables/analysis_table.h"

namespace cli::memory {

// The snapshot of one process, and its replayed devices.
struct Input {
  snapshot::Snapshot snapshot;
  std::string name;                  // file name without its directory
  std::optional<std::int64_t> rank;  // from the name of the file or its directory, or from the trace
  std::vector<DeviceMemory> devices;
};

// Replays the snapshot of a process of a trace.
Input replayed(snapshot::Snapshot snapshot, const Process& process);

// A moment in the history of a device.
struct Moment {
  enum class Kind : std::uint8_t { peak, end, first_failure, end_of_step, peak_of_part };

  Kind kind = Kind::peak;
  std::size_t step = 0;       // index in Parts::step_ends()
  Part part = Part::unknown;  // of peak_of_part
};

// Returns one row per device: memory in use and reserved at the start, the peak and the end, and whether the sums
// agree.
ResultTable device_table(const std::vector<Input>& inputs);
// Returns the sum and the largest of all devices' peaks. It has one row, or none if there are fewer than two devices.
ResultTable all_devices_table(const std::vector<Input>& inputs);
// Returns the peak in each part of the training steps. Histories with fewer than two known parts have no rows.
ResultTable phase_table(const std::vector<Input>& inputs);
// Returns the memory in use at a moment by device and group, largest groups of a device first.
ResultTable in_use_table(std::span<const Input> inputs, const Moment& moment, GroupBy by);
// Returns what checkpointing each module with activations would free at a moment. A device on which it frees nothing has
// no rows.
ResultTable checkpointing_table(const std::vector<Input>& inputs, const Moment& moment);
// Compares the memory in use at a moment in two sets of snapshots. Groups are summed over all files and devices.
ResultTable change_table(const std::vector<Input>& inputs, const std::vector<Input>& baseline, const Moment& moment,
                         GroupBy by);
// Returns the groups that grew from step to step, largest growth of a device first. Histories with fewer than 3 steps have no rows.
ResultTable growth_table(const std::vector<Input>& inputs, GroupBy by);
// Returns one row per allocation that failed.
ResultTable failure_table(const std::vector<Input>& inputs);
// Returns the free memory of the allocator at the end of the history. Inputs without segments have no rows.
ResultTable fragmentation_table(const std::vector<Input>& inputs);

}  // namespace cli::memory
