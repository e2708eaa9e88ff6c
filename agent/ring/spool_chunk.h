// Makes chunks of the spool (common/spool_format.h) out of blocks. One implementation with zstd, and one for builds without.
#pragma once
#include <cstddef>

#include "common/spool_format.h"

namespace agent {

class ChunkMaker {
 public:
  // Takes all the memory that it will ever need, for payloads of up to `most` bytes. False: there is none, or this
  // agent was built without zstd: can_spool().
  bool begin(std::size_t most) noexcept;
  std::byte* payload() noexcept { return payload_; }  // room for `most` bytes

  // The chunk of the block whose header is given and whose committed bytes stand at payload(); its size in `bytes`.
  // Valid until the next call. Null: zstd refused.
  const std::byte* make(const trace::BlockHeader& header, std::size_t& bytes) noexcept;

 private:
  std::byte* payload_ = nullptr;
  std::byte* chunk_ = nullptr;
  std::size_t frame_room_ = 0;
  void* zstd_ = nullptr;
};

bool can_spool() noexcept;

}  // namespace agent
