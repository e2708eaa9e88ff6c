// How the programs of this directory launch kernels, so that nvcc compiles them for a GPU, and g++ for the stand-ins of
// examples/simulated_training: there a kernel is its name and its grid, and its body is never called.
#pragma once
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <tuple>

#define CHECK(call)                                                                       \
  do {                                                                                    \
    const cudaError_t error = (call);                                                     \
    if (error != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error)); \
      std::exit(2);                                                                       \
    }                                                                                     \
  } while (0)

#ifdef __CUDACC__

constexpr bool kSimulated = false;
inline void know(const void*) {}

#else

#include <dlfcn.h>

constexpr bool kSimulated = true;
// What nvcc gives to a kernel's body.
inline dim3 gridDim, blockDim, blockIdx, threadIdx;
inline long long clock64() { return 0; }

// What nvcc's code does before main: it tells the runtime a kernel's name. Symbols are visible with -rdynamic only.
extern "C" void __cudaRegisterFunction(void** binary, const char* host, char* device, const char* name, int threads,
                                       uint3* tid, uint3* bid, dim3* block, dim3* grid, int* warp_size);
inline void know(const void* kernel) {
  Dl_info found{};
  if (dladdr(kernel, &found) == 0 || found.dli_sname == nullptr) {
    std::fprintf(stderr, "launch.h: a kernel has no name: link with -rdynamic\n");
    std::exit(2);
  }
  __cudaRegisterFunction(nullptr, static_cast<const char*>(kernel), nullptr, found.dli_sname, -1, nullptr, nullptr,
                         nullptr, nullptr, nullptr);
}

#endif

// kernel<<<grid, block, 0, stream>>>(given...), with the result of the launch.
template <typename... Parameters, typename... Given>
cudaError_t launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, cudaStream_t stream, Given... given) {
  const void* const handle = reinterpret_cast<const void*>(kernel);
  if constexpr (kSimulated) {
    thread_local const void* t_known = nullptr;  // one for each kind of parameters: the last kernel of that kind
    if (t_known != handle) know(t_known = handle);
  }
  std::tuple<Parameters...> values(given...);
  return std::apply(
      [&](auto&... value) {
        void* pointers[] = {static_cast<void*>(&value)..., nullptr};
        return cudaLaunchKernel(handle, grid, block, pointers, 0, stream);
      },
      values);
}
