// Which NCCL this is, for the file's header.
#include <dlfcn.h>

#include <atomic>

#include "agent/base/loaded_objects.h"
#include "agent/nccl/nccl.h"
#include "agent/ring/recorder.h"

namespace agent {
namespace {

using GetVersion = int (*)(int*);

// Of the first libnccl that is loaded, else linked into the program. It only hands out a number.
GetVersion find_get_version() {
  ObjectPaths loaded{};
  objects_named("libnccl", loaded);
  for (std::size_t i = 0; i < loaded.count; ++i) {
    void* handle = handle_of(loaded.paths[i]);
    void* found = handle != nullptr ? symbol_in(handle, "ncclGetVersion") : nullptr;
    if (found != nullptr) return reinterpret_cast<GetVersion>(found);
  }
  return reinterpret_cast<GetVersion>(symbol_in(RTLD_DEFAULT, "ncclGetVersion"));
}

}  // namespace

void describe_nccl() noexcept {
  static constinit std::atomic<bool> s_known{false};
  if (recording() != Recording::open || s_known.load(std::memory_order_relaxed) || s_known.exchange(true)) return;
  int version = 0;
  const GetVersion get_version = find_get_version();
  if (get_version == nullptr || get_version(&version) != 0) version = 0;
  __atomic_store_n(&ring().header->nccl_version, static_cast<std::uint32_t>(version), __ATOMIC_RELAXED);
}

}  // namespace agent
