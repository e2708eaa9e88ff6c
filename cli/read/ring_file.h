// A recording as bytes: opened, checked and copied out safely, of a live or a dead writer. Nothing is mapped: a file
// that shrinks while it is read is an error, not a SIGBUS.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "common/definitions.h"
#include "common/layout.h"

namespace cli {

// One block, copied whole. `payload` holds `header.committed` bytes.
struct RingBlock {
  trace::BlockHeader header;
  std::uint64_t offset;  // of the payload in the file
  std::vector<std::byte> payload;
};

class RingFile {
 public:
  // Reads and checks the header. Throws Error: cannot open; not a recording, another version, unknown feature, sizes
  // that contradict each other or the file's length.
  explicit RingFile(const std::string& path);
  ~RingFile();
  RingFile(const RingFile&) = delete;
  RingFile& operator=(const RingFile&) = delete;

  const std::string& path() const { return path_; }
  const trace::FileHeader& header() const { return header_; }
  const char* state() const { return state_; }  // live, clean, recovered, unknown (FORMAT.md)
  // Grows while blocks of a live file are read: always what the blocks so far may refer to.
  const std::vector<std::byte>& definitions() const { return definitions_; }

  // Every block that holds something, in the order in which they were claimed. A block that changes while it is copied
  // is dropped and counted. Memory: one block.
  void for_each_block(const std::function<void(const RingBlock&)>& visit);

  // The clock samples of all blocks and of the header: cheap, headers only.
  std::vector<trace::ClockSample> clock_samples();

  // Known after for_each_block.
  std::uint64_t changed_blocks() const { return changed_blocks_; }
  const std::uint64_t* overwritten() const { return overwritten_; }  // [kEventKinds]

 private:
  struct Place {
    std::uint64_t ticket;
    std::uint64_t index;
  };
  void check_header();
  void check_room(const char* what, std::uint64_t offset, std::uint64_t bytes) const;
  void find_state();
  void read_definitions();
  void read_at(void* to, std::size_t bytes, std::uint64_t offset) const;
  trace::BlockHeader read_block_header(std::uint64_t index) const;
  std::vector<Place> places() const;
  bool copy_block(const Place& place, RingBlock& block) const;
  std::uint64_t read_generation(std::uint64_t index) const;
  std::uint64_t block_offset(std::uint64_t index) const;

  std::string path_;
  int file_ = -1;
  std::uint64_t file_bytes_ = 0;
  trace::FileHeader header_{};
  const char* state_ = "unknown";
  std::vector<std::byte> definitions_;
  std::uint64_t changed_blocks_ = 0;
  std::uint64_t overwritten_[trace::kEventKinds] = {};
};

// Calls visit(offset, kind, size) for each whole record of `bytes` from `at` on; returns where the walk ended:
// bytes.size(), or the place of the first thing that is not a record.
template <typename Visit>
std::size_t walk_records(const std::vector<std::byte>& bytes, const Visit& visit, std::size_t at = 0) {
  std::size_t size;
  while ((size = trace::record_size(bytes.data() + at, bytes.size() - at)) != 0) {
    visit(at, static_cast<std::uint8_t>(bytes[at]), size);
    at += size;
  }
  return at;
}

// A record as our struct: fields that an older writer did not have are zero, fields of a newer one are left out.
template <typename Record>
Record record_at(const std::vector<std::byte>& bytes, std::size_t at, std::size_t size) {
  Record record{};
  std::memcpy(&record, bytes.data() + at, size < sizeof(Record) ? size : sizeof(Record));
  return record;
}

}  // namespace cli
