#include "training.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include "../standin/true_clock.h"
#include "annotations.h"
#include "backward_thread.h"
#include "nvtx.h"
#include "other_profiler.h"

namespace sim {
namespace {

constexpr std::uint64_t kBucketBytes = 25 << 20;       // PyTorch's bucket_cap_mb
constexpr std::uint64_t kLastBucketBytes = 7'340'032;  // the rest of the gradients
constexpr std::uint64_t kGatheredBytes = 4 << 20;      // of each rank
constexpr std::uint64_t kReducedBytesPerUs = 150'000;
constexpr std::uint64_t kBurstKernelNs = 150;
constexpr int kCaptureStep = 2;
constexpr std::uint64_t kNormBytes = 4, kMetricsBytes = 1'024, kActivationBytes = 4 << 20, kMetricsNs = 12'000;
constexpr std::int64_t kBurstScales = 96;  // times seven kernels: hundreds of launch shapes

std::uint64_t weight_of(std::span<const Kernel> kernels) {
  std::uint64_t weight = 0;
  for (const Kernel& kernel : kernels) weight += kernel.weight;
  return weight;
}

// The GPU works for about 85 % of a step; the rest is the host's.
std::uint64_t share_of(const Model& model, const Options& options) {
  const std::uint64_t per_layer = weight_of(model.forward) + weight_of(model.backward);
  const std::uint64_t weight =
      per_layer * static_cast<std::uint64_t>(options.layers) + weight_of(model.loss) + weight_of(model.optimizer);
  return static_cast<std::uint64_t>(options.step_us) * 850 / weight / (options.tiny_kernels ? 100 : 1);
}

// The host does nothing for its GPU, and the truth says so.
void pause_us(std::int64_t us) {
  if (us <= 0) return;
  Line line = host_line("host_pause");
  const std::uint64_t start_ns = true_ns();
  std::this_thread::sleep_for(std::chrono::microseconds(us));
  say(line.number("start", start_ns).number("end", true_ns()));
}

}  // namespace

Training::Training(const Options& options, const Communicator& world, const Communicator* part, Gpu& gpu)
    : options_(options),
      model_(model_named(options.model)),
      world_(world),
      part_(part),
      gpu_(gpu),
      share_ns_(share_of(model_, options)) {}

void Training::run() {
  if (options_.slow_gpu == world_.rank) gpu_.be_slower(options_.slow_gpu_factor);
  if (options_.pageable == world_.rank) gpu_.use_pageable();
  BackwardThread backward_thread([this] { gpu_.use_here(); }, [this] { backward(); });
  mark("training starts");
  if (options_.nvtx) name_things(gpu_.compute(), gpu_.communication(), gpu_.device());
  if (options_.memory) gpu_.use_pool();
  OtherProfiler profiler(options_.profiler);
  for (int number = 0; number < options_.steps; ++number) {
    profiler.at_step(number);
    const OpenRange loading = start_range("dataloader");
    pause_us(options_.burst > 0 ? 0 : options_.step_us * 6 / 100);
    end_range(loading);
    const Range range("Train step " + std::to_string(number));
    if (options_.burst > 0) {
      burst(number);
    } else {
      step(number, backward_thread);
    }
  }
  profiler.at_step(options_.steps);
  if (graph_.has_value()) gpu_.destroy(*graph_);
}

void Training::step(int number, BackwardThread& backward_thread) {
  step_ = number;
  if (options_.nvtx) annotate(number);
  if (options_.hang == number) gpu_.begin_what_never_ends();
  while (options_.stuck == world_.rank && number == options_.steps / 2) pause();
  if (options_.straggler == world_.rank) pause_us(options_.straggler_us);
  if (options_.memory) gpu_.allocate_and_free();
  if (options_.graphs && number >= kCaptureStep) {
    replay(backward_thread);
  } else {
    forward();
    backward_thread.run();
  }
  if (part_ != nullptr || options_.groups) reduce_metrics();
  if (options_.p2p) exchange_with_neighbours();
  optimize(number);
}

// The capture takes the backward thread's launches too: it captures the stream, not the thread.
void Training::replay(BackwardThread& backward_thread) {
  if (!graph_.has_value()) {
    const Range range("capture");
    gpu_.begin_capture();
    forward();
    backward_thread.run();
    graph_ = gpu_.end_capture();
  }
  gpu_.launch(*graph_);
}

void Training::reduce_metrics() {
  gpu_.let_communication_follow();
  const CUfunction kernel = gpu_.all_reduce_function();
  if (options_.groups) group_start();
  if (part_ != nullptr) all_reduce(*part_, kNormBytes, kernel, gpu_.communication(), kMetricsNs);
  if (options_.groups) {
    group_start();  // a library that groups its own calls
    all_reduce(world_, kMetricsBytes, kernel, gpu_.communication(), kMetricsNs);
    group_end();
    all_reduce(world_, kNormBytes, kernel, gpu_.communication(), kMetricsNs);
    group_end();
  }
  gpu_.let_compute_follow();
}

void Training::exchange_with_neighbours() {
  const int next = (world_.rank + 1) % world_.ranks;
  const int before = (world_.rank + world_.ranks - 1) % world_.ranks;
  gpu_.let_communication_follow();
  group_start();
  send(world_, kActivationBytes, next);
  receive(world_, kActivationBytes, before, gpu_.send_receive_function(), gpu_.communication(), kMetricsNs);
  group_end();
  gpu_.let_compute_follow();
}

void Training::burst(int number) {
  const auto kernels = model_.forward;
  for (std::int64_t i = 0; i < options_.burst; ++i) {
    const auto scale = static_cast<std::uint32_t>((i + number) % kBurstScales + 1);
    gpu_.launch(kernels[static_cast<std::size_t>(i) % kernels.size()], scale, kBurstKernelNs);
  }
  gpu_.wait();
}

void Training::launch_all(std::span<const Kernel> kernels, int layer) {
  const auto scale = static_cast<std::uint32_t>(1 + layer % 3);
  for (const Kernel& kernel : kernels) gpu_.launch(kernel, scale, kernel.weight * share_ns_);
}

void Training::forward() {
  gpu_.copy_batch();
  const Range range("forward");
  if (options_.copy_engine) gather_parameters(), gpu_.let_compute_follow();  // of the first half, which waits for it
  const int more = options_.more_work == world_.rank ? (options_.layers + 1) / 2 : 0;
  for (int layer = 0; layer < options_.layers + more; ++layer) {
    if (options_.copy_engine && layer == 0) gather_parameters();  // of the second, beside the first
    if (options_.copy_engine && layer == options_.layers / 2) gpu_.let_compute_follow();
    launch_all(model_.forward, layer);
    if (options_.item_sync == world_.rank) gpu_.copy_loss_and_wait();
  }
  launch_all(model_.loss, 0);
}

void Training::gather_parameters() {
  gpu_.let_communication_follow();
  if (options_.groups) group_start();
  all_gather(world_, kGatheredBytes, gpu_.communication());
  if (options_.groups) group_end();
}

// In the backward thread. A bucket is reduced as soon as the layers that fill it are done.
void Training::backward() {
  const Range range("backward");
  gpu_.clear_gradients((options_.buckets - 1) * kBucketBytes + kLastBucketBytes);
  int reduced = 0;
  for (int done = 1; done <= options_.layers; ++done) {
    launch_all(model_.backward, options_.layers - done);
    for (; reduced < options_.buckets * done / options_.layers; ++reduced) reduce_bucket(reduced);
  }
  gpu_.let_compute_follow();
}

void Training::reduce_bucket(int bucket) {
  const std::uint64_t bytes = bucket + 1 < options_.buckets ? kBucketBytes : kLastBucketBytes;
  const auto most_ns = static_cast<std::uint64_t>(options_.step_us * 500 / options_.buckets);
  const std::uint64_t transfer_ns = std::min(bytes * 1'000 / kReducedBytesPerUs, most_ns);
  const std::uint64_t spread_ns = gpu_.vary(100'000) % 3'000;  // ranks end within 3 us of each other
  if (options_.left_out == world_.rank && step_ == options_.steps / 2 && bucket == 0) return;
  gpu_.let_communication_follow();
  const auto slower_ns = static_cast<std::uint64_t>(static_cast<double>(transfer_ns) * options_.slow_link);
  all_reduce(world_, bytes, gpu_.all_reduce_function(), gpu_.communication(), slower_ns + spread_ns);
}

void Training::optimize(int number) {
  const Range range("optimizer");
  launch_all(model_.optimizer, 0);
  if (number % world_.ranks == world_.rank) gpu_.copy_to_peer(1 << 20);
  if ((number + 1) % options_.log_every == 0) gpu_.copy_loss_and_wait();
}

}  // namespace sim
