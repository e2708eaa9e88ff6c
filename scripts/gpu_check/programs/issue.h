// Launches in batches, and a file that says after each batch what was issued so far: what the recording of a process
// that was killed is compared with. Its first line is the pid, each other "ISSUED NANOSECONDS": launches since the
// start, and CLOCK_REALTIME after them.
#pragma once
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

#include "launch.h"

constexpr int kBatch = 32;
constexpr int kGrids = 61;         // launch i has 1 + i % kGrids blocks, so that a hole can be seen
constexpr int kBatchesAtOnce = 8;  // then the GPU is waited for, as at the end of a step
constexpr useconds_t kPauseUs = 500;

__global__ void issued() {}
// An address that no program has. In the stand-ins SIM_FATAL_AFTER breaks the context.
__global__ void write_nowhere(int* at) { *at = 1; }

inline std::int64_t real_ns() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec * 1'000'000'000ll + now.tv_nsec;
}

class Issuer {
 public:
  // `path`: the file, made anew.
  explicit Issuer(const char* path) : file_(open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600)) {
    if (file_ < 0) std::perror(path), std::exit(2);
    dprintf(file_, "%d\n", static_cast<int>(getpid()));
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  }
  cudaError_t batch() {
    for (int i = 0; i < kBatch; ++i) {
      const cudaError_t result = launch(issued, 1 + static_cast<unsigned>(count_ % kGrids), 32, stream_);
      if (result != cudaSuccess) return result;
      ++count_;
    }
    dprintf(file_, "%lld %lld\n", count_, static_cast<long long>(real_ns()));
    usleep(kPauseUs);
    return ++batches_ % kBatchesAtOnce == 0 ? cudaStreamSynchronize(stream_) : cudaSuccess;
  }
  // Batches for this long, or until one fails: that is the result.
  cudaError_t run_for(std::int64_t ns) {
    cudaError_t result = cudaSuccess;
    for (const std::int64_t end = real_ns() + ns; result == cudaSuccess && real_ns() < end;) result = batch();
    return result;
  }
  cudaError_t break_context() { return launch(write_nowhere, 1, 1, stream_, reinterpret_cast<int*>(16)); }
  long long count() const { return count_; }

 private:
  int file_;
  cudaStream_t stream_ = nullptr;
  long long count_ = 0, batches_ = 0;
};
