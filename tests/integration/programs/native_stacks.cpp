// Programs without frame pointers, whose native stacks are recorded (TRACETOOL_NATIVE_STACKS=1).
//
// native_stacks calls          launches, waits and allocations out of functions of many kinds, in two threads; all by the driver
// native_stacks reload A B     the same out of A's function, then, A unloaded, out of B's, which lies where A lay
// native_stacks throws         C++ exceptions through functions that launch; what was caught and what glibc and libgcc tell of the stack
// native_stacks flood COUNT    COUNT launches and COUNT waits in each of two threads
// native_stacks exits          exit() while another thread launches
// native_stacks forks          children, which launch nothing, while another thread launches
#include <alloca.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

#include "gpu.h"

namespace {

using programs::check;
using programs::Gpu;

#define NOT_INLINED __attribute__((noinline))

// Behind each call something is left to do, so that no caller leaves the stack before it.
std::atomic<int> s_left{0};
void is_behind() { s_left.fetch_add(1, std::memory_order_relaxed); }

const Gpu* s_gpu = nullptr;

NOT_INLINED void launch() {
  check(programs::launch_by_driver(s_gpu->kernel(), nullptr), "cuLaunchKernel");
  is_behind();
}

NOT_INLINED void wait_for_all() {
  check(cuCtxSynchronize(), "cuCtxSynchronize");
  is_behind();
}

NOT_INLINED void allocate() {
  CUdeviceptr memory = 0;
  check(cuMemAlloc(&memory, 4096), "cuMemAlloc");
  check(cuMemFree(memory), "cuMemFree");
  is_behind();
}

NOT_INLINED void deep(int depth, void (*call)()) {
  depth == 0 ? call() : deep(depth - 1, call);
  is_behind();
}

// Its frame has no fixed size: found by a register.
NOT_INLINED void with_room(std::size_t bytes, void (*call)()) {
  auto* room = static_cast<volatile char*>(alloca(bytes));
  room[0] = 1;
  room[bytes - 1] = 1;
  call();
  is_behind();
}

// Its frame begins at a multiple of 64, from where the way back is told by an expression.
NOT_INLINED void aligned(void (*call)()) {
  alignas(64) volatile char room[256];
  room[0] = 1;
  call();
  s_left.fetch_add(room[0], std::memory_order_relaxed);
}

struct Layer {
  virtual ~Layer() = default;
  virtual void run(int) = 0;
};
struct Linear final : Layer {
  NOT_INLINED void run(int depth) override {
    deep(depth, launch);
    is_behind();
  }
};

// Through libc's code.
int compare(const void* a, const void* b) {
  static bool s_once = false;
  if (!s_once) launch();
  s_once = true;
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

NOT_INLINED void all_kinds() {
  launch();
  deep(30, launch);
  with_room(1000, launch);
  aligned(launch);
  with_room(5000, [] { aligned([] { deep(3, launch); }); });
  const std::unique_ptr<Layer> layer = std::make_unique<Linear>();
  layer->run(2);
  const std::function<void(int)> function = [](int depth) { deep(depth, allocate); };
  function(4);
  int numbers[] = {3, 1, 2};
  qsort(numbers, 3, sizeof(numbers[0]), compare);
  deep(2, wait_for_all);
}

int calls(int, char**) {
  all_kinds();
  std::thread([] {
    s_gpu->use_here();
    deep(5, launch);
    with_room(100, wait_for_all);
  }).join();
  return 0;
}

NOT_INLINED std::size_t call_out_of(const char* path) {
  void* object = dlopen(path, RTLD_NOW);
  if (object == nullptr) return 0;
  auto* call = reinterpret_cast<void (*)(void (*)())>(dlsym(object, "call_through"));
  call(launch);
  const auto address = reinterpret_cast<std::size_t>(call);
  dlclose(object);
  return address;
}

int reload(int count, char** paths) {
  const std::size_t first = count == 2 ? call_out_of(paths[0]) : 0, second = count == 2 ? call_out_of(paths[1]) : 0;
  std::printf("%s\n", first != 0 && first == second ? "the same address" : "different addresses");
  return first != 0 && second != 0 ? 0 : 1;
}

_Unwind_Reason_Code count_frame(_Unwind_Context*, void* count) {
  ++*static_cast<int*>(count);
  return _URC_NO_REASON;
}

NOT_INLINED void throw_from(int depth) {
  struct Ends {
    ~Ends() { is_behind(); }
  } ends;
  launch();
  if (depth > 0) return throw_from(depth - 1);
  int frames = 0;
  void* addresses[100];
  _Unwind_Backtrace(count_frame, &frames);
  std::printf("%d frames, %d\n", frames, backtrace(addresses, 100));
  throw std::runtime_error("from the bottom");
}

NOT_INLINED void catch_and_throw_again(int depth) {
  try {
    throw_from(depth);
  } catch (const std::exception& error) {
    std::printf("caught %s\n", error.what());
    throw std::string("again");
  }
}

int throws(int, char**) {
  for (int depth = 0; depth < 10; ++depth) {
    try {
      catch_and_throw_again(depth);
    } catch (const std::string& text) {
      std::printf("caught %s, %d\n", text.c_str(), s_left.load());
    }
  }
  return 0;
}

int flood(int count, char** arguments) {
  const int calls = count > 0 ? std::atoi(arguments[0]) : 0;
  const auto flood_one = [calls] {
    s_gpu->use_here();
    for (int i = 0; i < calls; ++i) launch();
    for (int i = 0; i < calls; ++i) wait_for_all();
  };
  std::thread other(flood_one);
  flood_one();
  other.join();
  return 0;
}

void launch_for_ever() {
  std::thread([] {
    s_gpu->use_here();
    for (int i = 0;; ++i) deep(i % 50, launch);
  }).detach();
  programs::sleep_ms(50);
}

int exits(int, char**) {
  launch_for_ever();
  std::exit(3);
}

int forks(int, char**) {
  launch_for_ever();
  for (int i = 0; i < 50; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(5);
    int status = 0;
    if (waitpid(child, &status, 0) != child || WEXITSTATUS(status) != 5) return 1;
  }
  std::fflush(stdout);
  _exit(0);
}

struct What {
  const char* name;
  int (*run)(int count, char** arguments);
};
constexpr What kWhats[] = {{"calls", calls}, {"reload", reload}, {"throws", throws},
                           {"flood", flood}, {"exits", exits},   {"forks", forks}};

}  // namespace

int main(int argc, char** argv) {
  for (const What& what : kWhats) {
    if (argc < 2 || std::strcmp(what.name, argv[1]) != 0) continue;
    const Gpu gpu;
    s_gpu = &gpu;
    const int code = what.run(argc - 2, argv + 2);
    gpu.wait();
    std::puts("done");
    std::fflush(stdout);
    return code;
  }
  return 1;
}
