// Which nodes of CUDA graphs have a record, so that only their clones get one. Lock-free, of fixed size: when it is
// full every node may be one.
#pragma once
#include <cstdint>

namespace agent {

void remember_captured(std::uint64_t node) noexcept;
// Never false for a node that was remembered.
bool may_be_captured(std::uint64_t node) noexcept;
bool any_captured() noexcept;

}  // namespace agent
