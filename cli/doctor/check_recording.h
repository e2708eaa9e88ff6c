// What one recording says of how it was recorded.
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

// A recording that was read: its process, CUPTI's and the driver's overhead by name, how many kernels are NCCL's, and of how many
// operators of PyTorch the inputs and the stacks are known.
struct ReadRecording {
  Process process;
  std::map<std::string, OwnCost> overhead;
  std::uint64_t nccl_kernels = 0;
  std::uint64_t with_inputs = 0, with_stack = 0;
  std::int64_t copied_ns = 0;  // wall clock of a copy (FORMAT.md); 0: it is the ring itself
};

// Reads it whole. Throws Error.
ReadRecording read_recording(const std::string& path);

// CUPTI, losses, heartbeat, notices, what it cost. `now_ns`: the wall clock, for the age of the heartbeat.
CheckResults check_recording(const ReadRecording& recording, std::int64_t now_ns);

}  // namespace cli::doctor
