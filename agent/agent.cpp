// The doors through which foreign code comes in, and the order in which things start and stop.
#include "agent/agent.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/auxv.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "agent/cupti_source.h"
#include "agent/flusher.h"
#include "agent/identity.h"
#include "agent/message.h"
#include "agent/nvtx_pending.h"
#include "agent/recorder.h"
#include "agent/settings.h"
#include "agent/trace_file.h"

namespace agent {
namespace {

constinit std::atomic<bool> s_attached{false};
constinit std::atomic<bool> s_begun{false};

// The variables are inherited, so this path must mean the same to every child, wherever it runs.
bool own_path(char* path) {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&begin_recording), &info) == 0 || info.dli_fname == nullptr) return false;
  return realpath(info.dli_fname, path) != nullptr;
}

// Loaded: say where we are to CUDA and to NVTX, which call us if this process uses them. Nothing else may happen here:
// every launcher, shell and helper of a job runs this.
__attribute__((constructor)) void on_load() {
  if (getauxval(AT_SECURE) != 0 || disabled_by_user()) return;
  remember_stderr();
  char path[PATH_MAX];
  if (!own_path(path)) return;
  setenv("CUDA_INJECTION64_PATH", path, 0);
  setenv("NVTX_INJECTION64_PATH", path, 0);
}

// A second copy of the agent (another path, another version) finds the mark of the first and stays passive.
bool mark_process() {
  char mark[64];
  char mine[64];
  snprintf(mine, sizeof(mine), "%d:%p", getpid(), reinterpret_cast<void*>(&begin_recording));
  const char* known = std::getenv("TRACETOOL_ACTIVE");
  snprintf(mark, sizeof(mark), "%d:", getpid());
  if (known != nullptr && std::strncmp(known, mark, std::strlen(mark)) == 0) return std::strcmp(known, mine) == 0;
  return setenv("TRACETOOL_ACTIVE", mine, 1) == 0;
}

// In a child after fork: only what the parent's lock needs. Everything else sees the wiped page.
void on_fork_child() { drop_trace_file(); }

// The order: first what is in flight comes home, then the thread ends, then the file is marked closed.
void on_exit() {
  if (recording() != Recording::open || !is_recorded_process()) return;
  stop_flusher();
  flush_cupti(true);
  close_recording();
}

}  // namespace

bool attach() noexcept {
  static constinit Spinlock s_once;
  if (s_attached.load(std::memory_order_acquire)) return true;
  if (getauxval(AT_SECURE) != 0 || disabled_by_user()) return false;
  const Locked locked(s_once);
  if (s_attached.load(std::memory_order_acquire)) return true;
  if (!mark_process() || !install_fork_page()) return false;
  read_settings();
  s_attached.store(true, std::memory_order_release);
  return true;
}

bool begin_recording(const Guard& guard) noexcept {
  if (!open_recording(guard)) return false;
  if (s_begun.exchange(true, std::memory_order_acq_rel)) return true;
  describe_cupti();
  record_environment_identity();
  replay_pending_nvtx(guard);
  pthread_atfork(nullptr, nullptr, on_fork_child);
  // Registered as late as this, so that it runs before CUDA's own handlers.
  std::atexit(on_exit);
  start_flusher();
  return true;
}

}  // namespace agent

// Called by the driver in cuInit when CUDA_INJECTION64_PATH names us. CUPTI may be used here, CUDA may not.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  if (!agent::attach()) return 1;
  const agent::Guard guard;
  static constinit std::atomic<bool> s_once{false};
  if (guard && !s_once.exchange(true)) agent::start_cupti(guard);
  return 1;
}
