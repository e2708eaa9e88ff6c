// Divides a ring of a given size into definitions and blocks. Used by the writer, and by readers of a file with a
// destroyed header, so it changes only with kFormatVersion.
#pragma once
#include <algorithm>
#include <cstdint>

#include "common/layout.h"

namespace trace {

inline constexpr std::uint64_t kSmallestBlock = 4096, kLargestBlock = 64u << 10;

// Sets the offsets, sizes and counts of `header`. ring_bytes is at least 64 KiB. file_bytes becomes at most ring_bytes
// and is less than a block smaller.
inline void divide_ring(FileHeader& header, std::uint64_t ring_bytes) {
  std::uint64_t block = kSmallestBlock;
  while (block < kLargestBlock && block * 512 <= ring_bytes) block *= 2;
  std::uint64_t definitions = std::min<std::uint64_t>(ring_bytes / 16, 16u << 20);
  definitions = (definitions + 16384) / 4096 * 4096;
  header.definitions_offset = kHeaderBytes;
  header.definitions_bytes = definitions;
  header.blocks_offset = header.definitions_offset + definitions;
  header.block_bytes = block;
  header.block_count = (ring_bytes - header.blocks_offset) / block;
  header.file_bytes = header.blocks_offset + header.block_count * block;
}

}  // namespace trace
