// The kernels of the simulated models: names as CUPTI tells them (mangled), resources, launch sizes and shares of a
// step.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace sim {

enum class Launcher : std::uint8_t {
  runtime,
  driver,
  cooperative
};  // driver: as Triton launches; cooperative: by the driver too

struct Kernel {
  const char* name;
  std::uint32_t registers, static_shared_bytes, local_bytes;
  std::uint32_t grid_x, grid_y, block_x, dynamic_shared_bytes;
  Launcher launcher;
  std::uint32_t weight;                        // its time, in shares
  std::uint32_t cluster_x = 0, cluster_y = 0;  // as cuBLAS launches with cudaLaunchKernelExC; 0: in no clusters
};

struct Model {
  std::span<const Kernel> forward,
      backward;                             // per layer, in launch order; a layer's grid is grid_x times 1 + layer % 3
  std::span<const Kernel> loss, optimizer;  // once per step
};

// Layers of attention and matrix products; in bfloat16, fused by Inductor in part.
const Model& transformer();
// Layers are bottleneck blocks of a ResNet: three convolutions in tf32, each with its batch norm and ReLU.
const Model& cnn();
inline const Model& model_named(std::string_view name) { return name == "cnn" ? cnn() : transformer(); }

const Kernel& all_reduce_kernel();
const Kernel& send_receive_kernel();

// The module that holds those of the model and of collectives (standin/work.h).
std::string module_image(const Model& model);

}  // namespace sim
