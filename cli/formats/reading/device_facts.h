// What is known of the GPUs of a process: as a recording says it, or the header of a profile.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

// Of a profile, of its "deviceProperties", where they can be read: name, memory_bytes and compute capability.
std::vector<Device> device_facts(const Process& process);
// Of the one with this number in the process.
std::optional<Device> device_facts(const Process& process, std::int64_t device);

// Returns the software versions in a profile, such as "CUDA runtime 12.6, CUDA driver 12.8", or "". For recordings see Process::recorder.
std::string software_text(const Process& process);

}  // namespace cli
