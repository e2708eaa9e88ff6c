// How nodes of CUDA graphs are written: in the definitions region, of which other things keep a quarter, so that they
// outlive the ring; beyond it in the thread's block, which is overwritten in time.
#pragma once
#include <cstdint>

#include "agent/guard.h"
#include "agent/nvtx/open_ranges.h"

namespace agent {

// On the thread that captures, while there is a recording. No wait for a lock: the block has to do where one is held.
void write_captured_node(const Guard& guard, std::uint64_t node, const OpenRange& open) noexcept;
void write_cloned_node(const Guard& guard, std::uint64_t node, std::uint64_t original) noexcept;

}  // namespace agent
