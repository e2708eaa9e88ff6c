// NCCL writes the handle of a communicator that is made within a group when the thread's outermost group ends: until
// then its name waits here. All of it is about the calling thread. No locks, no allocation.
#pragma once
#include "agent/hooks/nccl_communicators.h"

namespace agent {

// An ncclGroupStart() that succeeded.
void nccl_group_begins() noexcept;

// `handle` is still null: its communicator is named at the end of the outermost group. Outside a group, or where more
// wait than there is room for, it stays without.
void name_at_group_end(void** handle, const NamedCommunicator& named) noexcept;

// An ncclGroupEnd(), whatever it returned; `made`: what was made in the group is there now. The handles of a group are
// read here, right after NCCL has written to them, and at no other time: not after the outermost end, and not where
// their thread ended before.
void nccl_group_ends(bool made) noexcept;

}  // namespace agent
