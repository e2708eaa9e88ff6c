// Which NCCL this is, for the file's header.
#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <cstdio>
#include <cstring>

#include "agent/nccl/nccl.h"
#include "agent/ring/recorder.h"

namespace agent {
namespace {

using GetVersion = int (*)(int*);

int is_nccl(dl_phdr_info* info, size_t, void* path) {
  const char* name = info->dlpi_name;
  const char* slash = name != nullptr ? std::strrchr(name, '/') : nullptr;
  if (slash == nullptr || std::strncmp(slash, "/libnccl.so", 11) != 0) return 0;
  snprintf(static_cast<char*>(path), 1024, "%s", name);
  return 1;
}

// Linked into the program, or the first that is loaded. ncclGetVersion only hands out a number.
GetVersion find_get_version() {
  char path[1024];
  void* handle = RTLD_DEFAULT;
  if (dl_iterate_phdr(is_nccl, path) != 0) handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  return handle != nullptr || handle == RTLD_DEFAULT ? reinterpret_cast<GetVersion>(dlsym(handle, "ncclGetVersion"))
                                                     : nullptr;
}

}  // namespace

void describe_nccl(std::uint32_t version) noexcept {
  static constinit std::atomic<bool> s_known{false};
  if (recording() != Recording::open || s_known.exchange(true, std::memory_order_relaxed)) return;
  int found = static_cast<int>(version);
  if (found == 0) {
    const GetVersion get_version = find_get_version();
    if (get_version == nullptr || get_version(&found) != 0) found = 0;
  }
  __atomic_store_n(&ring().header->nccl_version, static_cast<std::uint32_t>(found), __ATOMIC_RELAXED);
}

}  // namespace agent
