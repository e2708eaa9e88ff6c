// GPU time by the call path that launched it, from the data of `export --folded`: the tree of a flame graph, and the
// longest paths.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/answers/tables/analyze.h"

namespace cli::report {

struct FlameNode {
  std::string name;
  std::size_t depth = 0;
  std::int64_t from_ns = 0, ns = 0;  // start if all work ran in sequence; length with all children
  bool is_leaf = false;              // a kernel, copy or memset
};

struct FlameTree {
  std::int64_t total_ns = 0;
  std::vector<std::string> common;  // the outermost names that all of the time shares
  std::vector<FlameNode>
      nodes;  // parents come before children, large nodes before small ones; nodes below least_ns are omitted
  std::int64_t least_ns = 0;  // minimum length of nodes
  ResultTable longest;        // the longest paths: gpu_ns, gpu_share_pct, stack
};

// Returns an analysis for an AnalysisRequest. Its finish() fills `tree`.
TablesObserverEntry flame_observer(FlameTree& tree);

}  // namespace cli::report
