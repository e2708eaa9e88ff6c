// A recording as bytes: opened, checked and copied out safely, of a live or a dead writer. Nothing is mapped: a file
// that shrinks while it is read is an error, not a SIGBUS. Its spool, where it has one, is read with it.
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

// One block, copied whole. `payload` holds `header.committed` bytes.
struct RingBlock {
  trace::BlockHeader header;  // of a spooled one: committed, ticket, tid and clock
  std::uint64_t offset;       // of the payload in the ring; of a spooled one, of its chunk in the spool
  bool spooled;
  std::vector<std::byte> payload;
};

class RingFile {
 public:
  // Reads and checks the header. Throws Error: cannot open; not a recording, another version, unknown feature, sizes
  // that contradict each other. Where the page of the header was destroyed, it is what agent/ring/ring_header.h finds. A file that is shorter than it was written (a copy that broke off, a full disk) is read
  // as far as it goes: is_cut().
  explicit RingFile(const std::string& path);
  ~RingFile();
  RingFile(const RingFile&) = delete;
  RingFile& operator=(const RingFile&) = delete;

  const std::string& path() const { return path_; }
  const trace::FileHeader& header() const { return header_; }
  RecordingState state() const { return state_; }  // live, clean, recovered, unknown (FORMAT.md)
  bool is_cut() const { return file_bytes_ < header_.file_bytes; }
  // Where it ends, and how many blocks are missing; or that its header is; "" where it is whole.
  std::string cut_text() const;
  // Grows while blocks of a live file are read: always what the blocks so far may refer to.
  const std::vector<std::byte>& definitions() const { return definitions_; }

  // Every block that holds something, of the ring and of its spool, in the order in which they were claimed. A block
  // that changes while it is copied is dropped and counted, unless it is in the spool. Memory: one block.
  void for_each_block(const std::function<void(const RingBlock&)>& visit);

  // The clock samples of all blocks and of the header: cheap, headers only.
  std::vector<trace::ClockSample> clock_samples();
  // Those of the records that tell of clocks, as far as the ring has them: of the blocks of the agent's own thread alone.
  std::vector<trace::ClockSample> clock_records() const;

  // Sums what the blocks count, for overwritten(), instead of for_each_block: from headers alone, unless a spool has some of
  // what the ring lost and not all.
  void count_overwritten();

  // Records of events that the file holds: those of the ring's blocks, and as the chunks of its spool count them.
  std::uint64_t count_records();

  // Known after for_each_block.
  std::uint64_t changed_blocks() const { return changed_blocks_; }
  const std::uint64_t* overwritten() const { return overwritten_; }  // [kEventKinds]
  // Grows at each position where records may be missing between two blocks; also while for_each_block runs.
  std::uint64_t holes() const { return holes_; }
  // What a user should know of the spool, and of where the ring lies. Complete after for_each_block.
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
  // The ticket that the ring has in the position of `ticket`: larger where it was overwritten; smaller, in a copy, where
  // it came later.
  std::uint64_t held(std::uint64_t ticket) const { return held_.empty() ? 0 : held_[ticket % held_.size()]; }
  bool has_gaps(const std::vector<BlockPosition>& ring) const;
  bool is_hole(std::uint64_t before, std::uint64_t after) const;
  void settle_overwritten();
  std::uint64_t read_generation(std::uint64_t index) const;
  std::uint64_t block_offset(std::uint64_t index) const;

  std::string path_;
  int file_ = -1;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t blocks_here_ = 0;  // of which at least the header lies before the end of the file
  trace::FileHeader header_{};
  RecordingState state_ = RecordingState::unknown;
  std::vector<std::byte> definitions_;
  std::uint64_t changed_blocks_ = 0;
  std::uint64_t overwritten_[trace::kEventKinds] = {};
  std::uint64_t saved_[trace::kEventKinds] = {};  // overwritten, but in the spool
  std::uint64_t holes_ = 0;
  std::vector<std::uint64_t> held_;  // tickets by block; 0: never used
  bool is_recovered_ = false;        // the header
  bool is_old_ = false;              // the spool has what came after this copy of the ring
  bool has_gaps_ = false;
  std::uint64_t damaged_chunks_ = 0;
  std::unique_ptr<SpoolFile> spool_;
  std::string spool_problem_;
};

// Calls visit(offset, kind, size) for each whole record of `bytes` from `at` on; returns where the walk ended:
// bytes.size(), or the position of the first thing that is not a record.
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

}  // namespace cli::ring
