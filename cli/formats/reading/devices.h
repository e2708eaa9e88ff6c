// The GPUs of a process, and the occupancy of kernels.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli {

// Computes the number of threads of a kernel that a multiprocessor can hold at once, from its launch configuration and
// the limits of the GPU. Uses the arithmetic of NVIDIA's occupancy calculator (CUDA C++ Programming Guide, "Occupancy"
// and "Compute Capabilities"; cuda_occupancy.h of the CUDA toolkit) and of Kineto's estimates based on it (libkineto's
// DeviceProperties.cpp).
//
// There is one difference from Kineto, which uses the default limit of 48 KiB for the shared memory of a block and so
// reports 0 for kernels that requested more. These kernels ran, so only the multiprocessor's total shared memory limits
// them here.

// May have any values: those of a damaged recording result in no estimate.
struct LaunchShape {
  std::uint64_t blocks = 0;  // in the grid
  std::uint64_t threads_per_block = 0;
  std::uint32_t registers_per_thread = 0;
  std::uint64_t shared_bytes = 0;  // static and dynamic
};

// Returns the number of blocks that a multiprocessor holds at once; nullopt if a limit of the GPU is unknown, or the
// launch is impossible.
std::optional<std::uint32_t> active_blocks(const Device& device, const LaunchShape& shape);

struct Occupancy {
  float blocks_per_multiprocessor = 0;  // blocks of the grid, distributed evenly; may be below 1
  float warps_per_multiprocessor = 0;
  std::optional<std::uint32_t> achieved_percent;  // of the maximum number of threads, if blocks are distributed evenly
};

// Returns nullopt if the number of multiprocessors is unknown, or the launch is impossible because it exceeds the
// limits of all GPUs (CUDA C++ Programming Guide, "Technical Specifications per Compute Capability").
std::optional<Occupancy> estimate_occupancy(const Device& device, const LaunchShape& shape);

// GPU properties of a process, from a recording or the header of a profile.

// For a profile, parses its "deviceProperties": name, memory_bytes and compute capability.
std::vector<Device> device_facts(const Process& process);
// Returns the device with this number in the process.
std::optional<Device> device_facts(const Process& process, std::int64_t device);

// Returns the software versions in a profile, such as "CUDA runtime 12.6, CUDA driver 12.8", or "". For recordings see Process::recorder.
std::string software_text(const Process& process);

}  // namespace cli
