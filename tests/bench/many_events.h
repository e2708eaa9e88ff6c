// Made-up input for the benchmarks: a Kineto file like a real one, and a stream of events like a recording's.
#pragma once
#include <cstdint>
#include <string>

#include "cli/trace/catalog.h"
#include "cli/trace/event.h"

namespace bench {

// Writes a Kineto file with `steps` times some 1,000 events (operators, runtime calls, kernels, flows); returns its
// size in bytes.
std::uint64_t write_kineto(const std::string& path, int steps);

// One process of a job: launches and kernels in turn, in order of time.
class ManyEvents {
 public:
  ManyEvents(cli::Catalog& catalog, std::int64_t rank);
  // Event i of this process, and what it says (the same for each kind).
  const cli::Event& at(std::uint64_t i);
  cli::Facts facts(const cli::Event& event) const;

 private:
  std::uint64_t seed_;
  cli::TrackId thread_, stream_;
  cli::StringId launch_, kernels_[16];
  cli::Event event_;
  cli::CallFacts call_;
  cli::KernelFacts kernel_;
};

}  // namespace bench
