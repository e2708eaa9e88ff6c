// The command line of the simulated training.
#pragma once
#include <cstdint>
#include <string>

namespace sim {

struct Options {
  int ranks = 8;
  int steps = 20;
  std::string dir = "traces";
  int straggler = -1;  // rank; -1: none
  std::int64_t straggler_us = 2'000;
  std::int64_t clock_offset_us = 0;  // host h is ahead by h times this
  double drift_ppm = 0;              // and runs faster by h times this
  int hosts = 0;                     // 0: 1, or 2 when an offset or a drift is asked for
  std::uint64_t seed = 1;
  std::string truth;  // empty: none
  std::int64_t step_us = 10'000;
  int layers = 6;
  int buckets = 4;
  std::int64_t burst = 0;  // kernels per step, as fast as they can be launched; 0: a normal step
  std::string agent;       // empty: the one of this build
  bool no_agent = false;
  std::string ring_bytes;  // for TRACETOOL_BUFFER; empty: the agent's default
};

// Exits with 0 after --help and with 1 after a mistake.
Options parse_options(int argc, char** argv);

}  // namespace sim
