// What a trace's kernels had besides names: how they were launched, and on what streams. Of recordings; Kineto's files keep
// it in their arguments.
#pragma once
#include <cstdint>
#include <set>
#include <string>

#include "cli/trace/catalog.h"

namespace cli {

struct LaunchSummary {
  std::size_t configurations = 0;  // of grid, block, registers, memory, cluster, type; 0: none is known
  std::size_t cooperative = 0, clustered = 0;           // of these
  std::uint64_t most_cluster_blocks = 0;                // in a cluster
  std::uint32_t most_local_bytes_per_thread = 0;
  std::set<std::int64_t> priorities;                    // of streams of which it is known; lower numbers run first
};

LaunchSummary launch_summary(const Catalog& catalog);
// A line; "" where nothing is known.
std::string text_of(const LaunchSummary& launches);

}  // namespace cli
