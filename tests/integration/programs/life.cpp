// A program that uses the GPU and ends in one of many ways: life WAY [MS]
//
// It launches kernels, waits for them and then MS (400) so that the agent has collected them, and ends. Ways whose name
// ends in _busy launch on in another thread while it ends.
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <thread>

#include "gpu.h"

// By the name that every driver since CUDA 4 has; newer headers give it other parameters.
extern "C" CUresult cuCtxCreate_v2(CUcontext* context, unsigned int flags, CUdevice device);

namespace {

using programs::Gpu;
using programs::sleep_ms;

constexpr std::uint32_t kLaunches = 300;

struct Work {
  const Gpu& gpu;
  const char* self;
};

// Launches until the process is gone.
void launch_on(const Gpu& gpu) {
  std::thread([&gpu] {
    gpu.use_here();
    for (;;) {
      gpu.launch();
      sleep_ms(1);
    }
  }).detach();
  sleep_ms(30);
}

template <typename Ending>
void in_thread(const Ending& end) {
  std::thread(end).join();
}

void do_nothing(const Work&) {}
void exit_3(const Work&) { std::exit(3); }
void exit_in_thread(const Work&) {
  in_thread([] { std::exit(4); });
}
void exit_in_thread_busy(const Work& work) {
  launch_on(work.gpu);
  exit_in_thread(work);
}
void exit_busy(const Work& work) {
  launch_on(work.gpu);
  std::exit(3);
}
void leave(const Work&) { _exit(5); }
void leave_busy(const Work& work) {
  launch_on(work.gpu);
  _exit(5);
}
void leave_in_thread(const Work&) {
  in_thread([] { _exit(6); });
}
void quick_exit(const Work&) { std::quick_exit(7); }
void exec_other(const Work&) { execl("/bin/echo", "echo", "another program", nullptr); }

// The same process, with the same number and start time, becomes the same program again.
void exec_self(const Work& work) {
  unsetenv("SIM_TRUTH");
  execl(work.self, work.self, "return", nullptr);
}
void exec_in_thread_busy(const Work& work) {
  launch_on(work.gpu);
  in_thread([] { execl("/bin/echo", "echo", "another program", nullptr); });
}
void terminated(const Work&) { raise(SIGTERM); }
void terminated_busy(const Work& work) {
  launch_on(work.gpu);
  kill(getpid(), SIGTERM);
  sleep_ms(10'000);
}
void killed(const Work&) { raise(SIGKILL); }
void aborted(const Work&) { std::abort(); }
void uncaught(const Work&) { throw std::runtime_error("nobody catches this"); }
void terminate_in_thread(const Work&) {
  in_thread([] { std::terminate(); });
}
void segfault(const Work&) { raise(SIGSEGV); }

void on_term(int) { std::exit(8); }

// The handler runs in a thread that is not in CUDA.
void term_handler_exits(const Work&) {
  signal(SIGTERM, on_term);
  raise(SIGTERM);
}

// The handler runs in a thread that launches as fast as it can: exit(3) out of the middle of anything.
void term_handler_exits_launching(const Work& work) {
  signal(SIGTERM, on_term);
  const pthread_t launching = pthread_self();
  std::thread([launching] {
    sleep_ms(static_cast<unsigned>(20 + getpid() % 17));
    pthread_kill(launching, SIGTERM);
  }).detach();
  for (;;) work.gpu.launch();
}

// main's thread ends; another goes on and ends the process.
void pthread_exit_main(const Work& work) {
  static const Gpu gpu = work.gpu;
  std::thread([] {
    sleep_ms(50);
    gpu.use_here();
    gpu.launch_many(kLaunches);
    gpu.wait();
    std::exit(9);
  }).detach();
  pthread_exit(nullptr);
}

// What atexit and static destructors still do on the GPU, before and after the agent's own handler.
void launch_at_exit(const Work& work) {
  static const Gpu gpu = work.gpu;
  std::atexit([] {
    gpu.launch_many(10);
    gpu.wait();
  });
}

// Kernels that do not end before the process does.
void endless(const Work& work) {
  for (int i = 0; i < 5; ++i) work.gpu.launch(1, 3'600'000'000'000u);
}

// The last of the process's exit handlers takes its time, behind those of the driver: main has registered it first.
void linger() { sleep_ms(4'000); }

// A context is destroyed, and soon after the process is gone.
void destroys_context(const Work& work) {
  work.gpu.launch_many(kLaunches);
  work.gpu.wait();
  CUcontext other = nullptr;
  programs::check(cuCtxCreate_v2(&other, 0, 0), "cuCtxCreate");
  programs::check(cuCtxDestroy(other), "cuCtxDestroy");
  sleep_ms(300);
  _exit(5);
}

struct Way {
  const char* name;
  void (*end)(const Work&);
};
constexpr Way kWays[] = {
    {"return", do_nothing},
    {"exit", exit_3},
    {"exit_in_thread", exit_in_thread},
    {"exit_in_thread_busy", exit_in_thread_busy},
    {"exit_busy", exit_busy},
    {"leave", leave},
    {"leave_busy", leave_busy},
    {"leave_in_thread", leave_in_thread},
    {"quick_exit", quick_exit},
    {"exec", exec_other},
    {"exec_self", exec_self},
    {"exec_in_thread_busy", exec_in_thread_busy},
    {"term", terminated},
    {"term_busy", terminated_busy},
    {"kill", killed},
    {"abort", aborted},
    {"uncaught", uncaught},
    {"terminate_in_thread", terminate_in_thread},
    {"segfault", segfault},
    {"term_handler_exits", term_handler_exits},
    {"term_handler_exits_launching", term_handler_exits_launching},
    {"pthread_exit_main", pthread_exit_main},
    {"launch_at_exit", launch_at_exit},
    {"endless", endless},
    {"lingers", do_nothing},
    {"destroys_context", destroys_context},
};

const Way* find_way(const char* name) {
  for (const Way& way : kWays) {
    if (std::strcmp(way.name, name) == 0) return &way;
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const Way* way = argc > 1 ? find_way(argv[1]) : nullptr;
  if (way == nullptr) return 1;
  if (std::strcmp(way->name, "lingers") == 0) std::atexit(linger);
  const Gpu gpu;
  gpu.launch_many(kLaunches);
  gpu.wait();
  sleep_ms(argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 400);
  std::puts("ends");
  std::fflush(stdout);
  way->end({gpu, argv[0]});
  return 0;
}
