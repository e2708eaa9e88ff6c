// Known work for one GPU: so many kernels of these names and grids, copies, sets, events between two streams, and a graph that
// is launched again and again. It prints what it did as JSON, to be compared with what was recorded.
//
//   nvcc -O2 -std=c++17 -o known_work known_work.cu
//   CUDA_INJECTION64_PATH=$PWD/libagent.so ./known_work --kernels 1000 --graphs 100 > done.json
//   python3 compare.py done.json traces/
//
// NVTX is in the headers of the toolkit. Exit: 0 done and the numbers are right, 1 usage, 2 CUDA failed, 3 wrong numbers.
#include <nvtx3/nvToolsExt.h>

#include <cstdio>
#include <cstring>
#include <vector>

#include "launch.h"

constexpr int kCount = 1 << 16;  // floats in an array
constexpr int kBlock = 256;
constexpr int kGraphKernels = 3;
constexpr size_t kBytes = kCount * sizeof(float);

__global__ void add_one(float* values, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] += 1.0f;
}

// The same name in two template forms, and a two-dimensional grid.
template <int Times>
__global__ void add_times(float* values, int width) {
  const int i = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < width) values[i] += Times;
}

__global__ void spin(long long cycles) {
  const long long begin = clock64();
  while (clock64() - begin < cycles) {
  }
}

struct Job {
  int kernels = 1000, graphs = 100;
  float *left = nullptr, *right = nullptr;
  cudaStream_t first = nullptr, second = nullptr;
  cudaEvent_t ready = nullptr;
};

