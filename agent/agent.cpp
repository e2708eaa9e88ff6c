// The entry points for foreign code, and the order in which things start and stop.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "agent/activity/cupti_source.h"
#include "agent/activity/watch.h"
#include "agent/base/agent_settings.h"
#include "agent/base/guard.h"
#include "agent/base/life.h"
#include "agent/base/message.h"
#include "agent/clocks/clocks.h"
#include "agent/flusher.h"
#include "agent/nvtx/injection_paths.h"
#include "agent/nvtx/nvtx_events.h"
#include "agent/ring/recorder.h"
#include "agent/ring/trace_file.h"
#include "agent/torch/operators.h"

extern "C" __attribute__((visibility("default"))) int InitializeInjection();

namespace agent {
namespace {

constinit std::atomic<bool> s_attached{false};
constinit std::atomic<bool> s_begun{false};

// Child processes inherit the variables, so the path must be valid for every child, wherever it runs.
bool own_path(char* path) {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&begin_recording), &info) == 0 || info.dli_fname == nullptr) return false;
  return realpath(info.dli_fname, path) != nullptr;
}

// Returns the entry point of another copy of the agent (another path, another version) that was loaded first, from the
// mark that it left: its process and the entry point's address. The variable survives exec(2) and is inherited by
// children, so the address is checked to be such an entry point. Returns null if this copy is the first.
void* entry_of_first_copy() {
  const char* mark = std::getenv("TRACETOOL_ACTIVE");
  if (mark == nullptr) return nullptr;
  int pid = 0;
  const auto* end = mark + std::strlen(mark);
  const auto number = std::from_chars(mark, end, pid);
  std::uintptr_t address = 0;
  if (number.ec != std::errc() || *number.ptr != ':' || pid != getpid()) return nullptr;
  if (std::from_chars(number.ptr + 1, end, address, 16).ec != std::errc()) return nullptr;
  auto* entry = reinterpret_cast<void*>(address);
  Dl_info info;
  const bool is_entry = entry != reinterpret_cast<void*>(&InitializeInjection) && dladdr(entry, &info) != 0 &&
                        info.dli_saddr == entry && info.dli_sname != nullptr &&
                        std::strcmp(info.dli_sname, "InitializeInjection") == 0;
  return is_entry ? entry : nullptr;
}

// If a library in its own namespace (dlmopen(3)) uses NVTX, a second copy of the agent is loaded there. This copy cannot see the program's GPU
// work.
bool is_in_own_namespace() {
  Dl_info info;
  void* map = nullptr;
  Lmid_t space = LM_ID_BASE;
  return dladdr1(reinterpret_cast<void*>(&begin_recording), &info, &map, RTLD_DL_LINKMAP) != 0 &&
         dlinfo(map, RTLD_DI_LMID, &space) == 0 && space != LM_ID_BASE;
}

// Only while the library is loaded: see set_variable().
void mark_process() {
  char mark[64];
  snprintf(mark, sizeof(mark), "%d:%llx", getpid(),
           static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(&InitializeInjection)));
  set_variable("TRACETOOL_ACTIVE", mark);
}

// Called when the library is loaded: registers the agent with CUDA and NVTX, which call it if this process uses them.
// Nothing else is done here, because every launcher, shell and helper of a job loads the agent. The exception: if
// operators were requested explicitly, a Python process waits for PyTorch.
__attribute__((constructor)) void on_load() {
  if (getauxval(AT_SECURE) != 0 || disabled_by_user()) return;
  remember_stderr();
  if (is_in_own_namespace()) return;
  char path[PATH_MAX];
  if (!own_path(path)) return;
  claim_injections(path);
  if (entry_of_first_copy() != nullptr) return;
  mark_process();
  if (wants_torch_alone() && attach()) start_thread();
}

// In a child after fork: does only what the parent's lock requires. All other code sees the cleared page.
void on_fork_child() {
  const int before = errno;
  const Uncancelled uncancelled;
  drop_trace_file();
  errno = before;
}

// The thread flushes pending records and ends; then the file is marked closed.
void on_exit() {
  static constinit std::atomic<bool> s_once{false};
  if (!is_recorded_process() || s_once.exchange(true)) return;
  const Uncancelled uncancelled;
  begin_exit();
  if (!stop_flusher() && !t_inside) flush_cupti(true);  // there is no thread to do it
  leave_cupti();
  if (recording() == Recording::open) close_recording();
}

constinit std::atomic<bool> s_source_started{false};

