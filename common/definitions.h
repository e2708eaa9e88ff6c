// The definitions region: repeated data, stored once for the lifetime of the file. Append-only. The reference of a
// definition is its offset divided by 8.
#pragma once
#include <cstddef>
#include <cstdint>

#include "common/ring.h"

namespace trace {

// Appends one definition (head, then tail padded to words) and publishes it. Returns its reference, or kNoRef if less
// than `keep_free` bytes would remain; this reserves room for the identity when names fill the region. Not thread-safe:
// one writer at a time.
template <typename Memory = SharedMemory>
std::uint32_t append_definition(const Ring& ring, std::size_t keep_free, const void* head, std::size_t head_bytes,
                                const void* tail = nullptr, std::size_t tail_bytes = 0) {
  FileHeader& header = *ring.header;
  const std::uint64_t used = Memory::load(header.definitions_used);
  const std::size_t size = head_bytes + (tail_bytes + 7) / 8 * 8;
  if (used + size + keep_free > header.definitions_bytes) {
    Memory::add(header.definitions_missed, 1);
    return kNoRef;
  }
  std::byte* at = ring.definitions() + used;
  store_bytes<Memory>(at, head, head_bytes);
  store_bytes<Memory>(at + head_bytes, tail, tail_bytes);
  Memory::store_release(header.definitions_used, used + size);
  return static_cast<std::uint32_t>(used / 8);
}

inline bool is_local(std::uint32_t ref) { return ref != kNoRef && (ref & kLocalRef) != 0; }
inline std::size_t ref_offset(std::uint32_t ref) { return static_cast<std::size_t>(ref & ~kLocalRef) * 8; }
inline std::uint32_t local_ref(std::uint32_t payload_offset) { return payload_offset / 8 | kLocalRef; }

}  // namespace trace
