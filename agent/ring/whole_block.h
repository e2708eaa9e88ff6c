// The reader's side of common/ring.h for our own threads: copies blocks out of the mapped ring while others write.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "common/ring.h"

namespace agent {

// Copies word by word, as the writers write.
inline void load_bytes(void* to, const void* from, std::size_t bytes) noexcept {
  auto* word = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::uint64_t*>(from);
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
    const std::uint64_t value = trace::SharedMemory::load(*source++);
    std::memcpy(word + at, &value, sizeof(value));
  }
}

// Copies the header and the committed payload of a block; `payload` has ring.payload_bytes() bytes. Returns false if
// the block is or was being recycled during the copy; `header` then has the state of some moment, for its counters.
inline bool copy_whole_block(const trace::Ring& ring, std::uint64_t index, trace::BlockHeader& header,
                             std::byte* payload) noexcept {
  using Memory = trace::SharedMemory;
  const trace::BlockHeader* block = ring.block(index);
  const std::uint64_t generation = Memory::load_acquire(block->generation);
  const std::uint64_t committed = Memory::load_acquire(block->committed);
  load_bytes(&header, block, sizeof(header));
  header.generation = generation;
  header.committed = committed;
  if (generation % 2 != 0 || committed > ring.payload_bytes()) return false;
  load_bytes(payload, reinterpret_cast<const std::byte*>(block) + sizeof(header), committed);
  Memory::load_load_barrier();
  return Memory::load_acquire(block->generation) == generation;
}

}  // namespace agent
