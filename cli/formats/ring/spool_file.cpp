#include "cli/formats/ring/spool_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cli/base/error.h"
#include "cli/base/files.h"

namespace cli::ring {
namespace {

std::string with_ending(const std::string& path, const std::string& from, const std::string& to) {
  const bool fits = path.size() > from.size() && path.ends_with(from);
  return fits ? path.substr(0, path.size() - from.size()) + to : "";
}

}  // namespace

std::string spool_of(const std::string& ring_path) { return with_ending(ring_path, ".ring", ".spool"); }
std::string ring_of(const std::string& spool_path) { return with_ending(spool_path, ".spool", ".ring"); }

SpoolFile::SpoolFile(const std::string& path, const trace::FileHeader& ring)
    : path_(path), most_payload_(ring.block_bytes - ring.block_header_bytes) {
  file_ = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (file_ < 0) throw Error(Exit::cannot_open, fmt::format("{}: cannot open: {}", path, std::strerror(errno)));
  try {
    struct stat info;
    if (fstat(file_, &info) == 0 && S_ISREG(info.st_mode)) file_bytes_ = static_cast<std::uint64_t>(info.st_size);
    check_header(ring);
    list_chunks();
    sort_positions();
  } catch (...) {
    close(file_);
    throw;
  }
}

SpoolFile::~SpoolFile() { close(file_); }

// Returns false if the file ends before, or cannot be read there.
bool SpoolFile::read_at(void* to, std::size_t bytes, std::uint64_t offset) const {
  return cli::read_at(file_, to, bytes, offset) == bytes;
}

void SpoolFile::check_header(const trace::FileHeader& ring) {
  const auto refuse = [&](std::uint64_t at, const std::string& what) {
    throw Error(Exit::bad_content, fmt::format("{}: byte {}: {}", path_, at, what));
  };
  if (!read_at(&header_, sizeof(header_), 0)) refuse(file_bytes_, "the spool ends within its header");
  if (std::memcmp(header_.magic, trace::kSpoolMagic, sizeof(trace::kSpoolMagic)) != 0)
    refuse(0, "not a spool (no magic)");
  if (header_.version != trace::kSpoolVersion) {
    refuse(8, fmt::format("spool version {}, but this tracetool reads {}", header_.version, trace::kSpoolVersion));
  }
  const bool sane = header_.header_bytes >= sizeof(trace::SpoolHeader) && header_.header_bytes % 8 == 0 &&
                    header_.chunk_header_bytes >= sizeof(trace::SpoolChunk) && header_.chunk_header_bytes % 8 == 0 &&
                    header_.header_bytes <= (1u << 20) && header_.chunk_header_bytes <= (1u << 20);
  if (!sane) refuse(12, "impossible sizes; the header is damaged");
  const bool together = header_.created_real_ns == ring.created_real_ns && header_.pid == ring.pid &&
                        header_.process_start_ticks == ring.process_start_ticks;
  if (!together) refuse(16, "the spool of another recording");
}

// Returns true for a complete header with valid values.
bool SpoolFile::read_chunk(std::uint64_t offset, trace::SpoolChunk& chunk) const {
  return read_at(&chunk, sizeof(chunk), offset) &&
         std::memcmp(chunk.magic, trace::kChunkMagic, sizeof(trace::kChunkMagic)) == 0 &&
         trace::crc32_of(chunk) == chunk.header_crc32 && chunk.ticket != 0 && chunk.payload_bytes <= most_payload_ &&
         chunk.payload_bytes % 8 == 0 && chunk.stored_bytes <= largest_frame(most_payload_);
}

std::uint64_t SpoolFile::end_of(std::uint64_t offset, const trace::SpoolChunk& chunk) const {
  return offset + header_.chunk_header_bytes + trace::padded(chunk.stored_bytes);
}

// Returns the next position from `from` on that looks like a chunk; the end of the file if there is none.
std::uint64_t SpoolFile::find_chunk(std::uint64_t from) const {
  constexpr std::size_t kWindow = 64 << 10;
  std::vector<char> window(kWindow);
  trace::SpoolChunk chunk;
  for (std::uint64_t at = from; at + sizeof(chunk) <= file_bytes_; at += kWindow) {
    const std::size_t bytes = static_cast<std::size_t>(std::min<std::uint64_t>(kWindow, file_bytes_ - at));
    if (!read_at(window.data(), bytes, at)) break;
    for (std::size_t i = 0; i + sizeof(trace::kChunkMagic) <= bytes; i += 8) {
      const bool magic = std::memcmp(window.data() + i, trace::kChunkMagic, sizeof(trace::kChunkMagic)) == 0;
      if (magic && read_chunk(at + i, chunk)) return at + i;
    }
  }
  return file_bytes_;
}

// Only the last chunk may be cut, because the writer was killed or is still writing.
void SpoolFile::list_chunks() {
  trace::SpoolChunk chunk;
  std::uint64_t at = header_.header_bytes;
  while (at + header_.chunk_header_bytes <= file_bytes_) {
    if (!read_chunk(at, chunk)) {
      const std::uint64_t next = find_chunk(at + 8);
      skipped_bytes_ += next - at;
      at = next;
      continue;
    }
    if (end_of(at, chunk) > file_bytes_) break;
    positions_.push_back({chunk.ticket, at, chunk.event_count, chunk.payload_bytes});
    samples_.push_back(chunk.clock);
    at = end_of(at, chunk);
  }
}

void SpoolFile::sort_positions() {
  std::stable_sort(positions_.begin(), positions_.end(),
                   [](const ChunkPosition& a, const ChunkPosition& b) { return a.ticket < b.ticket; });
  const auto same = [](const ChunkPosition& a, const ChunkPosition& b) { return a.ticket == b.ticket; };
  positions_.erase(std::unique(positions_.begin(), positions_.end(), same), positions_.end());
}

bool SpoolFile::read(const ChunkPosition& position, trace::SpoolChunk& chunk, std::vector<std::byte>& payload) {
  if (!read_chunk(position.offset, chunk) || end_of(position.offset, chunk) > file_bytes_) return false;
  frame_.resize(chunk.stored_bytes);
  const bool whole = read_at(frame_.data(), frame_.size(), position.offset + header_.chunk_header_bytes) &&
                     zstd_.decompress(frame_, chunk.payload_bytes, raw_);
  if (!whole) return false;
  const auto* bytes = reinterpret_cast<const std::byte*>(raw_.data());
  payload.assign(bytes, bytes + raw_.size());
  return true;
}

}  // namespace cli::ring
