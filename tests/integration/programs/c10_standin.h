// The functions between libc10.so and libc10_cuda.so, declared as in c10/core/Allocator.h and c10/cuda/CUDAStream.h.
#pragma once
#include <cstddef>
#include <cstdint>

#define STANDIN_API __attribute__((visibility("default")))

namespace c10 {

struct Device {
  std::int8_t type, index;
};

STANDIN_API void reportMemoryUsageToProfiler(void* block, std::int64_t change, std::size_t allocated,
                                             std::size_t reserved, Device device);
STANDIN_API void reportOutOfMemoryToProfiler(std::int64_t requested, std::size_t allocated, std::size_t reserved,
                                             Device device);

namespace cuda {

struct CUDAStream {
  Device device;
  std::int64_t id;
};
STANDIN_API CUDAStream getCurrentCUDAStream(std::int8_t device);

}  // namespace cuda
}  // namespace c10
