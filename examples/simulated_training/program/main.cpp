// simulated_training: see README.md. The same program is the parent and, started by it, each rank.
#include <cstdlib>

#include "launcher.h"
#include "rank.h"

int main(int argc, char** argv) {
  const sim::Options options = sim::parse_options(argc, argv);
  return std::getenv(sim::kAreaVariable) != nullptr ? sim::run_rank(options) : sim::launch_ranks(options, argv);
}
