// Sums over kinds.
#pragma once
#include <cstdint>
#include <numeric>

#include "cli/trace/catalog.h"

namespace cli {

// The first kinds of the table, up to nccl: what a recording of ours holds; always shown.
inline constexpr std::size_t kRecordedKinds = static_cast<std::size_t>(Kind::nccl) + 1;

inline std::uint64_t total(const KindCounts& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

}  // namespace cli
