// A graph of empty kernels, captured under the range "capture" and launched again and again: what a node costs, and
// what of the GPU's and the process's memory is in use as the launches go on.
//
//   graphs [LAUNCHES [NODES [SAMPLES]]]
//
// It prints {"nodes", "launches", "call_ns": [a launch's call, per node], "all_ns": [until the GPU has done it, per
// node], "memory": [[node records so far, bytes of the GPU in use, anonymous bytes of the process], ...]}. call_ns and
// all_ns are of SAMPLES groups of launches. Exit: 0 done, 1 usage, 2 CUDA failed.
#include <nvtx3/nvToolsExt.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "launch.h"

constexpr int kGroup = 8;  // launches that are queued before the GPU is waited for

__global__ void node_kernel() {}

struct Sample {
  long long records;
  unsigned long long gpu_bytes;
  long long own_bytes;
};

struct Job {
  int launches = 2'000, nodes = 64, samples = 50;
  cudaStream_t stream = nullptr;
  cudaGraphExec_t graph = nullptr;
  std::vector<double> call_ns, all_ns;
  std::vector<Sample> memory;
};

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// RssAnon of /proc/self/status: the recording's own file is not in it. -1: unknown.
long long own_bytes() {
  long long kib = -1;
  char line[256];
  FILE* status = std::fopen("/proc/self/status", "r");
  while (status != nullptr && std::fgets(line, sizeof(line), status) != nullptr) {
    if (std::sscanf(line, "RssAnon: %lld kB", &kib) == 1) break;
  }
  if (status != nullptr) std::fclose(status);
  return kib < 0 ? -1 : kib * 1024;
}

void capture(Job& job) {
  CHECK(cudaSetDevice(0));
  CHECK(cudaStreamCreateWithFlags(&job.stream, cudaStreamNonBlocking));
  cudaGraph_t graph;
  nvtxRangePushA("capture");
  CHECK(cudaStreamBeginCapture(job.stream, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < job.nodes; ++i) CHECK(launch(node_kernel, 1, 32, job.stream));
  CHECK(cudaStreamEndCapture(job.stream, &graph));
  nvtxRangePop();
  CHECK(cudaGraphInstantiateWithFlags(&job.graph, graph, 0));
  CHECK(cudaGraphDestroy(graph));
}

void measure_memory(Job& job, long long launches) {
  std::size_t available = 0, total = 0;
  CHECK(cudaMemGetInfo(&available, &total));
  job.memory.push_back({launches * job.nodes, total - available, own_bytes()});
}

// `count` launches, some queued at a time; the time of one node.
void launch_group(Job& job, int count) {
  std::int64_t called_ns = 0;
  const std::int64_t begin = now_ns();
  for (int done = 0; done < count; ++done) {
    const std::int64_t before = now_ns();
    CHECK(cudaGraphLaunch(job.graph, job.stream));
    called_ns += now_ns() - before;
    if (done % kGroup == kGroup - 1) CHECK(cudaStreamSynchronize(job.stream));
  }
  CHECK(cudaStreamSynchronize(job.stream));
  const double nodes = static_cast<double>(count) * job.nodes;
  job.call_ns.push_back(static_cast<double>(called_ns) / nodes);
  job.all_ns.push_back(static_cast<double>(now_ns() - begin) / nodes);
}

void print_list(const char* name, const std::vector<double>& values) {
  std::printf(", \"%s\": [", name);
  for (std::size_t i = 0; i < values.size(); ++i) std::printf("%s%.2f", i == 0 ? "" : ", ", values[i]);
  std::printf("]");
}

void print_done(const Job& job) {
  std::printf("{\"nodes\": %d, \"launches\": %d", job.nodes, job.launches);
  print_list("call_ns", job.call_ns);
  print_list("all_ns", job.all_ns);
  std::printf(", \"memory\": [");
  const char* between = "";
  for (const Sample& each : job.memory) {
    std::printf("%s[%lld, %llu, %lld]", between, each.records, each.gpu_bytes, each.own_bytes);
    between = ", ";
  }
  std::printf("]}\n");
}

int main(int argc, char** argv) {
  Job job;
  if (argc > 1) job.launches = std::atoi(argv[1]);
  if (argc > 2) job.nodes = std::atoi(argv[2]);
  if (argc > 3) job.samples = std::atoi(argv[3]);
  if (argc > 4 || job.nodes < 1 || job.nodes > 100'000 || job.samples < 1 || job.launches < job.samples) {
    std::fprintf(stderr, "usage: graphs [LAUNCHES [NODES [SAMPLES]]]   (no more samples than launches)\n");
    return 1;
  }
  capture(job);
  measure_memory(job, 0);
  int done = 0;
  for (int sample = 1; sample <= job.samples; ++sample) {
    const int until = static_cast<int>(static_cast<long long>(job.launches) * sample / job.samples);
    launch_group(job, until - done);
    done = until;
    measure_memory(job, done);
  }
  print_done(job);
  CHECK(cudaGraphExecDestroy(job.graph));
  return 0;
}
