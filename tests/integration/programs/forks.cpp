// Children in the middle of launches: forks WAY. The parent launches in one thread and makes children in another; it says
// how each ended, and exits with 0.
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "gpu.h"

extern char** environ;

namespace {

using programs::Gpu;
using programs::sleep_ms;

constexpr int kChildren = 10;
constexpr int kNoSignal = 0;  // a raw clone may leave out SIGCHLD

pid_t raw_clone() { return static_cast<pid_t>(syscall(SYS_clone, kNoSignal, nullptr, nullptr, nullptr, nullptr)); }

template <typename Body>
int child(pid_t (*make)(), const Body& body) {
  const pid_t pid = make();
  if (pid == 0) {
    alarm(20);
    programs::leave_truth();
    body();
  }
  int status = -1;
  waitpid(pid, &status, __WALL);
  return status;
}

int with_vfork() {
  const pid_t pid = vfork();
  if (pid == 0) {
    execl("/bin/true", "true", nullptr);
    _exit(127);
  }
  int status = -1;
  waitpid(pid, &status, 0);
  return status;
}

int with_spawn() {
  char name[] = "true";
  char* arguments[] = {name, nullptr};
  pid_t pid = 0;
  if (posix_spawn(&pid, "/bin/true", nullptr, nullptr, arguments, environ) != 0) return -1;
  int status = -1;
  waitpid(pid, &status, 0);
  return status;
}

int idle(const Gpu&) {
  return child(fork, [] { _exit(0); });
}
int exits(const Gpu&) {
  return child(fork, [] { std::exit(3); });
}
int execs(const Gpu&) {
  return child(fork, [] { execl("/bin/true", "true", nullptr); });
}
int clone_idle(const Gpu&) {
  return child(raw_clone, [] { _exit(0); });
}
int clone_exits(const Gpu&) {
  return child(raw_clone, [] { std::exit(3); });
}
int clone_execs(const Gpu&) {
  return child(raw_clone, [] { execl("/bin/true", "true", nullptr); });
}
int vforks(const Gpu&) { return with_vfork(); }
int spawns(const Gpu&) { return with_spawn(); }

void allocate() {
  void* memory = nullptr;
  for (int i = 0; i < 200; ++i) cudaMalloc(&memory, 256);
}
int calls(const Gpu&) {
  return child(fork, [] {
    allocate();
    std::exit(4);
  });
}
int clone_calls(const Gpu&) {
  return child(raw_clone, [] {
    allocate();
    std::exit(4);
  });
}

struct Way {
  const char* name;
  int (*make)(const Gpu&);
  bool idle;  // only while nothing is launched: CUDA after fork is invalid, and the stand-in's locks may be held
};
constexpr Way kWays[] = {
    {"idle", idle, false}, {"exits", exits, false}, {"execs", execs, false}, {"clone_idle", clone_idle, false},
    {"clone_exits", clone_exits, true}, {"clone_execs", clone_execs, false}, {"vforks", vforks, false},
    {"spawns", spawns, false}, {"calls", calls, true}, {"clone_calls", clone_calls, true},
};

void make_children(const Way& way, const Gpu& gpu) {
  for (int i = 0; i < kChildren; ++i) std::printf("%s%d", i > 0 ? " " : "", way.make(gpu));
  std::puts("");
}

void launch_meanwhile(const Way& way, const Gpu& gpu) {
  std::atomic<bool> stop{false};
  std::thread launching([&] {
    gpu.use_here();
    while (!stop) gpu.launch_many(10);
  });
  make_children(way, gpu);
  stop = true;
  launching.join();
}

// The child lives on when the parent is gone, which is killed.
int outlive() {
  if (fork() == 0) {
    alarm(20);
    sleep_ms(1'500);
    _exit(0);
  }
  sleep_ms(100);
  return raise(SIGKILL);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 1;
  const Gpu gpu;
  gpu.launch_many(100);
  gpu.wait();
  sleep_ms(60);
  if (std::strcmp(argv[1], "outlives") == 0) return outlive();
  for (const Way& way : kWays) {
    if (std::strcmp(way.name, argv[1]) != 0) continue;
    way.idle ? make_children(way, gpu) : launch_meanwhile(way, gpu);
    gpu.launch_many(100);
    gpu.wait();
    return 0;
  }
  return 1;
}
