// What the small programs do on a simulated GPU (examples/simulated_training/standin).
#pragma once
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstdint>

namespace programs {

// Ends the program with 2 and one line on stderr where `result` is an error.
void check(int result, const char* what);
void sleep_ms(unsigned ms);

// One device's primary context, made current in the thread that makes it, and one kernel to launch.
class Gpu {
 public:
  explicit Gpu(int device = 0);
  // Makes the device current in another thread.
  void use_here() const;
  // In the default stream, by the runtime. `grid_x` up to 2^31 - 1; `grid_z` is what a test says by it.
  void launch(std::uint32_t grid_x = 1, std::uint64_t duration_ns = 1'000, std::uint32_t grid_z = 1) const;
  void launch_many(std::uint32_t count) const;
  // Until all that this device's context was given has ended.
  void wait() const;
  CUfunction kernel() const { return kernel_; }

 private:
  int device_;
  CUfunction kernel_ = nullptr;
};

// The kernel in a module of the current context.
CUfunction load_kernel();
CUresult launch_by_driver(CUfunction kernel, CUstream stream, std::uint64_t duration_ns = 1'000);

// In a child: what it does must not be told as the parent's truth.
void leave_truth();

}  // namespace programs
