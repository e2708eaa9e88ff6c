// The functions in NVTX's tables, and definitions shared by their files. NVTX calls them on the application's threads
// with the program's arguments: any pointer may be null, any handle invalid.
#pragma once
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <cstddef>
#include <cstring>
#include <span>

#include "agent/nvtx/nvtx_events.h"

namespace agent {

struct Hook {
  unsigned id;  // index in the module's table
  NvtxFunctionPointer function;
};

template <typename Function>
Hook hook(unsigned id, Function* function) {
  return {id, reinterpret_cast<NvtxFunctionPointer>(function)};
}

// Copies a struct with a size member in the layout of this header. A program built with another header has a smaller
// struct; if the size is not set, the layout of this header is assumed. Returns false if the program's struct cannot be
// read.
template <typename Attributes>
bool read_attributes(const Attributes* given, Attributes& copy) {
  std::memset(&copy, 0, sizeof(copy));
  if (given == nullptr || !read_guarded(given, copy, offsetof(Attributes, size) + sizeof(copy.size))) return false;
  const std::size_t bytes = copy.size == 0 || copy.size > sizeof(copy) ? sizeof(copy) : copy.size;
  return read_guarded(given, copy, bytes);
}

// Puts functions into a module's table. Returns false if NVTX does not have that module; skips an index that an older
// NVTX lacks.
bool install(const NvtxExportTableCallbacks* callbacks, NvtxCallbackModule module,
             std::span<const Hook> hooks) noexcept;

// Installs push, pop, start, end, mark. Returns false if this NVTX has no such tables.
bool install_range_hooks(const NvtxExportTableCallbacks* callbacks) noexcept;
// Installs domains, registered strings, categories, names of threads and of CUDA objects.
bool install_name_hooks(const NvtxExportTableCallbacks* callbacks) noexcept;

// The push and pop of the payload extension.
int push_with_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data, std::size_t count);
int pop_with_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data, std::size_t count);

}  // namespace agent
