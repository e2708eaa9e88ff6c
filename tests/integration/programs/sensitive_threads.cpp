// The threads of a host that notices what is done to them: which signals reach them, and what they ask of the system.
#include <dirent.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "sensitive.h"

extern "C" void* __libc_malloc(std::size_t bytes);

namespace {

thread_local bool t_counts = false;
std::atomic<long> s_allocated{0};  // calls of malloc by threads that count them

constexpr unsigned long long bit(int signal) { return 1ull << (signal - 1); }
// glibc keeps two for itself, which the first thread makes it handle.
constexpr unsigned long long kOfGlibc = bit(32) | bit(33);

// The hexadecimal number behind `name` in a status file of /proc, without glibc's signals; 1: there is none.
unsigned long long status_mask(const char* path, const char* name) {
  char line[256];
  unsigned long long mask = 1;
  FILE* file = fopen(path, "r");
  while (file != nullptr && fgets(line, sizeof(line), file) != nullptr) {
    if (std::strncmp(line, name, std::strlen(name)) == 0) mask = strtoull(line + std::strlen(name), nullptr, 16);
  }
  if (file != nullptr) fclose(file);
  return mask & ~kOfGlibc;
}

// The threads that are not the program's own: how many, and whether each blocks all that can be blocked.
bool count_blocking(long& count) {
  constexpr unsigned long long kAll = ~(bit(SIGKILL) | bit(SIGSTOP) | kOfGlibc);
  char path[64];
  bool all = true;
  count = 0;
  DIR* tasks = opendir("/proc/self/task");
  for (const dirent* task; (task = readdir(tasks)) != nullptr;) {
    if (task->d_name[0] == '.' || atol(task->d_name) == getpid()) continue;
    snprintf(path, sizeof(path), "/proc/self/task/%.20s/status", task->d_name);
    all = all && (status_mask(path, "SigBlk:") & kAll) == kAll;
    ++count;
  }
  closedir(tasks);
  return all;
}

// From here on any system call of this thread but exit(2) kills the process.
bool forbid_system_calls() {
  sock_filter program[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                           BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
                           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
                           BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  const sock_fprog filter{sizeof(program) / sizeof(*program), program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

}  // namespace

bool signals(long least) {
  const auto handled = status_mask("/proc/self/status", "SigCgt:"),
             blocked = status_mask("/proc/self/status", "SigBlk:");
  call_nccl(nullptr);
  long count = 0;
  for (int tries = 0; tries < 200 && count < least; ++tries) {
    usleep(20'000);
    count_blocking(count);
  }
  return count_blocking(count) && count >= least && status_mask("/proc/self/status", "SigCgt:") == handled &&
         status_mask("/proc/self/status", "SigBlk:") == blocked;
}

bool undisturbed(long count) {
  static long s_count = count;
  static std::atomic<bool> s_done{false};
  const auto run = [](void*) -> void* {
    for (int i = 0; i < 3; ++i) call_nccl(nullptr);
    timespec now;
    if (!forbid_system_calls()) return nullptr;
    t_counts = true;
    for (long i = 0; i < s_count; ++i) call_nccl(nullptr);
    clock_gettime(CLOCK_MONOTONIC, &now);  // which is a system call on some machines, also without us
    s_done = s_allocated == 0;
    syscall(SYS_exit, 0);
    return nullptr;
  };
  return run_thread(run, 0, nullptr) && s_done;
}

extern "C" void* malloc(std::size_t bytes) {
  if (t_counts) ++s_allocated;
  return __libc_malloc(bytes);
}
