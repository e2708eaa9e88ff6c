// The spool next to a recording: `X.spool` for `X.ring` (common/spool_format.h). If it is truncated or damaged, the
// valid chunks are returned and the rest is counted.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/base/zstd_codec.h"
#include "common/spool_format.h"

namespace cli::ring {

// Return "X.spool" for "X.ring", and the reverse; "" for a path with another extension.
std::string spool_of(const std::string& ring_path);
std::string ring_of(const std::string& spool_path);

class SpoolFile {
 public:
  struct ChunkPosition {
    std::uint64_t ticket;
    std::uint64_t offset;  // of the chunk in the file
    std::uint32_t events;
    std::uint32_t payload_bytes;
  };

  // Lists the chunks that exist at this moment. Throws Error: cannot open; not the spool of the ring with this header.
  SpoolFile(const std::string& path, const trace::FileHeader& ring);
  ~SpoolFile();
  SpoolFile(const SpoolFile&) = delete;
  SpoolFile& operator=(const SpoolFile&) = delete;

  const std::string& path() const { return path_; }
  const std::vector<ChunkPosition>& positions() const { return positions_; }  // by ticket, each once
  const std::vector<trace::ClockSample>& clock_samples() const { return samples_; }
  std::uint64_t skipped_bytes() const { return skipped_bytes_; }  // damaged, between chunks

  // Replaces `payload` by that of the chunk. Returns false if the chunk is damaged. Memory: one block.
  bool read(const ChunkPosition& position, trace::SpoolChunk& chunk, std::vector<std::byte>& payload);

 private:
  void check_header(const trace::FileHeader& ring);
  void list_chunks();
  bool read_at(void* to, std::size_t bytes, std::uint64_t offset) const;
  bool read_chunk(std::uint64_t offset, trace::SpoolChunk& chunk) const;
  std::uint64_t end_of(std::uint64_t offset, const trace::SpoolChunk& chunk) const;
  std::uint64_t find_chunk(std::uint64_t from) const;
  void sort_positions();

  std::string path_;
  int file_ = -1;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t most_payload_ = 0;
  trace::SpoolHeader header_{};
  std::vector<ChunkPosition> positions_;
  std::vector<trace::ClockSample> samples_;
  std::uint64_t skipped_bytes_ = 0;
  std::string frame_, raw_;
  ZstdDecompressor zstd_;
};

}  // namespace cli::ring
