// Names for the communicators of NCCL versions whose payloads have none (before 2.25). The name is the same on all
// ranks and equals that of newer NCCL versions: a hash of the ncclUniqueId from which the communicator is made.
#pragma once
#include <cstddef>
#include <cstdint>

namespace agent {

struct NamedCommunicator {
  std::uint64_t name = 0;  // 0 if unknown
  std::int32_t rank = -1;
};

// Returns DJB2a over all bytes (hash = hash * 33 ^ byte, signed, from 5381), which NCCL calls commHash.
std::uint64_t hash_unique_id(const void* id, std::size_t bytes) noexcept;
// Returns the name of a split communicator, from the parent's name, the number of the split and the color.
std::uint64_t hash_split(std::uint64_t parent, std::uint32_t split, std::int32_t color) noexcept;
// Returns a name for a communicator whose ranks are all in this process, so that no other process needs it.
std::uint64_t hash_private() noexcept;

// Stores and finds names by NCCL's handle. Lock-free; thousands are kept, later ones are unknown.
void name_communicator(const void* communicator, const NamedCommunicator& named) noexcept;
NamedCommunicator named_communicator(const void* communicator) noexcept;
// Counts a split of the communicator. The first one is 1.
std::uint32_t count_split(const void* communicator) noexcept;

// NCCL writes the handle of a communicator made within a group at the end of the thread's outermost group. Until then
// its name waits here. These functions affect only the calling thread. They take no locks and allocate no memory.

// Called after an ncclGroupStart() that succeeded.
void nccl_group_begins() noexcept;

// Names the communicator of `handle`, which is still null, at the end of the outermost group. Outside of a group, or if
// too many wait, it gets no name.
void name_at_group_end(void** handle, const NamedCommunicator& named) noexcept;

// Called after an ncclGroupEnd(), whatever it returned. `made` is true if the communicators made in the group exist
// now. The handles of a group are read here, directly after NCCL has written them, and at no other time: not after the
// outermost end, and not if their thread ended before.
void nccl_group_ends(bool made) noexcept;

}  // namespace agent
