// Launches with the host ahead of the GPU, and does one of the things that recorders have stumbled over.
//
//   first_minutes HOW REPORT KERNEL_US MS
//
// HOW: kill (SIGKILL), reset (cudaDeviceReset), leave (return from main), each in the middle of the load and without a wait
// for the GPU; queries (kQueries of an event, under load, then a wait); soak (twice as slow as the GPU, then a wait).
// REPORT: one line {"launched", "finished": kernels that the GPU was seen to have finished, a lower bound, "queries"
// and of these "done": that found their event done, "real_ns": CLOCK_REALTIME at that moment}; of soak also {"ms", "tid", "name", "cpu_ms"} of each thread, several times.
// Kernels run for about KERNEL_US; in the stand-ins SIM_KERNEL_NS says how long. Exit: 0 or as HOW says; 1 usage, 2 CUDA
// failed.
#include <dirent.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <fstream>
#include <string>
#include <thread>

#include "launch.h"

constexpr int kEvery = 8;       // launches between events
constexpr int kEvents = 512;    // more than a stream queues launches
constexpr int kQueries = 10'000;
constexpr int kSamples = 12;    // of the threads of a soak

__global__ void spin(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

std::int64_t now_ns(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1'000'000'000ll + now.tv_nsec;
}

class Load {
 public:
  explicit Load(long long kernel_us) {
    int khz = 1'000'000;
#ifdef __CUDACC__
    CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
#endif
    cycles_ = kernel_us * khz / 1'000;
    CHECK(cudaSetDevice(0));
    CHECK(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    for (cudaEvent_t& event : events_) CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  }
  void launch_one() {
    CHECK(launch(spin, 1, 1, stream_, cycles_));
    if (++launched_ % kEvery == 0) CHECK(cudaEventRecord(event(launched_ / kEvery - 1), stream_));
    look();
  }
  // As fast as the queue of the stream takes them.
  void run_for(std::int64_t ms) {
    for (const std::int64_t end = now_ns(CLOCK_MONOTONIC) + ms * 1'000'000; now_ns(CLOCK_MONOTONIC) < end;) launch_one();
  }
  void run_slowly(std::int64_t ms, long long kernel_us) {
    const std::int64_t begin = now_ns(CLOCK_MONOTONIC);
    for (std::int64_t at = begin; at < begin + ms * 1'000'000; at += 2'000 * kernel_us) {
      while (now_ns(CLOCK_MONOTONIC) < at) usleep(static_cast<useconds_t>(kernel_us));
      launch_one();
    }
  }
  void query() {
    for (int i = 0; i < kQueries; ++i) is_done(events_[0]);
  }
  void wait() { CHECK(cudaStreamSynchronize(stream_)); }
  void report(const char* path) {
    while (look()) {
    }
    FILE* file = std::fopen(path, "w");
    if (file == nullptr) std::perror(path), std::exit(2);
    std::fprintf(file, "{\"launched\": %lld, \"finished\": %lld, \"queries\": %lld, \"done\": %lld, \"real_ns\": %lld}\n", launched_,
                 finished_, queries_, done_, static_cast<long long>(now_ns(CLOCK_REALTIME)));
    std::fclose(file);
  }

 private:
  cudaEvent_t event(long long number) { return events_[number % kEvents]; }
  bool is_done(cudaEvent_t event) {
    const cudaError_t result = cudaEventQuery(event);
    if (result != cudaErrorNotReady) CHECK(result);
    ++queries_;
    done_ += result == cudaSuccess;
    return result == cudaSuccess;
  }
  // Whether the next event was seen to be there.
  bool look() {
    const long long next = finished_ / kEvery;
    if (next >= launched_ / kEvery || !is_done(event(next))) return false;
    finished_ += kEvery;
    return true;
  }

  cudaStream_t stream_ = nullptr;
  cudaEvent_t events_[kEvents];
  long long cycles_ = 0, launched_ = 0, finished_ = 0, queries_ = 0, done_ = 0;
};

// One line for each thread: its name and the CPU time that it has taken.
void tell_threads(std::int64_t ms) {
  DIR* tasks = opendir("/proc/self/task");
  for (const dirent* each; tasks != nullptr && (each = readdir(tasks)) != nullptr;) {
    if (each->d_name[0] == '.') continue;
    std::ifstream stat(std::string("/proc/self/task/") + each->d_name + "/stat");
    std::string text((std::istreambuf_iterator<char>(stat)), {});
    const std::size_t open = text.find('('), close = text.rfind(')');
    if (open == text.npos || close == text.npos) continue;
    unsigned long long user = 0, system = 0;
    std::sscanf(text.c_str() + close + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &system);
    std::printf("{\"ms\": %lld, \"tid\": %s, \"name\": \"%s\", \"cpu_ms\": %llu}\n", static_cast<long long>(ms), each->d_name,
                text.substr(open + 1, close - open - 1).c_str(), (user + system) * 1'000 / sysconf(_SC_CLK_TCK));
  }
  if (tasks != nullptr) closedir(tasks);
  std::fflush(stdout);
}

void soak(Load& load, std::int64_t ms, long long kernel_us) {
  std::atomic<bool> ended{false};
  std::thread sampler([&] {
    for (int i = 1; i <= kSamples && !ended; ++i) {
      usleep(static_cast<useconds_t>(ms * 1'000 / kSamples));
      tell_threads(ms * i / kSamples);
    }
  });
  load.run_slowly(ms, kernel_us);
  ended = true;
  sampler.join();
  load.wait();
}

int main(int argc, char** argv) {
  const std::string how = argc == 5 ? argv[1] : "";
  const bool known = how == "kill" || how == "reset" || how == "leave" || how == "queries" || how == "soak";
  if (!known || std::atoi(argv[3]) < 1 || std::atoi(argv[4]) < 1) {
    std::fprintf(stderr, "usage: first_minutes kill|reset|leave|queries|soak REPORT KERNEL_US MS\n");
    return 1;
  }
  const long long kernel_us = std::atoi(argv[3]), ms = std::atoi(argv[4]);
  Load load(kernel_us);
  if (how == "soak") {
    soak(load, ms, kernel_us);
  } else {
    load.run_for(ms);
  }
  if (how == "queries") load.query(), load.wait();
  load.report(argv[2]);
  if (how == "kill") kill(getpid(), SIGKILL);
  if (how == "reset") CHECK(cudaDeviceReset());
  return 0;
}
