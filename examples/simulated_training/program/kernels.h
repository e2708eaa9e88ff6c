// The kernels of the simulated model: names as CUPTI tells them (mangled), resources, launch sizes and shares of a
// step.
#pragma once
#include <cstdint>
#include <span>
#include <string>

namespace sim {

enum class Launcher : std::uint8_t { runtime, driver, cooperative };  // driver: as Triton launches; cooperative: by the driver too

struct Kernel {
  const char* name;
  std::uint32_t registers, static_shared_bytes, local_bytes;
  std::uint32_t grid_x, grid_y, block_x, dynamic_shared_bytes;
  Launcher launcher;
  std::uint32_t weight;  // its time, in shares
  std::uint32_t cluster_x = 0, cluster_y = 0;  // as cuBLAS launches with cudaLaunchKernelExC; 0: in no clusters
};

// Per layer, in launch order; a layer's grid is grid_x times 1 + layer % 3.
std::span<const Kernel> forward_kernels();
std::span<const Kernel> backward_kernels();
// Once per step.
std::span<const Kernel> loss_kernels();
std::span<const Kernel> optimizer_kernels();
const Kernel& all_reduce_kernel();
const Kernel& send_receive_kernel();

// The module that holds all of them (standin/work.h).
std::string module_image();

}  // namespace sim
