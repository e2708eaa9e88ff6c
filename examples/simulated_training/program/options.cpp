#include "options.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <utility>

#include "../standin/collective_area.h"

namespace sim {
namespace {

void add_options(CLI::App& app, Options& options) {
  app.add_option("--ranks", options.ranks, "processes, one per rank")
      ->check(CLI::Range(1, static_cast<int>(kMaxRanks)))
      ->capture_default_str();
  app.add_option("--steps", options.steps, "training steps")->check(CLI::NonNegativeNumber)->capture_default_str();
  app.add_option("--dir", options.dir, "where the agents write")->envname("TRACETOOL_DIR")->capture_default_str();
  app.add_option("--straggler", options.straggler, "this rank's host is late in every step");
  app.add_option("--straggler-us", options.straggler_us, "by this much")->capture_default_str();
  app.add_option("--slow-gpu", options.slow_gpu, "kernels of this rank take longer, those of collectives aside");
  app.add_option("--slow-gpu-factor", options.slow_gpu_factor, "so many times as long")
      ->check(CLI::Range(1.0, 100.0))
      ->capture_default_str();
  app.add_option_function<double>("--slow-link", [&](double factor) { options.slow_link = factor; },
                                  "transfers of collectives take so many times as long (4 where no number stands)")
      ->expected(0, 1)
      ->default_str("4")
      ->check(CLI::Range(1.0, 100.0))
      ->type_name("[FACTOR]");
  app.add_option("--pageable", options.pageable, "this rank copies its batches from pageable memory, which blocks its host");
  app.add_option("--item-sync", options.item_sync,
                 "this rank reads a number from its GPU after each layer of the forward pass, as loss.item() does");
  app.add_option("--more-work", options.more_work, "the forward pass of this rank has half as many layers more");
  app.add_option("--clock-offset-us", options.clock_offset_us, "clock of host h: ahead by h times this");
  app.add_option("--drift-ppm", options.drift_ppm, "clock of host h: faster by h times this");
  app.add_option("--set-clock-us", options.set_clock_us,
                 "in the middle of the run the wall clock of the last host is set ahead by this, or back");
  app.add_option("--hosts", options.hosts, "simulated hosts (default 1; 2 where their clocks differ)")
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", options.seed, "of all that varies")->capture_default_str();
  app.add_option("--truth", options.truth, "write what really happened to FILE.rankN, and an index to FILE");
  app.add_option("--step-us", options.step_us, "length of a step")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--batch-mib", options.batch_mib, "of a batch, which is copied to the GPU in each step, and then half of it")
      ->check(CLI::Range(1, 1'024))
      ->capture_default_str();
  app.add_option("--log-every", options.log_every, "steps, after each of which a rank reads its loss from the GPU and waits for it; between them its host runs ahead")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--model", options.model, "whose kernels a layer launches")
      ->check(CLI::IsMember({"transformer", "cnn"}))
      ->capture_default_str();
  app.add_option("--layers", options.layers, "of the model")->check(CLI::Range(1, 1'000))->capture_default_str();
  app.add_option("--buckets", options.buckets, "of the gradient all-reduce")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  app.add_flag("--tiny-kernels", options.tiny_kernels, "kernels take a hundredth of the time: the GPU waits for their launches");
  app.add_option("--burst", options.burst, "instead of a training step: N kernels as fast as they can be launched")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--ahead-us", options.ahead_us, "the host runs ahead: work begins at least so long after its launch")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--rate", options.rate,
                 "instead of training steps: N kernels a second, for steps times step-us, without a wait for the device")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--threads", options.threads, "with --rate: that launch them")->check(CLI::Range(1, 64));
  app.add_option("--streams", options.streams, "with --rate: of each thread, which take turns")->check(CLI::Range(1, 64));
  app.add_flag("--graphs", options.graphs, "from step 2 on, forward and backward are captured once and replayed");
  app.add_flag("--groups", options.groups, "several NCCL calls in a group");
  app.add_flag("--copy-engine", options.copy_engine, "the parameters are gathered by copy engines, without kernels of NCCL");
  app.add_flag("--p2p", options.p2p, "send to and receive from neighbours, in a group");
  app.add_option("--comms", options.comms, "split the ranks into N communicators, which reduce too")
      ->check(CLI::Range(1, static_cast<int>(kMaxRanks)));
  app.add_flag("--nvtx", options.nvtx, "categories, colours, payloads, registered strings, domains, names of streams");
  app.add_flag("--memory", options.memory, "allocate and free device memory, also asynchronously and from pools");
  app.add_option("--stuck", options.stuck, "in the middle step this rank's host stops for good; the job ends when somebody kills it");
  app.add_option("--leaves-out", options.left_out, "this rank leaves out one all-reduce in the middle step, as no rank should");
  app.add_option("--hang", options.hang,
                 "in this step a kernel begins that never ends; the ranks leave without waiting. With --rate: the Nth "
                 "kernel of each thread, and the threads go on launching");
  app.add_option("--hang-us", options.hang_us, "with --rate: the kernel of --hang ends after so long")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--profiler", options.profiler,
                 "A-B: from step A to B another tool uses CUPTI, as torch.profiler does");
  app.add_option("--agent", options.agent, "the libagent.so to inject (default: ../../agent/libagent.so from here)");
  app.add_flag("--no-agent", options.no_agent, "inject nothing");
  app.add_option("--ring-bytes", options.ring_bytes, "the agents' ring, such as 64K or 16M (TRACETOOL_BUFFER)");
}

void complete(Options& options) {
  const bool shifted = options.clock_offset_us != 0 || options.drift_ppm != 0 || options.set_clock_us != 0;
  if (options.hosts == 0) options.hosts = shifted ? 2 : 1;
  if (options.hosts > options.ranks) throw CLI::ValidationError("--hosts", "there are more hosts than ranks");
  if (options.set_clock_us != 0 && options.hosts == 1) throw CLI::ValidationError("--set-clock-us", "of one host nothing tells it");
  if (options.copy_engine && options.hosts > 1) throw CLI::ValidationError("--copy-engine", "copies stay within a host");
  const std::pair<const char*, int> of_ranks[] = {{"--straggler", options.straggler}, {"--slow-gpu", options.slow_gpu},
                                                  {"--pageable", options.pageable},   {"--item-sync", options.item_sync},
                                                  {"--more-work", options.more_work}, {"--leaves-out", options.left_out}, {"--stuck", options.stuck}};
  for (const auto& [name, rank] : of_ranks) {
    if (rank >= options.ranks) throw CLI::ValidationError(name, "there is no such rank");
  }
  if (options.item_sync >= 0 && options.graphs) throw CLI::ValidationError("--item-sync", "nothing can be read back in a capture");
}

}  // namespace

Options parse_options(int argc, char** argv) {
  CLI::App app{
      "A training job without a GPU: stand-ins for libcuda and libcupti, one process per rank, recorded by the "
      "shipped libagent.so."};
  Options options;
  add_options(app, options);
  try {
    app.parse(argc, argv);
    complete(options);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error) == 0 ? 0 : 1);
  }
  return options;
}

}  // namespace sim