// Subscribes to CUPTI. If another tool uses it, our thread tries again.
void start_source(const Guard& guard) {
  if (s_source_started.exchange(true)) return;
  const Uncancelled uncancelled;
  start_cupti(guard);
  if (cupti_is_taken()) start_thread();
}

// Used if the library is loaded in the middle of the run: only loads it on an application's thread; our thread does the
// rest. Its first try is awaited for a short time, because this thread may call cuInit next. Everything launched
// afterwards should be recorded, and the end of the recording has to be registered after the driver's exit handlers.
void start_late() {
  constexpr int kMostWait_ms = 200;
  if (s_source_started.exchange(true)) return;
  const Uncancelled uncancelled;
  start_cupti_late();
  start_thread();
  for (int ms = 0; ms < kMostWait_ms && cupti_is_taken() && !has_tried_cupti(); ++ms) usleep(1000);
}

}  // namespace

// NVTX may have attached the agent in the parent of a process that uses CUDA only now, after fork. Nothing was recorded
// yet, so the child starts again. If the parent had used CUDA, the child cannot use it. Called under attach's lock.
bool revive_after_fork() {
  if (recording() != Recording::off || s_source_started.load()) return false;
  forget_opening();
  drop_trace_file();  // of a recording that the parent was just opening
  forget_pending_nvtx();
  forget_thread_id();
  forget_flusher();
  return revive_fork_page();
}

bool attach_first_time() {
  if (entry_of_first_copy() != nullptr || !install_fork_page()) return false;
  pthread_atfork(nullptr, nullptr, on_fork_child);
  read_settings();
  s_attached.store(true, std::memory_order_release);
  return true;
}

bool attach() noexcept {
  static constinit Spinlock s_once;
  if (s_attached.load(std::memory_order_acquire) && is_recorded_process()) return true;
  if (getauxval(AT_SECURE) != 0 || disabled_by_user()) return false;
  const Uncancelled uncancelled;
  // In a child, the lock may be held by a thread that exists only in its parent; the child is then not recorded.
  for (int tries = 0; !s_once.try_lock(); ++tries) {
    if (tries == 10'000) return false;
    sched_yield();
  }
  const bool attached =
      s_attached.load(std::memory_order_acquire) ? is_recorded_process() || revive_after_fork() : attach_first_time();
  s_once.unlock();
  return attached;
}

bool begin_recording(const Guard& guard) noexcept {
  if (!open_recording(guard)) return false;
  if (s_begun.exchange(true, std::memory_order_acq_rel)) return true;
  const Uncancelled uncancelled;
  describe_cupti();
  describe_nvtx();
  record_environment_identity();
  replay_pending_nvtx(guard);
  start_thread();
  // Registered late, so that it runs before CUDA's own handlers. Registering it twice does no harm.
  std::atexit(on_exit);
  return true;
}

void exit_before_driver() noexcept { std::atexit(on_exit); }

void begin_without_gpu(const Guard& guard) noexcept {
  static constinit std::atomic<std::uint32_t> s_calls{0};
  constexpr std::uint32_t kEvery = 64;  // reading the loader's list has a cost
  const bool uncalled = cuda_taken_by()[0] != '\0' && !cupti_failed() && !cupti_is_on();
  if (uncalled && s_calls.fetch_add(1) % kEvery == 0 && dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) != nullptr)
    start_late();
  if (cupti_failed()) begin_recording(guard);
}

void* find_in_first_copy(const char* name) noexcept {
  if (getauxval(AT_SECURE) != 0) return nullptr;
  void* copy = nullptr;
  if (char path[PATH_MAX]; is_in_own_namespace()) {
    // Loads the agent into the program's namespace if it is not loaded there, and passes calls on to that copy.
    if (own_path(path)) copy = dlmopen(LM_ID_BASE, path, RTLD_NOW);
  } else {
    void* entry = entry_of_first_copy();
    Dl_info info;
    if (entry == nullptr || dladdr(entry, &info) == 0 || info.dli_fname == nullptr) return nullptr;
    copy = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  }
  return copy != nullptr ? dlsym(copy, name) : nullptr;
}

void start_thread() noexcept {
  static constinit std::atomic<bool> s_once{false};
  if (!s_once.exchange(true)) std::atexit(on_exit);
  start_flusher();
}

}  // namespace agent

// Called by the driver in cuInit if CUDA_INJECTION64_PATH names the agent. CUPTI may be used here, CUDA may not.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  if (getauxval(AT_SECURE) != 0) return 1;
  if (void* first = agent::entry_of_first_copy()) return reinterpret_cast<int (*)()>(first)();
  if (!agent::attach()) return 1;
  const agent::Guard guard;
  if (guard) agent::start_source(guard);
  return 1;
}
