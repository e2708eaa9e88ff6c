// A ring in ordinary memory, and records that carry their number, for tests.
#pragma once
#include <cstring>
#include <vector>

#include "common/ring.h"

namespace trace {

class SmallRing {
 public:
  SmallRing(std::uint64_t blocks, std::uint64_t block_bytes, std::uint64_t definitions_bytes = 4096)
      : words_((kHeaderBytes + definitions_bytes + blocks * block_bytes) / 8) {
    FileHeader& h = *header();
    std::memcpy(h.magic, kMagic, sizeof(kMagic));
    h.version = kFormatVersion;
    h.header_bytes = kHeaderBytes;
    h.file_bytes = words_.size() * 8;
    h.definitions_offset = kHeaderBytes;
    h.definitions_bytes = definitions_bytes;
    h.blocks_offset = kHeaderBytes + definitions_bytes;
    h.block_bytes = block_bytes;
    h.block_count = blocks;
    h.block_header_bytes = sizeof(BlockHeader);
    ring.header = &h;
  }

  FileHeader* header() { return reinterpret_cast<FileHeader*>(words_.data()); }
  const char* bytes() const { return reinterpret_cast<const char*>(words_.data()); }
  std::size_t size() const { return words_.size() * 8; }

  Ring ring;

 private:
  std::vector<std::uint64_t> words_;
};

// Record number i: every field follows from i, so a torn one shows.
inline KernelRecord numbered(std::uint64_t i) {
  auto record = make_record<KernelRecord>();
  record.correlation = static_cast<std::uint32_t>(i);
  record.start_cupti_ns = i * 1'000'003u;
  record.duration_ns = static_cast<std::uint32_t>(i * 3);
  record.shape_ref = kNoRef;
  record.stream = static_cast<std::uint32_t>(i * 5);
  record.context = static_cast<std::uint32_t>(i * 7);
  return record;
}

inline bool is_numbered(const KernelRecord& record) {
  const KernelRecord should = numbered(record.start_cupti_ns / 1'000'003u);
  return std::memcmp(&record, &should, sizeof(record)) == 0;
}

inline ClockSample no_clock() { return {}; }

}  // namespace trace
