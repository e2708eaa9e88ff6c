// Children in the middle of launches: forks WAY. The parent launches in one thread and makes children in another; it
// says how each ended, and exits with 0.
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
  bool idle;  // only while nothing is launched, because the stand-ins' locks may be held by threads that are not there
};
constexpr Way kWays[] = {
    {"idle", idle, false},
    {"exits", exits, true},
    {"execs", execs, false},
    {"clone_idle", clone_idle, false},
    {"clone_exits", clone_exits, true},
    {"clone_execs", clone_execs, false},
    {"vforks", vforks, false},
    {"spawns", spawns, false},
    {"calls", calls, true},
    {"clone_calls", clone_calls, true},
};

// Printed at the end: a child that calls exit(3) would print what waits to be printed.
void make_children(const Way& way, const Gpu& gpu) {
  int statuses[kChildren];
  for (int& each : statuses) each = way.make(gpu);
  for (const int each : statuses) std::printf("%d\n", each);
}

void launch_meanwhile(const Way& way, const Gpu& gpu) {
  std::atomic<bool> stop{false};
  std::thread launching([&] {
    gpu.use_here();
    while (!stop) {
      gpu.launch_many(10);
      sleep_ms(1);
    }
  });
  make_children(way, gpu);
  stop = true;
  launching.join();
}

// The child lives on when the parent is gone, which is killed.
int outlive() {
  if (fork() == 0) {
    alarm(20);
    for (int file = 0; file < 3; ++file) close(file);  // who waits for the parent's output must not wait for the child
    sleep_ms(3'000);
    _exit(0);
  }
  sleep_ms(300);
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
