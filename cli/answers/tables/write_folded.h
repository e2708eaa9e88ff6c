// Writes a call tree as folded stacks, which flamegraph.pl, inferno and speedscope read: one line,
// "outermost;...;innermost weight", per node with a weight of its own.
#pragma once
#include "cli/answers/tables/call_paths.h"
#include "cli/base/output_file.h"

namespace cli {

enum class FoldedWeight : std::uint8_t {
  gpu,  // ns of kernels, copies and memsets, which are the innermost nodes
  cpu   // host ns in operators, ranges, recorded frames and CUDA calls
};

// Writes sorted lines and returns the sum of the weights. Ranges of training steps have N in place of their number. In
// names, ";" becomes ":" and a line break becomes a blank. With `several`, each line begins with the rank.
std::int64_t write_folded(const Catalog& catalog, const std::vector<CallPaths::Node>& nodes, FoldedWeight weight,
                          bool several, ByteSink& out);

}  // namespace cli
