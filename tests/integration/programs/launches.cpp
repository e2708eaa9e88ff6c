// launches shapes COUNT:  COUNT kernels, each with a grid of its own
// launches odd COUNT:     COUNT kernels of each of the oddities of odd_cupti.h, and as many that are not odd
// launches contexts:      two devices, two contexts on one of them, one destroyed on the way
// launches plain COUNT:   COUNT kernels
// launches rounds COUNT:  the same, waiting for them after each 10,000
// launches close COUNT:   the same, after closing stdin, stdout and stderr; writes a lot to descriptors 0 to 2 after
// launches reuse COUNT:   closes every descriptor from 3 on, as daemons do, opens files of its own at these numbers,
// and
//                         goes on; 4 when somebody has written into them
// launches polling COUNT: a kernel that takes a second, an event behind it, COUNT queries of it, and a wait for it
// launches slowly COUNT:  COUNT kernels, one each millisecond
// launches failing COUNT: COUNT kernels, whatever CUDA answers; says how many it took
// launches chdir COUNT:   COUNT kernels, and as many again in another working directory
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "gpu.h"
#include "odd_cupti.h"

// By the name that every driver since CUDA 4 has; newer headers give it other parameters.
extern "C" CUresult cuCtxCreate_v2(CUcontext* context, unsigned int flags, CUdevice device);

namespace {

using programs::check;
using programs::Gpu;

void shapes(std::uint32_t count) {
  const Gpu gpu;
  for (std::uint32_t i = 1; i <= count; ++i) gpu.launch(i);
  gpu.wait();
}

void odd(std::uint32_t count) {
  const Gpu gpu;
  for (std::uint32_t i = 0; i < count; ++i) {
    for (std::uint32_t each = 1; each <= programs::kLastOddity; ++each) gpu.launch(1, 1'000, each);
  }
  gpu.wait();
}

void launch_some(CUfunction kernel, CUstream stream) {
  for (int i = 0; i < 50; ++i) check(programs::launch_by_driver(kernel, stream), "cuLaunchKernel");
  check(cuCtxSynchronize(), "cuCtxSynchronize");
}

void contexts(std::uint32_t) {
  const Gpu first(0);
  first.launch_many(50);
  const Gpu second(1);
  second.launch_many(50);
  second.wait();
  CUcontext own = nullptr, before = nullptr;
  CUstream stream = nullptr;
  check(cuCtxGetCurrent(&before), "cuCtxGetCurrent");
  check(cuCtxCreate_v2(&own, 0, 0), "cuCtxCreate_v2");
  const CUfunction kernel = programs::load_kernel();
  check(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  launch_some(kernel, stream);
  check(cuCtxDestroy(own), "cuCtxDestroy");
  check(cuCtxSetCurrent(before), "cuCtxSetCurrent");
  second.launch_many(50);
  first.use_here();
  first.launch_many(50);
  first.wait();
  second.wait();
}

void plain(std::uint32_t count) {
  const Gpu gpu;
  gpu.launch_many(count);
  gpu.wait();
}

// Waits now and then, so that what is in flight stays bounded.
void rounds(std::uint32_t count) {
  constexpr std::uint32_t kRound = 10'000;
  const Gpu gpu;
  for (; count > 0; count -= count < kRound ? count : kRound) {
    gpu.launch_many(count < kRound ? count : kRound);
    gpu.wait();
  }
}

void write_everywhere() {
  char noise[512];
  std::memset(noise, 'x', sizeof(noise));
  for (int i = 0; i < 64; ++i) {
    for (int file = 0; file < 3; ++file) {
      if (write(file, noise, sizeof(noise)) < 0) continue;
    }
  }
}

void closed(std::uint32_t count) {
  for (int file = 0; file < 3; ++file) close(file);
  const Gpu gpu;
  gpu.launch_many(count);
  gpu.wait();
  write_everywhere();
  programs::sleep_ms(100);
  gpu.launch_many(count);
  gpu.wait();
}

constexpr int kOwnFiles = 97;  // up to the highest that was closed

bool are_empty(const int (&files)[kOwnFiles]) {
  for (const int file : files) {
    struct stat state;
    if (fstat(file, &state) != 0 || state.st_size != 0) return false;
  }
  return true;
}

void reuse(std::uint32_t count) {
  const Gpu gpu;
  gpu.launch_many(count);
  gpu.wait();
  programs::sleep_ms(200);
  for (int file = 3; file < 100; ++file) close(file);
  int files[kOwnFiles];
  for (int& file : files) file = open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  for (int i = 0; i < 5; ++i) {
    gpu.launch_many(count);
    gpu.wait();
    programs::sleep_ms(100);
  }
  if (!are_empty(files)) _exit(4);
}

void slowly(std::uint32_t count) {
  const Gpu gpu;
  for (std::uint32_t i = 0; i < count; ++i) {
    gpu.launch();
    programs::sleep_ms(1);
  }
  gpu.wait();
}

void polling(std::uint32_t count) {
  const Gpu gpu;
  CUevent event = nullptr;
  check(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  gpu.launch(1, 1'000'000'000);
  check(cuEventRecord(event, nullptr), "cuEventRecord");
  for (std::uint32_t i = 0; i < count; ++i) {
    if (cuEventQuery(event) != CUDA_ERROR_NOT_READY) check(1, "cuEventQuery of unfinished work");
  }
  check(cuEventSynchronize(event), "cuEventSynchronize");
}

void failing(std::uint32_t count) {
  const Gpu gpu;
  std::uint32_t taken = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    taken += programs::launch_by_driver(gpu.kernel(), nullptr) == CUDA_SUCCESS;
    programs::sleep_ms(1);
  }
  std::printf("taken %u\n", taken);
}

void elsewhere(std::uint32_t count) {
  plain(count);
  check(chdir("/"), "chdir");
  programs::sleep_ms(100);
  plain(count);
}

struct What {
  const char* name;
  void (*launch)(std::uint32_t);
};
constexpr What kWhats[] = {{"shapes", shapes}, {"odd", odd},       {"contexts", contexts}, {"plain", plain},
                           {"close", closed},  {"slowly", slowly}, {"chdir", elsewhere},   {"failing", failing},
                           {"rounds", rounds}, {"reuse", reuse},   {"polling", polling}};

}  // namespace

int main(int argc, char** argv) {
  const auto count = static_cast<std::uint32_t>(argc > 2 ? std::atoi(argv[2]) : 0);
  for (const What& what : kWhats) {
    if (argc < 2 || std::strcmp(what.name, argv[1]) != 0) continue;
    what.launch(count);
    std::puts("done");
    return 0;
  }
  return 1;
}
