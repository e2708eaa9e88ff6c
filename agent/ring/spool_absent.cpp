// Where the agent is built without a static libzstd.
#include "agent/ring/spool_chunk.h"

namespace agent {

bool can_spool() noexcept { return false; }
bool ChunkMaker::begin(std::size_t) noexcept { return false; }
const std::byte* ChunkMaker::make(const trace::BlockHeader&, std::size_t&) noexcept { return nullptr; }

}  // namespace agent
