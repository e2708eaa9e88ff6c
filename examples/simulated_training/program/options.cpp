#include "options.h"

#include <CLI/CLI.hpp>
#include <cstdlib>

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
  app.add_option("--clock-offset-us", options.clock_offset_us, "clock of host h: ahead by h times this");
  app.add_option("--drift-ppm", options.drift_ppm, "clock of host h: faster by h times this");
  app.add_option("--hosts", options.hosts, "simulated hosts (default 1; 2 with an offset or a drift)")
      ->check(CLI::PositiveNumber);
  app.add_option("--seed", options.seed, "of all that varies")->capture_default_str();
  app.add_option("--truth", options.truth, "write what really happened to FILE.rankN, and an index to FILE");
  app.add_option("--step-us", options.step_us, "length of a step")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--layers", options.layers, "of the model")->check(CLI::Range(1, 1'000))->capture_default_str();
  app.add_option("--buckets", options.buckets, "of the gradient all-reduce")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
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
  const bool shifted = options.clock_offset_us != 0 || options.drift_ppm != 0;
  if (options.hosts == 0) options.hosts = shifted ? 2 : 1;
  if (options.hosts > options.ranks) throw CLI::ValidationError("--hosts", "there are more hosts than ranks");
  if (options.copy_engine && options.hosts > 1) throw CLI::ValidationError("--copy-engine", "copies stay within a host");
  if (options.straggler >= options.ranks) throw CLI::ValidationError("--straggler", "there is no such rank");
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