void prepare(Job& job) {
  CHECK(cudaSetDevice(0));
  CHECK(cudaMalloc(&job.left, kBytes));
  CHECK(cudaMalloc(&job.right, kBytes));
  CHECK(cudaStreamCreateWithFlags(&job.first, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithFlags(&job.second, cudaStreamNonBlocking));
  CHECK(cudaEventCreateWithFlags(&job.ready, cudaEventDisableTiming));
  const std::vector<float> zeros(kCount);
  CHECK(cudaMemcpyAsync(job.left, zeros.data(), kBytes, cudaMemcpyHostToDevice, job.first));
  CHECK(cudaMemsetAsync(job.left, 0, kBytes, job.first));
  CHECK(cudaMemsetAsync(job.right, 0, kBytes, job.second));
  CHECK(cudaStreamSynchronize(job.first));
}

// `kernels` launches on each stream: the second one waits for an event of the first before each tenth.
void run_streams(Job& job) {
  nvtxRangePushA("streams");
  for (int i = 0; i < job.kernels; ++i) {
    CHECK(launch(add_one, kCount / kBlock, kBlock, job.first, job.left, kCount));
    if (i % 10 == 0) {
      CHECK(cudaEventRecord(job.ready, job.first));
      CHECK(cudaStreamWaitEvent(job.second, job.ready, 0));
    }
    CHECK(launch(add_times<2>, dim3(16, kCount / kBlock / 16), kBlock, job.second, job.right, kCount));
  }
  nvtxRangePop();
}

cudaGraphExec_t capture(Job& job) {
  nvtxRangePushA("capture");
  cudaGraph_t graph;
  cudaGraphExec_t ready;
  CHECK(cudaStreamBeginCapture(job.first, cudaStreamCaptureModeThreadLocal));
  for (int i = 0; i < kGraphKernels; ++i) {
    CHECK(launch(add_times<3>, kCount / kBlock, kBlock, job.first, job.left, kCount));
  }
  CHECK(cudaMemcpyAsync(job.right, job.left, kBytes, cudaMemcpyDeviceToDevice, job.first));
  CHECK(cudaStreamEndCapture(job.first, &graph));
  CHECK(cudaGraphInstantiateWithFlags(&ready, graph, 0));
  CHECK(cudaGraphDestroy(graph));
  nvtxRangePop();
  return ready;
}

void run_graphs(Job& job) {
  CHECK(cudaStreamSynchronize(job.second));
  const cudaGraphExec_t graph = capture(job);
  nvtxRangePushA("graphs");
  for (int i = 0; i < job.graphs; ++i) CHECK(cudaGraphLaunch(graph, job.first));
  CHECK(cudaStreamSynchronize(job.first));
  nvtxRangePop();
  CHECK(cudaGraphExecDestroy(graph));
}

// One kernel that overlaps another, as NCCL's and PDL's do.
void run_overlap(Job& job) {
  CHECK(launch(spin, 1, 1, job.first, 1'000'000ll));
  CHECK(launch(spin, 1, 1, job.second, 1'000'000ll));
  CHECK(cudaDeviceSynchronize());
}

bool is_right(const Job& job) {
  std::vector<float> left(kCount), right(kCount);
  CHECK(cudaMemcpyAsync(left.data(), job.left, kBytes, cudaMemcpyDeviceToHost, job.first));
  CHECK(cudaMemcpyAsync(right.data(), job.right, kBytes, cudaMemcpyDeviceToHost, job.first));
  CHECK(cudaStreamSynchronize(job.first));
  if (kSimulated) return true;  // its memory is numbers
  const float expected = job.kernels + 3.0f * kGraphKernels * job.graphs;
  const float copied = job.graphs > 0 ? expected : 2.0f * job.kernels;
  for (int i = 0; i < kCount; ++i) {
    if (left[i] != expected || right[i] != copied) return false;
  }
  return true;
}

void print_done(const Job& job) {
  const int blocks = kCount / kBlock;
  std::printf("{\"kernel\": %d, \"memcpy\": %d, \"memset\": 2, \"graph_launch\": %d, \"event_records\": %d,\n",
              2 * job.kernels + job.graphs * kGraphKernels + 2, job.graphs + 3, job.graphs,
              (job.kernels + 9) / 10);
  std::printf(" \"kernels\": [\n");
  std::printf("  {\"name\": \"add_one\", \"count\": %d, \"grid\": [%d, 1, 1], \"block\": [%d, 1, 1]},\n", job.kernels,
              blocks, kBlock);
  std::printf("  {\"name\": \"add_times<2>\", \"count\": %d, \"grid\": [16, %d, 1], \"block\": [%d, 1, 1]},\n", job.kernels,
              blocks / 16, kBlock);
  std::printf("  {\"name\": \"add_times<3>\", \"count\": %d, \"grid\": [%d, 1, 1], \"block\": [%d, 1, 1]},\n",
              job.graphs * kGraphKernels, blocks, kBlock);
  std::printf("  {\"name\": \"spin\", \"count\": 2, \"grid\": [1, 1, 1], \"block\": [1, 1, 1]}],\n");
  std::printf(" \"memcpy_bytes\": {\"host_to_device\": %zu, \"device_to_host\": %zu, \"device_to_device\": %zu},\n", kBytes,
              2 * kBytes, job.graphs * kBytes);
  std::printf(" \"memset_bytes\": %zu, \"nvtx_ranges\": [\"streams\", \"capture\", \"graphs\"]}\n", 2 * kBytes);
}

bool parse(int argc, char** argv, Job& job) {
  for (int i = 1; i + 1 < argc; i += 2) {
    int* value = std::strcmp(argv[i], "--kernels") == 0 ? &job.kernels : std::strcmp(argv[i], "--graphs") == 0 ? &job.graphs : nullptr;
    if (value == nullptr) return false;
    *value = std::atoi(argv[i + 1]);
    // A float counts to 2^24 without a gap.
    if (*value < 0 || *value > 1'000'000) return false;
  }
  return argc % 2 == 1;
}

int main(int argc, char** argv) {
  Job job;
  if (!parse(argc, argv, job)) {
    std::fprintf(stderr, "usage: known_work [--kernels N] [--graphs N]   (0 to 1000000)\n");
    return 1;
  }
  prepare(job);
  run_streams(job);
  run_graphs(job);
  run_overlap(job);
  if (!is_right(job)) {
    std::fprintf(stderr, "known_work: the arrays do not hold what the kernels should have left there\n");
    return 3;
  }
  print_done(job);
  return 0;
}
