// How nodes of CUDA graphs are written: in the definitions region, of which other things keep a quarter, so that they
// outlive the ring; beyond it in the thread's block, which is overwritten in time.
#pragma once
#include <cstdint>

#include "agent/base/guard.h"
#include "agent/nvtx/live_ranges.h"
#include "common/record.h"

namespace agent {

// Without names, which depend on the slot.
trace::GraphNodeRecord describe_captured(std::uint64_t node, const OpenRange& open) noexcept;

// On the thread that captures, while there is a recording. Waits for a lock, but not long: then the block has to do.
void write_captured_node(const Guard& guard, std::uint64_t node, const OpenRange& open) noexcept;
void write_cloned_node(const Guard& guard, std::uint64_t node, std::uint64_t original) noexcept;

}  // namespace agent
