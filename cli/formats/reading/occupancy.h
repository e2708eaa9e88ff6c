// How many threads of a kernel a multiprocessor can hold at once, from its launch and the GPU's limits: the arithmetic
// of NVIDIA's occupancy calculator (CUDA C++ Programming Guide, "Occupancy" and "Compute Capabilities";
// cuda_occupancy.h of the CUDA toolkit), and Kineto's estimates made of it (libkineto's DeviceProperties.cpp).
//
// One thing differs from Kineto: it takes the default limit of 48 KiB for the shared memory of a block, and so reports
// 0 for kernels that asked for more. They ran: only the multiprocessor's whole shared memory limits them here.
#pragma once
#include <cstdint>
#include <optional>

#include "cli/trace/recording.h"

namespace cli {

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

}  // namespace cli
