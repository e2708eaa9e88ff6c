// Used if the agent is built without a static libzstd: a spool is never started.
#include "agent/ring/spool_chunk.h"

namespace agent {

bool can_spool() noexcept { return false; }
bool ChunkMaker::begin(std::size_t) noexcept { return zstd_ != nullptr; }
const std::byte* ChunkMaker::make(const trace::BlockHeader&, std::size_t& bytes) noexcept {
  bytes = frame_room_;
  return chunk_;
}

}  // namespace agent
