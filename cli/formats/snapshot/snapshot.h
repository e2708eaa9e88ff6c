// A memory snapshot of PyTorch: the segments and blocks of the caching allocator at one moment, and the history that
// led to it. `torch.cuda.memory._dump_snapshot()` writes it as a Python pickle.
//
// Pickle executes only the instructions that build dictionaries, lists, tuples, texts and numbers. It refuses
// instructions that would load or call Python code, so a snapshot from an untrusted source cannot execute code. Objects
// are converted as soon as they are complete. Memory use grows with the compact form of the history (about 10 bytes per
// entry) and with the number of objects (4 bytes each), not with the file.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/trace/catalog.h"

namespace cli::snapshot {

// What an entry of the history records, in PyTorch's words.
enum class Action : std::uint8_t {
  alloc,
  free_requested,  // by the program; the block stays in use until other streams no longer need it
  free_completed,
  segment_alloc,  // cudaMalloc
  segment_free,   // cudaFree
  segment_map,    // maps memory into an expandable segment
  segment_unmap,
  snapshot,
  oom,    // an allocation failed: `bytes` was requested, `address` is the free memory of the device or kUnknownBytes
  other,  // an action that this version does not support
};
// By Action, without `other`.
inline constexpr std::array<std::string_view, static_cast<std::size_t>(Action::other)> kActionNames{
    "alloc",         "free_requested", "free_completed",
    "segment_alloc", "segment_free",   "segment_map",
    "segment_unmap", "snapshot",       "oom"};

inline constexpr std::int64_t kNoTime = -1;
inline constexpr std::uint64_t kUnknownBytes = ~std::uint64_t{0};

struct Entry {
  Action action = Action::other;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::int64_t time_us = kNoTime;  // since 1970; kNoTime in files of older versions of PyTorch
  std::uint64_t stream = 0;        // handle of the CUDA stream; 0 is the default stream
  StackId stack{};
};

// The history of one device, in a compact form. Entries are in order of time.
class History {
 public:
  void add(const Entry& entry);
  std::size_t size() const { return size_; }

  // Calls visit(index, entry) for each entry.
  template <typename Visit>
  void forward(Visit&& visit) const {
    std::vector<Entry> entries;
    for (std::size_t chunk = 0; chunk < chunks_.size(); ++chunk) {
      decode(chunk, entries);
      for (std::size_t i = 0; i < entries.size(); ++i) visit(chunk * kChunk + i, entries[i]);
    }
  }
  // Calls visit(index, entry) from the newest entry to the oldest. Stops if visit() returns false.
  template <typename Visit>
  void backward(Visit&& visit) const {
    std::vector<Entry> entries;
    for (std::size_t chunk = chunks_.size(); chunk-- > 0;) {
      decode(chunk, entries);
      for (std::size_t i = entries.size(); i-- > 0;) {
        if (!visit(chunk * kChunk + i, entries[i])) return;
      }
    }
  }

 private:
  static constexpr std::size_t kChunk = 4096;  // number of entries that are decoded together

  void decode(std::size_t chunk, std::vector<Entry>& entries) const;

  std::vector<std::string> chunks_;
  Entry last_;  // newest entry of the newest chunk
  std::size_t size_ = 0;
};

enum class BlockState : std::uint8_t {
  active,        // in use by the program
  pending_free,  // freed by the program, but another stream may still use it
  inactive,      // free; may be given to the next allocation that fits
  unknown,
};

struct Block {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;            // with the allocator's rounding
  std::uint64_t requested_bytes = 0;  // equal to `bytes` in files that do not contain it
  BlockState state = BlockState::unknown;
  StackId stack;  // of its allocation; 0 if the file does not contain it
};
// Returns true if the block counts as allocated.
constexpr bool in_use(const Block& block) {
  return block.state == BlockState::active || block.state == BlockState::pending_free;
}

struct Segment {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::int64_t device = 0;
  std::uint64_t stream = 0;
  bool is_small = false;                    // of the pool for blocks of at most 1 MiB
  StackId stack;                            // of its allocation; 0 if the file does not contain it
  std::size_t first_block = 0, blocks = 0;  // in Snapshot::blocks, in order of address
};

// A named range of the program, such as "Optimizer.step#AdamW.step".
struct Annotation {
  StringId name = 0;
  std::int64_t device = 0;
  std::int64_t time_us = kNoTime;
  bool begins = false;
};

struct Snapshot {
  Catalog catalog;  // strings and stacks
  std::vector<Segment> segments;
  std::vector<Block> blocks;
  std::vector<History> histories;  // by device
  std::vector<Annotation> annotations;
  bool has_layout = true;  // false if the segments are unknown; blocks are then only amounts in use

  bool has_history() const {
    for (const History& history : histories) {
      if (history.size() != 0) return true;
    }
    return false;
  }
};

// Returns true if the file, which may be compressed, begins like a pickle. Returns false if it cannot be read.
bool is_snapshot_file(const std::string& path);

// Reads a snapshot, which may be compressed. Throws Error (cannot_open; bad_content with the byte offset if the file
// is damaged, contains code, or is another kind of pickle).
Snapshot read_snapshot(const std::string& path);

}  // namespace cli::snapshot
