// What a launch of an empty kernel costs the thread that launches. Each batch is short enough for the queue of its
// stream, is launched as fast as possible and timed, and waited for outside the time.
//
//   empty_launches [BATCHES [LAUNCHES [THREADS [EVENTS]]]]
//
// With EVENTS 1 an event is recorded behind each launch, and another stream waits for it: all three calls are timed.
// It prints {"launches": all of them, "ns": [per launch, a batch each]}. Exit: 0 done, 1 usage, 2 CUDA failed.
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "launch.h"

constexpr int kWarmUp = 3;  // batches that load the kernel and fill pools, and are not timed

__global__ void empty() {}

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct Streams {
  cudaStream_t first = nullptr, second = nullptr;
  cudaEvent_t event = nullptr;  // null: none is recorded
};

double batch(const Streams& streams, int launches) {
  const cudaStream_t stream = streams.first;
  const std::int64_t begin = now_ns();
  for (int i = 0; i < launches; ++i) {
    CHECK(launch(empty, 1, 32, stream));
    if (streams.event == nullptr) continue;
    CHECK(cudaEventRecord(streams.event, stream));
    CHECK(cudaStreamWaitEvent(streams.second, streams.event, 0));
  }
  const std::int64_t end = now_ns();
  CHECK(cudaStreamSynchronize(stream));
  return static_cast<double>(end - begin) / launches;
}

void run(int batches, int launches, bool events, std::vector<double>& ns) {
  Streams stream;
  CHECK(cudaSetDevice(0));
  CHECK(cudaStreamCreateWithFlags(&stream.first, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&stream.second, cudaStreamNonBlocking));
  if (events) CHECK(cudaEventCreateWithFlags(&stream.event, cudaEventDisableTiming));
  for (int i = 0; i < kWarmUp; ++i) batch(stream, launches);
  for (int i = 0; i < batches; ++i) ns.push_back(batch(stream, launches));
}

int main(int argc, char** argv) {
  const int batches = argc > 1 ? std::atoi(argv[1]) : 20, launches = argc > 2 ? std::atoi(argv[2]) : 500;
  const int threads = argc > 3 ? std::atoi(argv[3]) : 1, events = argc > 4 ? std::atoi(argv[4]) : 0;
  if (argc > 5 || events < 0 || events > 1 || batches < 1 || launches < 1 || launches > 1'000 || threads < 1 || threads > 64) {
    std::fprintf(stderr,
                 "usage: empty_launches [BATCHES [LAUNCHES [THREADS [EVENTS]]]]   (at most 1000 launches, 64 threads)\n");
    return 1;
  }
  CHECK(cudaSetDevice(0));
  std::vector<std::vector<double>> found(threads);
  std::vector<std::thread> running;
  for (auto& each : found) running.emplace_back(run, batches, launches, events == 1, std::ref(each));
  for (auto& each : running) each.join();
  std::printf("{\"launches\": %lld, \"ns\": [", static_cast<long long>(threads) * (batches + kWarmUp) * launches);
  const char* between = "";
  for (const auto& each : found) {
    for (const double ns : each) std::printf("%s%.1f", between, ns), between = ", ";
  }
  std::printf("]}\n");
  return 0;
}
