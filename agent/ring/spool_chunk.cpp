#define ZSTD_STATIC_LINKING_ONLY  // for a context in memory of our own
#include "agent/ring/spool_chunk.h"

#include <zstd.h>

#include <cstring>

#include "agent/base/memory.h"
#include "common/ring.h"

namespace agent {
namespace {

// The fastest level that reduces a ring of kernels to less than a quarter; the disk is slower anyway.
constexpr int kLevel = 1;

trace::SpoolChunk describe(const trace::BlockHeader& header, const std::byte* payload, std::size_t stored) {
  std::uint64_t counts[trace::kEventKinds] = {};
  trace::count_events(payload, header.committed, counts);
  trace::SpoolChunk chunk{};
  std::memcpy(chunk.magic, trace::kChunkMagic, sizeof(chunk.magic));
  chunk.ticket = header.ticket;
  chunk.clock = header.clock;
  chunk.tid = header.tid;
  for (const std::uint64_t count : counts) chunk.event_count += static_cast<std::uint32_t>(count);
  chunk.payload_bytes = static_cast<std::uint32_t>(header.committed);
  chunk.stored_bytes = static_cast<std::uint32_t>(stored);
  chunk.header_crc32 = trace::crc32_of(chunk);
  return chunk;
}

}  // namespace

bool can_spool() noexcept { return true; }

bool ChunkMaker::begin(std::size_t most) noexcept {
  const std::size_t payload_room = trace::padded(most), workspace = trace::padded(ZSTD_estimateCCtxSize(kLevel));
  frame_room_ = ZSTD_compressBound(most);
  const std::size_t all = payload_room + workspace + sizeof(trace::SpoolChunk) + frame_room_ + 8;
  payload_ = map_zeroed<std::byte>(all);
  if (payload_ == nullptr) return false;
  chunk_ = payload_ + payload_room + workspace;
  ZSTD_CCtx* zstd = ZSTD_initStaticCCtx(payload_ + payload_room, workspace);
  if (zstd == nullptr) return false;
  ZSTD_CCtx_reset(zstd, ZSTD_reset_parameters);  // a static context has none by default: no size in its frames
  ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(zstd, ZSTD_c_checksumFlag, 1);
  zstd_ = zstd;
  return true;
}

const std::byte* ChunkMaker::make(const trace::BlockHeader& header, std::size_t& bytes) noexcept {
  std::byte* frame = chunk_ + sizeof(trace::SpoolChunk);
  const std::size_t stored =
      ZSTD_compress2(static_cast<ZSTD_CCtx*>(zstd_), frame, frame_room_, payload_, header.committed);
  if (ZSTD_isError(stored)) return nullptr;
  const trace::SpoolChunk chunk = describe(header, payload_, stored);
  std::memcpy(chunk_, &chunk, sizeof(chunk));
  const std::size_t rounded = trace::padded(stored);
  std::memset(frame + stored, 0, rounded - stored);
  bytes = sizeof(chunk) + rounded;
  return chunk_;
}

}  // namespace agent
