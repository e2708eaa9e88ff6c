#include "agent/nvtx/injection_paths.h"

#include <limits.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "agent/base/agent_settings.h"
#include "agent/base/message.h"
#include "agent/ring/recorder.h"

namespace agent {
namespace {

constexpr char kCuda[] = "CUDA_INJECTION64_PATH";
constexpr char kNvtx[] = "NVTX_INJECTION64_PATH";

constinit char s_nvtx_other[256] = "";
constinit char s_cuda_other[256] = "";
constinit std::atomic<bool> s_called{false};

void claim(const char* variable, const char* own_path, char (&other)[256]) {
  char path[PATH_MAX];
  const char* value = std::getenv(variable);
  if (value == nullptr || value[0] == '\0') {
    set_variable(variable, own_path);
  } else if (realpath(value, path) == nullptr || std::strcmp(path, own_path) != 0) {
    snprintf(other, sizeof(other), "%s", value);
  }
}

void write_state() {
  const auto state = s_called.load(std::memory_order_acquire) ? trace::SourceState::on
                     : s_nvtx_other[0] != '\0'                ? trace::SourceState::taken
                                                              : trace::SourceState::off;
  __atomic_store_n(&ring().header->nvtx_state, static_cast<std::uint32_t>(state), __ATOMIC_RELAXED);
}

}  // namespace

void claim_injections(const char* own_path) noexcept {
  claim(kCuda, own_path, s_cuda_other);
  claim(kNvtx, own_path, s_nvtx_other);
}

const char* nvtx_taken_by() noexcept { return s_nvtx_other; }
const char* cuda_taken_by() noexcept { return s_cuda_other; }

void nvtx_has_called() noexcept {
  if (!s_called.exchange(true, std::memory_order_acq_rel) && recording() == Recording::open) write_state();
}

void describe_nvtx() noexcept {
  write_state();
  if (s_nvtx_other[0] != '\0' && !s_called.load())
    say_verbose("%s names another tool: %s; NVTX ranges and NCCL calls are not recorded", kNvtx, s_nvtx_other);
  if (s_cuda_other[0] != '\0')
    say_verbose("%s names another tool: %s; GPU work is recorded only if CUPTI is not in use", kCuda, s_cuda_other);
}

}  // namespace agent
