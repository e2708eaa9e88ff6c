#include "options.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <utility>

#include "../standin/collective_area.h"

namespace sim {
namespace {

void add_options(CLI::App& app, Options& options) {
  app.add_option("--ranks", options.ranks, "Number of ranks, each a process")
      ->check(CLI::Range(1, static_cast<int>(kMaxRanks)))
      ->capture_default_str();
  app.add_option("--steps", options.steps, "Number of training steps")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--dir", options.dir, "Directory for recordings")->envname("TRACETOOL_DIR")->capture_default_str();
  app.add_option("--straggler", options.straggler, "Rank whose host is late in every step");
  app.add_option("--straggler-us", options.straggler_us, "Delay of that host in us")->capture_default_str();
  app.add_option("--slow-gpu", options.slow_gpu, "Rank with slower kernels, except those of collectives");
  app.add_option("--slow-gpu-factor", options.slow_gpu_factor, "Factor by which these kernels are slower")
      ->check(CLI::Range(1.0, 100.0))
      ->capture_default_str();
  app.add_option_function<double>(
         "--slow-link", [&](double factor) { options.slow_link = factor; },
         "Slow down transfers of collectives by FACTOR (4 if it is missing)")
      ->expected(0, 1)
      ->default_str("4")
      ->check(CLI::Range(1.0, 100.0))
      ->type_name("[FACTOR]");
  app.add_option("--pageable", options.pageable,
                 "Rank that copies its batches from pageable memory, which blocks its host");
  app.add_option("--item-sync", options.item_sync,
                 "Rank that reads a number from its GPU after each layer of the forward pass, like loss.item()");
  app.add_option("--more-work", options.more_work, "Rank whose forward pass has 1.5 times the layers");
  app.add_option("--clock-offset-us", options.clock_offset_us, "Set the clock of host h ahead by h times this");
  app.add_option("--drift-ppm", options.drift_ppm, "Let the clock of host h run faster by h times this");
  app.add_option("--set-clock-us", options.set_clock_us,
                 "Set the wall clock of the last host ahead (or back) by this in the middle of the run");
  app.add_option("--hosts", options.hosts, "Number of simulated hosts (default: 1, or 2 if their clocks differ)")
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", options.seed, "Random seed")->capture_default_str();
  app.add_option("--truth", options.truth, "Write the true events to FILE.rankN and an index to FILE");
  app.add_option("--step-us", options.step_us, "Length of a step in us")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--batch-mib", options.batch_mib,
                 "Size of a batch in MiB. Each step copies it to the GPU, and then half of it")
      ->check(CLI::Range(1, 1'024))
      ->capture_default_str();
  app.add_option("--log-every", options.log_every,
                 "Read the loss from the GPU every N steps. Between these waits the host runs ahead")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--model", options.model, "Model with the kernels to launch")
      ->check(CLI::IsMember({"transformer", "cnn"}))
      ->capture_default_str();
  app.add_option("--layers", options.layers, "Number of layers")->check(CLI::Range(1, 1'000))->capture_default_str();
  app.add_option("--buckets", options.buckets, "Number of buckets of the gradient all-reduce")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  app.add_flag("--tiny-kernels", options.tiny_kernels,
               "Shorten kernels to a hundredth, so that the GPU waits for launches");
  app.add_option("--burst", options.burst, "Launch N kernels as fast as possible instead of training steps")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--ahead-us", options.ahead_us,
                 "Let the host run ahead: GPU work begins at least this many us after its launch")
      ->check(CLI::NonNegativeNumber);
  app.add_option(
         "--rate", options.rate,
         "Launch N kernels a second instead of training steps, for steps times step-us, without synchronization")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--threads", options.threads, "Number of launching threads, with --rate")->check(CLI::Range(1, 64));
  app.add_option("--streams", options.streams, "Number of streams per thread, used in turn, with --rate")
      ->check(CLI::Range(1, 64));
  app.add_flag("--graphs", options.graphs, "Capture forward and backward in step 2 and replay them");
  app.add_flag("--groups", options.groups, "Put several NCCL calls in a group");
  app.add_flag("--copy-engine", options.copy_engine, "Gather the parameters by copy engines, without NCCL kernels");
  app.add_flag("--p2p", options.p2p, "Send to and receive from neighbors, in a group");
  app.add_option("--comms", options.comms, "Split the ranks into N communicators, which also reduce")
      ->check(CLI::Range(1, static_cast<int>(kMaxRanks)));
  app.add_flag("--nvtx", options.nvtx,
               "Use NVTX categories, colors, payloads, registered strings, domains and stream names");
  app.add_flag("--memory", options.memory, "Allocate and free device memory, also asynchronously and from pools");
  app.add_option("--stuck", options.stuck,
                 "Rank whose host stops in the middle step. The job hangs until it is killed");
  app.add_option("--leaves-out", options.left_out,
                 "Rank that skips one all-reduce in the middle step, an error of the program");
  app.add_option("--hang", options.hang,
                 "Start a kernel in step N that never ends; the ranks exit without waiting. With --rate, it is the Nth "
                 "kernel of each thread, and the threads continue to launch");
  app.add_option("--hang-us", options.hang_us, "End the kernel of --hang after this many us, with --rate")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--profiler", options.profiler,
                 "A-B: use CUPTI from step A to B like torch.profiler, as another tool");
  app.add_option("--agent", options.agent,
                 "libagent.so to inject (default: ../../agent/libagent.so, relative to this program)");
  app.add_flag("--no-agent", options.no_agent, "Inject no agent");
  app.add_option("--ring-bytes", options.ring_bytes, "Ring size of the agents, like 64K or 16M (TRACETOOL_BUFFER)");
}

void complete(Options& options) {
  const bool shifted = options.clock_offset_us != 0 || options.drift_ppm != 0 || options.set_clock_us != 0;
  if (options.hosts == 0) options.hosts = shifted ? 2 : 1;
  if (options.hosts > options.ranks) throw CLI::ValidationError("--hosts", "more hosts than ranks");
  if (options.set_clock_us != 0 && options.hosts == 1)
    throw CLI::ValidationError("--set-clock-us", "needs more than one host");
  if (options.copy_engine && options.hosts > 1)
    throw CLI::ValidationError("--copy-engine", "copies stay within a host");
  const std::pair<const char*, int> of_ranks[] = {
      {"--straggler", options.straggler}, {"--slow-gpu", options.slow_gpu},   {"--pageable", options.pageable},
      {"--item-sync", options.item_sync}, {"--more-work", options.more_work}, {"--leaves-out", options.left_out},
      {"--stuck", options.stuck}};
  for (const auto& [name, rank] : of_ranks) {
    if (rank >= options.ranks) throw CLI::ValidationError(name, "no such rank");
  }
  if (options.item_sync >= 0 && options.graphs)
    throw CLI::ValidationError("--item-sync", "cannot be combined with --graphs: a capture cannot read values back");
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
