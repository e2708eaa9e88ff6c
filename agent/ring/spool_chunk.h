// Makes chunks of the spool (common/spool_format.h) from blocks. There is one implementation with zstd, and one for
// builds without.
#pragma once
#include <cstddef>

#include "common/spool_format.h"

namespace agent {

class ChunkMaker {
 public:
  // Allocates all memory that it will ever need, for payloads of up to `most` bytes. Returns false if there is none, or
  // if this agent was built without zstd (can_spool()).
  bool begin(std::size_t most) noexcept;
  std::byte* payload() noexcept { return payload_; }  // has `most` bytes

  // Makes the chunk of the block with this header, whose committed bytes are at payload(). Sets its size in `bytes`.
  // The result is valid until the next call; null if zstd failed.
  const std::byte* make(const trace::BlockHeader& header, std::size_t& bytes) noexcept;

 private:
  std::byte* payload_ = nullptr;
  std::byte* chunk_ = nullptr;
  std::size_t frame_room_ = 0;
  void* zstd_ = nullptr;
};

bool can_spool() noexcept;

}  // namespace agent
