// The bytes of a recording: opened, checked and copied safely, from a live or a dead writer. The file is not mapped, so
// a file that shrinks while it is read causes an error, not a SIGBUS. If the recording has a spool, it is read together
// with it.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/formats/ring/spool_file.h"
#include "cli/trace/words.h"
#include "common/definitions.h"
#include "common/layout.h"

namespace cli::ring {

// A copy of one block. `payload` has `header.committed` bytes.
struct RingBlock {
  trace::BlockHeader header;  // for a spooled block: committed, ticket, tid and clock
  std::uint64_t offset;       // of the payload in the ring; for a spooled block, of its chunk in the spool
  bool spooled;
  std::vector<std::byte> payload;
};

class RingFile {
 public:
  // Reads and checks the header. Throws Error: cannot open; not a recording, another version, unknown feature,
  // inconsistent sizes. If the page of the header was destroyed, the header is what agent/ring/trace_file.h finds. A
  // file that is shorter than written (an interrupted copy, a full disk) is read as far as possible; is_cut() is then
  // true.
  explicit RingFile(const std::string& path);
  ~RingFile();
  RingFile(const RingFile&) = delete;
  RingFile& operator=(const RingFile&) = delete;

  const std::string& path() const { return path_; }
  const trace::FileHeader& header() const { return header_; }
  RecordingState state() const { return state_; }  // live, clean, recovered, unknown (FORMAT.md)
  bool is_cut() const { return file_bytes_ < header_.file_bytes; }
  // Returns where the file is cut and how many blocks are missing, or that its header is missing; "" if it is complete.
  std::string cut_text() const;
  // The definitions region. It grows while blocks of a live file are read, so that it always contains what the blocks
  // so far may refer to.
  const std::vector<std::byte>& definitions() const { return definitions_; }

  // Calls visit() for every block with content, in the ring and in its spool, in the order in which they were claimed.
  // A block that changes while it is copied is dropped and counted, unless it is in the spool. Memory: one block.
  void for_each_block(const std::function<void(const RingBlock&)>& visit);

  // Returns the clock samples of all blocks and of the header. Fast, because it reads only headers.
  std::vector<trace::ClockSample> clock_samples();
  // Returns the clock samples in clock records, as far as the ring has them. Reads only the blocks of the agent's own
  // thread.
  std::vector<trace::ClockSample> clock_records() const;

  // Sums the counters of the blocks, for overwritten(), as an alternative to for_each_block(). Reads only headers,
  // unless a spool has only a part of what the ring lost.
  void count_overwritten();

  // Returns the number of event records in the file: in the ring's blocks, and by the counters of the spool's chunks.
  std::uint64_t count_records();

  // Valid after for_each_block().
  std::uint64_t changed_blocks() const { return changed_blocks_; }
  const std::uint64_t* overwritten() const { return overwritten_; }  // [kEventKinds]
  // Number of positions where records may be missing between two blocks. It grows while for_each_block() runs.
  std::uint64_t holes() const { return holes_; }
  // Returns notes for the user about the spool and the location of the ring. Complete after for_each_block().
  std::vector<std::string> notes() const;

 private:
  struct BlockPosition {
    std::uint64_t ticket;
    std::uint64_t index;
  };
  void recover_if_destroyed();
  void check_header();
  void check_room(const char* what, std::uint64_t offset, std::uint64_t bytes) const;
  void find_state();
  void read_definitions();
  void read_at(void* to, std::size_t bytes, std::uint64_t offset) const;
  trace::BlockHeader read_block_header(std::uint64_t index) const;
  std::vector<BlockPosition> positions() const;
  bool is_whole_in_file(std::uint64_t index) const;
  bool copy_block(const BlockPosition& position, RingBlock& block) const;
  void open_spool();
  bool read_spooled(const SpoolFile::ChunkPosition& position, bool counted, RingBlock& block);
  bool read_from_ring(const BlockPosition& position, const SpoolFile::ChunkPosition* twin, RingBlock& block);
  void note_held(const std::vector<BlockPosition>& ring);
  // Returns the ticket that the ring has in the position of `ticket`: larger if it was overwritten; smaller, in a copy,
  // if it was written later.
  std::uint64_t held(std::uint64_t ticket) const { return held_.empty() ? 0 : held_[ticket % held_.size()]; }
  bool has_gaps(const std::vector<BlockPosition>& ring) const;
  bool is_hole(std::uint64_t before, std::uint64_t after) const;
  void settle_overwritten();
  std::uint64_t read_generation(std::uint64_t index) const;
  std::uint64_t block_offset(std::uint64_t index) const;

  std::string path_;
  int file_ = -1;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t blocks_here_ = 0;  // blocks whose header, at least, is before the end of the file
  trace::FileHeader header_{};
  RecordingState state_ = RecordingState::unknown;
  std::vector<std::byte> definitions_;
  std::uint64_t changed_blocks_ = 0;
  std::uint64_t overwritten_[trace::kEventKinds] = {};
  std::uint64_t saved_[trace::kEventKinds] = {};  // overwritten in the ring, but in the spool
  std::uint64_t holes_ = 0;
  std::vector<std::uint64_t> held_;  // tickets by block; 0 if never used
  bool is_recovered_ = false;        // the header
  bool is_old_ = false;              // the spool has newer blocks than this copy of the ring
  bool has_gaps_ = false;
  std::uint64_t damaged_chunks_ = 0;
  std::unique_ptr<SpoolFile> spool_;
  std::string spool_problem_;
};

// Calls visit(offset, kind, size) for each complete record of `bytes` from `at` on. Returns the end of the walk:
// bytes.size(), or the position of the first bytes that are no record.
template <typename Visit>
std::size_t walk_records(const std::vector<std::byte>& bytes, const Visit& visit, std::size_t at = 0) {
  std::size_t size;
  while ((size = trace::record_size(bytes.data() + at, bytes.size() - at)) != 0) {
    visit(at, static_cast<std::uint8_t>(bytes[at]), size);
    at += size;
  }
  return at;
}

// Returns a record as our struct. Fields that an older writer did not have are zero; fields of a newer one are ignored.
template <typename Record>
Record record_at(const std::vector<std::byte>& bytes, std::size_t at, std::size_t size) {
  Record record{};
  std::memcpy(&record, bytes.data() + at, size < sizeof(Record) ? size : sizeof(Record));
  return record;
}

}  // namespace cli::ring
