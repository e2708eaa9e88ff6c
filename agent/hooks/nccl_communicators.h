// Names for the communicators of an NCCL whose payloads have none (before 2.25): the same on all ranks, and the same
// that NCCL itself gives since: a hash of the ncclUniqueId from which the communicator is made.
#pragma once
#include <cstddef>
#include <cstdint>

namespace agent {

struct NamedCommunicator {
  std::uint64_t name = 0;  // 0: not known
  std::int32_t rank = -1;
};

// DJB2a over all bytes (hash = hash * 33 ^ byte, signed, from 5381), which NCCL calls commHash.
std::uint64_t hash_unique_id(const void* id, std::size_t bytes) noexcept;
// Of what a split makes: from the parent's name, the how-manieth split of it this is, and the color.
std::uint64_t hash_split(std::uint64_t parent, std::uint32_t split, std::int32_t color) noexcept;
// Of a communicator whose ranks are all in this process: nobody else must know it.
std::uint64_t hash_private() noexcept;

// By NCCL's handle. Lock-free; thousands are kept, later ones are not known.
void name_communicator(const void* communicator, const NamedCommunicator& named) noexcept;
NamedCommunicator named_communicator(const void* communicator) noexcept;
// Counts a split of it, from 1.
std::uint32_t count_split(const void* communicator) noexcept;

// NCCL writes the handle of a communicator that is made within a group when the thread's outermost group ends: until
// then its name waits here. All of it is about the calling thread. No locks, no allocation.

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
