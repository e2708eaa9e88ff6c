// A ring of numbered kernels that went round, and its spool, made as the agent makes them.
#pragma once
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "cli/base/zstd_codec.h"
#include "common/spool_format.h"
#include "tests/unit/common/small_ring.h"

namespace cli {

inline void set_crc(trace::SpoolChunk& chunk) { chunk.header_crc32 = trace::crc32_of(chunk); }

class SpoolMaker {
 public:
  static constexpr std::uint64_t kPerBlock = 10, kBlocks = 4;

  // `records` kernels, numbered from 0; each block is put aside before it is recycled.
  explicit SpoolMaker(std::uint64_t records)
      : memory(kBlocks, sizeof(trace::BlockHeader) + kPerBlock * sizeof(trace::KernelRecord)) {
    memory.header()->created_real_ns = 12345;
    memory.header()->pid = 77;
    memory.header()->spool_state = static_cast<std::uint32_t>(trace::SourceState::on);
    trace::BlockWriter<> writer;
    for (std::uint64_t i = 0; i < records; ++i) {
      const auto record = trace::numbered(i);
      writer.enter(memory.ring, 1, trace::no_clock);
      if (i > 0 && i % kPerBlock == 0) keep(writer.ticket());
      writer.make_room(sizeof(record), trace::no_clock);
      writer.append(&record, sizeof(record));
      writer.leave();
    }
    keep(writer.ticket());
  }

  std::string ring() const { return {memory.bytes(), memory.size()}; }
  std::string head() const {
    trace::SpoolHeader head{};
    std::memcpy(head.magic, trace::kSpoolMagic, sizeof(head.magic));
    head.version = trace::kSpoolVersion;
    head.header_bytes = sizeof(head);
    head.created_real_ns = memory.ring.header->created_real_ns;
    head.pid = memory.ring.header->pid;
    head.chunk_header_bytes = sizeof(trace::SpoolChunk);
    return {reinterpret_cast<const char*>(&head), sizeof(head)};
  }
  // The spool with these blocks, in this order.
  std::string spool(const std::vector<std::uint64_t>& tickets) const {
    std::string bytes = head();
    for (const std::uint64_t ticket : tickets) bytes += chunks.at(ticket);
    return bytes;
  }

  trace::SmallRing memory;
  std::map<std::uint64_t, std::string> chunks;  // by ticket

 private:
  void keep(std::uint64_t ticket) {
    trace::BlockHeader* block = memory.ring.block(ticket % kBlocks);
    const std::string_view payload(reinterpret_cast<const char*>(trace::payload_of(block)), block->committed);
    std::string frame;
    ZstdCompressor(1).compress(payload, frame);
    trace::SpoolChunk chunk{};
    std::memcpy(chunk.magic, trace::kChunkMagic, sizeof(chunk.magic));
    chunk.ticket = ticket;
    chunk.event_count = static_cast<std::uint32_t>(payload.size() / sizeof(trace::KernelRecord));
    chunk.payload_bytes = static_cast<std::uint32_t>(payload.size());
    chunk.stored_bytes = static_cast<std::uint32_t>(frame.size());
    set_crc(chunk);
    frame.resize(trace::padded(frame.size()));
    chunks[ticket] = std::string(reinterpret_cast<const char*>(&chunk), sizeof(chunk)) + frame;
  }
};

}  // namespace cli
