// GPU time by where in the program it was launched, as `export --folded` has it: the tree that a flame graph draws, and its longest paths.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/analyze/analyze.h"

namespace cli {

struct FlameNode {
  std::string name;
  std::size_t depth = 0;
  std::int64_t from_ns = 0, ns = 0;  // where it begins, if all of the work ran one after the other; with all below it
  bool is_leaf = false;              // a kernel, copy or memset
};

struct FlameTree {
  std::int64_t total_ns = 0;
  std::vector<std::string> common;  // names above all the others: all of the time is below them
  std::vector<FlameNode> nodes;     // each before those below it, the largest first; small ones are omitted
  std::int64_t least_ns = 0;        // smaller ones are omitted
  ResultTable longest;              // of all paths: gpu_ns, gpu_share_pct, stack
};

// To be in an AnalysisRequest. Fills `tree` at its finish().
TablesObserverEntry flame_observer(FlameTree& tree);

}  // namespace cli
