// What a rank's process is told through its environment: torchrun's variables, the agent's, the stand-ins' and the
// simulated host.
#pragma once
#include <filesystem>
#include <map>
#include <string>

#include "host_shift.h"
#include "options.h"

namespace sim {

using Environment = std::map<std::string, std::string>;

// What the ranks of one job share.
struct Job {
  const Options& options;
  std::filesystem::path directory;  // of the program; the stand-ins lie in its `standin`
  std::string agent;                // absolute; empty: none
  int area;                         // file of the shared area
  HostShift bases;                  // the moment from which clocks drift
  std::string run_id;
};

Job describe_job(const Options& options, const std::filesystem::path& directory, const std::string& agent, int area);
Environment rank_environment(const Job& job, int rank);

// Ranks are split evenly over the hosts, in order.
int host_of(const Options& options, int rank);

}  // namespace sim
