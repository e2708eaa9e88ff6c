// A tree of calls as folded stacks, which flamegraph.pl, inferno and speedscope read: a line for each node with a weight of its own,
// "outermost;...;innermost weight".
#pragma once
#include <cstdint>
#include <vector>

#include "cli/answers/tables/call_paths.h"
#include "cli/base/output_file.h"
#include "cli/trace/catalog.h"

namespace cli {

enum class FoldedWeight : std::uint8_t {
  gpu,  // ns of kernels, copies and memsets, which are the innermost
  cpu   // ns of the host in operators, ranges, recorded frames and CUDA calls
};

// Writes sorted lines. Training step ranges have N in place of their number. In names ; becomes : and a line break becomes a blank. With `several`,
// lines begin with the rank.
// Returns the sum of the weights.
std::int64_t write_folded(const Catalog& catalog, const std::vector<CallPaths::Node>& nodes, FoldedWeight weight, bool several, ByteSink& out);

}  // namespace cli
