#include "cli/formats/ttrace/merged_chunks.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "cli/base/files.h"
#include "cli/base/error.h"

namespace cli {
namespace {

constexpr std::uint64_t kLeast = sizeof(MergedHeader) + sizeof(ChunkHeader) + sizeof(MergedFooter);

bool is(const ChunkHeader& header, ChunkKind kind) { return header.kind == static_cast<std::uint32_t>(kind); }

}  // namespace

MergedChunks::MergedChunks(const std::string& path) : path_(path) {
  open();
  try {
    check_header();
    load_index();
  } catch (...) {
    ::close(fd_);
    throw;
  }
}

MergedChunks::~MergedChunks() { ::close(fd_); }

void MergedChunks::open() {
  fd_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  if (fd_ < 0 || ::fstat(fd_, &status) != 0) {
    const int error = errno;
    if (fd_ >= 0) ::close(fd_);
    throw Error(Exit::cannot_open,
                fmt::format("{}: cannot open: {}; check the path and its permissions", path_, std::strerror(error)));
  }
  file_bytes_ = static_cast<std::uint64_t>(status.st_size);
}

void MergedChunks::check_header() {
  if (file_bytes_ < kLeast) refuse(file_bytes_, "the file ends here, too early for a merged file");
  MergedHeader header;
  read(0, &header, sizeof(header));
  if (std::memcmp(header.magic, kMergedMagic, sizeof(kMergedMagic)) != 0) refuse(0, "this is not a merged trace");
  if (header.version != kMergedVersion || (header.features & ~kMergedFeatures) != 0) {
    throw Error(Exit::bad_content,
                fmt::format("{}: byte 8: written by another version of tracetool (format {}, features {:#x}; this one "
                            "reads format {}); merge the traces again with this version, or read them with the other one",
                            path_, header.version, header.features, kMergedVersion));
  }
  if (header.header_bytes < sizeof(header) || header.header_bytes > file_bytes_ - kLeast + sizeof(header)) {
    refuse(12, "the header has an impossible size");
  }
  chunks_begin_ = header.header_bytes;
}

void MergedChunks::load_index() {
  const std::uint64_t footer_at = file_bytes_ - sizeof(MergedFooter);
  MergedFooter footer;
  read(footer_at, &footer, sizeof(footer));
  if (std::memcmp(footer.magic, kMergedEnd, sizeof(kMergedEnd)) != 0 || footer.file_bytes != file_bytes_) {
    refuse(file_bytes_, "the file ends here without its footer: it was only partly written or copied");
  }
  const std::uint64_t at = footer.index_offset;
  if (at < chunks_begin_ || at > footer_at - sizeof(ChunkHeader))
    refuse(footer_at, "the index lies outside of the file");
  IndexEntry index{};
  index.offset = at;
  read(at, &index.header, sizeof(index.header));
  const ChunkHeader& header = index.header;
  if (!is(header, ChunkKind::index) || header.stored_bytes != footer_at - at - sizeof(header) ||
      header.raw_bytes != std::uint64_t{header.count} * sizeof(IndexEntry) ||
      header.count > file_bytes_ / sizeof(ChunkHeader)) {
    refuse(at, "the index has an impossible size");
  }
  std::string raw;
  load(index, raw);
  index_.resize(header.count);
  if (!raw.empty()) std::memcpy(index_.data(), raw.data(), raw.size());
  events_ = footer.events;
  check_index(at);
}

void MergedChunks::check_index(std::uint64_t end) const {
  std::uint64_t at = chunks_begin_, events = 0, lists = 0;
  for (const IndexEntry& entry : index_) {
    const ChunkHeader& header = entry.header;
    const bool of_events = is(header, ChunkKind::events);
    if (entry.offset != at || header.raw_bytes > kMaxChunkBytes || (of_events && header.count > kMaxChunkEvents) ||
        header.stored_bytes > end - at || end - at - header.stored_bytes < sizeof(header)) {
      refuse(at, "the index has an impossible entry");
    }
    at += sizeof(header) + header.stored_bytes;
    (of_events ? events : lists) += of_events ? header.count : header.raw_bytes;
  }
  if (at != end || events != events_) refuse(end, "the index does not cover the file");
  if (lists > most_list_bytes(file_bytes_)) refuse(end, "the lists need more memory than any trace");
}

void MergedChunks::load(const IndexEntry& entry, std::string& raw) {
  ChunkHeader header;
  read(entry.offset, &header, sizeof(header));
  if (std::memcmp(&header, &entry.header, sizeof(header)) != 0)
    refuse(entry.offset, "the chunk does not match the index");
  packed_.resize(header.stored_bytes);
  read(entry.offset + sizeof(header), packed_.data(), packed_.size());
  if (!zstd_.decompress(packed_, header.raw_bytes, raw))
    refuse(entry.offset, "the chunk is damaged (checksum or size)");
}

void MergedChunks::read(std::uint64_t offset, void* to, std::size_t size) const {
  const std::size_t got = read_at(fd_, to, size, offset);
  if (got == size) return;
  if (errno == 0) refuse(offset + got, "the file became shorter while it was read");
  throw Error(Exit::cannot_open, fmt::format("{}: byte {}: cannot read: {}; copy it to another disk", path_,
                                             offset + got, std::strerror(errno)));
}

void MergedChunks::refuse(std::uint64_t offset, std::string_view what) const {
  throw Error(Exit::bad_content, fmt::format("{}: byte {}: {}; copy the merged file again, or run `tracetool merge` on "
                                             "the recordings again",
                                             path_, offset, what));
}

bool is_merged_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char magic[sizeof(kMergedMagic)] = {};
  const bool same =
      read_at(fd, magic, sizeof(magic), 0) == sizeof(magic) && std::memcmp(magic, kMergedMagic, sizeof(magic)) == 0;
  ::close(fd);
  return same;
}

}  // namespace cli
