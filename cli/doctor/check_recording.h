// Checks one recording.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "cli/doctor/checks.h"
#include "cli/trace/catalog.h"

namespace cli::doctor {

struct OwnCost {
  std::uint64_t count = 0;
  std::int64_t ns = 0;
};

// A recording that was read: its process, the overhead of CUPTI and the driver by name, the number of NCCL kernels, and
// the number of PyTorch's operators with known inputs and stacks, and of its allocations.
struct ReadRecording {
  Process process;
  std::map<std::string, OwnCost> overhead;
  std::uint64_t nccl_kernels = 0;
  std::uint64_t with_inputs = 0, with_stack = 0, allocations = 0;
  std::int64_t copied_ns = 0;  // wall clock of a copy (FORMAT.md); 0 for the ring itself
};

// Reads the whole recording. Throws Error.
ReadRecording read_recording(const std::string& path);

// Checks CUPTI, losses, heartbeat, notices and cost. `now_ns` is the wall clock, for the age of the heartbeat.
CheckResults check_recording(const ReadRecording& recording, std::int64_t now_ns);

}  // namespace cli::doctor
