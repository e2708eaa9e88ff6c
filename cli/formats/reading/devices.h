// The GPUs of a process, and how many threads of a kernel they can hold.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

// How many threads of a kernel a multiprocessor can hold at once, from its launch and the GPU's limits: the arithmetic
// of NVIDIA's occupancy calculator (CUDA C++ Programming Guide, "Occupancy" and "Compute Capabilities";
// cuda_occupancy.h of the CUDA toolkit), and Kineto's estimates made of it (libkineto's DeviceProperties.cpp).
//
// One thing differs from Kineto: it takes the default limit of 48 KiB for the shared memory of a block, and so reports
// 0 for kernels that asked for more. They ran: only the multiprocessor's whole shared memory limits them here.

// Any numbers: those of a damaged recording make no launch.
struct LaunchShape {
  std::uint64_t blocks = 0;  // of the grid
  std::uint64_t threads_per_block = 0;
  std::uint32_t registers_per_thread = 0;
  std::uint64_t shared_bytes = 0;  // static and dynamic
};

// Blocks that a multiprocessor holds at once; nullopt where a limit of the GPU is unknown, or the launch cannot be.
std::optional<std::uint32_t> active_blocks(const Device& device, const LaunchShape& shape);

struct Occupancy {
  float blocks_per_multiprocessor = 0;  // of the grid, spread evenly: may be below 1
  float warps_per_multiprocessor = 0;
  std::optional<std::uint32_t> achieved_percent;  // of the threads that it could hold, if blocks are spread evenly
};

// nullopt where even the number of multiprocessors is unknown, or the launch cannot be: more than CUDA allows of any
// GPU (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
std::optional<Occupancy> estimate_occupancy(const Device& device, const LaunchShape& shape);

// What is known of the GPUs of a process: as a recording says it, or the header of a profile.

// Of a profile, of its "deviceProperties", where they can be read: name, memory_bytes and compute capability.
std::vector<Device> device_facts(const Process& process);
// Of the one with this number in the process.
std::optional<Device> device_facts(const Process& process, std::int64_t device);

// Returns the software versions in a profile, such as "CUDA runtime 12.6, CUDA driver 12.8", or "". For recordings see Process::recorder.
std::string software_text(const Process& process);

}  // namespace cli
