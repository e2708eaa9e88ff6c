// The spool of a recording (`X.spool` next to `X.ring`): the ring's blocks, one compressed chunk each, in the order in
// which they were completed. It contains no definitions, so it cannot be read without the ring's file, which has them.
//
//   0               SpoolHeader
//   header_bytes    chunks, contiguous: SpoolChunk, then stored_bytes: one zstd frame (with its checksum) of
//                   payload_bytes, padded with zeros to a multiple of 8
//
// The spool only grows. Chunks are independent: truncation by a killed writer or a full disk, or other damage, affects
// one chunk only. After it, a reader looks for the next magic at a multiple of 8 whose header_crc32 is correct.
#pragma once
#include <cstddef>
#include <cstdint>

#include "common/layout.h"

namespace trace {

inline constexpr char kSpoolMagic[8] = {'T', 'T', 'S', 'P', 'O', 'O', 'L', '\n'};
inline constexpr char kChunkMagic[8] = {'T', 'T', 'C', 'H', 'U', 'N', 'K', '\n'};
inline constexpr std::uint32_t kSpoolVersion = 1;

struct SpoolHeader {
  char magic[8];
  std::uint32_t version;  // version of the spool format: 1
  std::uint32_t header_bytes;
  std::uint64_t created_real_ns;  // this and the next two equal those in the ring's header; they identify the pair
  std::uint64_t process_start_ticks;
  std::uint32_t pid;
  std::uint32_t chunk_header_bytes;
  std::uint64_t reserved[3];
};
static_assert(sizeof(SpoolHeader) == 64);

struct SpoolChunk {
  char magic[8];
  std::uint64_t ticket;         // of the block
  ClockSample clock;            // of the block
  std::uint32_t tid;            // of the block
  std::uint32_t event_count;    // records of kinds 16 to 47 in it
  std::uint32_t payload_bytes;  // as in the block: committed
  std::uint32_t stored_bytes;   // of the frame, without padding
  std::uint32_t reserved;
  std::uint32_t header_crc32;  // of the bytes before it, as in zlib
};
static_assert(sizeof(SpoolChunk) == 72);

constexpr std::uint64_t padded(std::uint64_t bytes) { return (bytes + 7) / 8 * 8; }

// CRC-32 as in zlib, bit by bit; used for headers.
inline std::uint32_t crc32_of(const void* bytes, std::size_t size) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  std::uint32_t crc = 0xffffffffu;
  for (std::size_t i = 0; i < size; ++i) {
    crc ^= at[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0xedb88320u & (0u - (crc & 1)));
  }
  return ~crc;
}

inline std::uint32_t crc32_of(const SpoolChunk& chunk) { return crc32_of(&chunk, offsetof(SpoolChunk, header_crc32)); }

}  // namespace trace
