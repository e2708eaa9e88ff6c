// The reader's side of common/ring.h for our own threads: copies blocks out of the mapped ring while others write.
#pragma once
#include <cstddef>
#include <cstring>

#include "common/ring.h"

namespace agent {

// Copies the header and the committed payload of a block; `payload` has room for ring.payload_bytes(). False: the block
// is being recycled, or was while we copied; then `header` is as it was at some moment, for its counts.
inline bool copy_whole_block(const trace::Ring& ring, std::uint64_t index, trace::BlockHeader& header,
                             std::byte* payload) noexcept {
  using Memory = trace::SharedMemory;
  const trace::BlockHeader* block = ring.block(index);
  const std::uint64_t generation = Memory::load_acquire(block->generation);
  const std::uint64_t committed = Memory::load_acquire(block->committed);
  std::memcpy(&header, block, sizeof(header));
  header.generation = generation;
  header.committed = committed;
  if (generation % 2 != 0 || committed > ring.payload_bytes()) return false;
  std::memcpy(payload, reinterpret_cast<const std::byte*>(block) + sizeof(header), committed);
  Memory::load_load_barrier();
  return Memory::load_acquire(block->generation) == generation;
}

}  // namespace agent
