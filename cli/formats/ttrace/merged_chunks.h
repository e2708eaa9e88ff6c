// A merged file as chunks: checks the frame of the file (merged_file.h) and hands out what is in each chunk. Memory:
// the index and one chunk as it is stored.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/base/zstd_codec.h"
#include "cli/formats/ttrace/merged_file.h"

namespace cli {

class MergedChunks {
 public:
  // Checks header, footer and index: chunks of possible sizes fill the file without gaps. Throws Error.
  explicit MergedChunks(const std::string& path);
  ~MergedChunks();
  MergedChunks(const MergedChunks&) = delete;
  MergedChunks& operator=(const MergedChunks&) = delete;

  const std::vector<IndexEntry>& index() const { return index_; }
  std::uint64_t events() const { return events_; }

  // The decompressed content in place of what `raw` held. One thread at a time. Throws Error.
  void load(const IndexEntry& entry, std::string& raw);

  // Throws Error (bad_content) with the file, this offset and what to do.
  [[noreturn]] void refuse(std::uint64_t offset, std::string_view what) const;

 private:
  void open();
  void check_header();
  void load_index();
  void check_index(std::uint64_t end) const;
  void read(std::uint64_t offset, void* to, std::size_t size) const;

  std::string path_;
  int fd_ = -1;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t chunks_begin_ = 0;
  std::uint64_t events_ = 0;
  std::vector<IndexEntry> index_;
  ZstdDecompressor zstd_;
  std::string packed_;
};

// By the magic of the file. False also for what cannot be opened.
bool is_merged_file(const std::string& path);

}  // namespace cli
