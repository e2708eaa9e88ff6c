// Sorted runs in a scratch file. A run consists of blocks (a small header, then compressed columns as in a merged
// file), stored contiguously in a few stretches of the file.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cli/base/files.h"
#include "cli/base/zstd_codec.h"
#include "cli/formats/ttrace/batch.h"
#include "cli/trace/clocks.h"

namespace cli::ttrace {

struct SortedRun {
  struct Stretch {
    std::uint64_t begin = 0, end = 0;  // in the scratch file
  };
  std::vector<Stretch> stretches;
};

// Small, because a merge holds one block of every run.
inline constexpr std::size_t kBlockEvents = 1024;
inline constexpr std::size_t kBlockArgs = 128 << 10;

// Writes one run. Several writers may share one file.
class SortedRunWriter {
 public:
  explicit SortedRunWriter(TempFile& file) : file_(file) {}

  // Adds the batch in this order; if `order` is null, in its own order.
  void add(const EventBatch& batch, const std::uint32_t* order);
  SortedRun finish();

 private:
  void add_block(const EventBatch& batch, const std::uint32_t* order, std::size_t begin, std::size_t end);
  void write_stretch();

  TempFile& file_;
  ZstdCompressor zstd_{1};
  std::string raw_, packed_, stretch_;
  SortedRun run_;
};

// Reads one run, event by event.
class SortedRunCursor {
 public:
  // `ids` translates the ids of events; null if they stay the same. `fit` converts times to the axis; null if they stay
  // the same. The conversion keeps the order of starts (if two become equal, the earlier one stays first even if it is
  // shorter). `shapes` is indexed by the shape numbers of the events.
  SortedRunCursor(const TempFile& file, const SortedRun& run, const IdMap* ids, const ShapeTable& shapes,
                  const ClockFit* fit)
      : file_(&file), run_(&run), ids_(ids), shapes_(&shapes), axis_(fit) {}

  bool next(ZstdDecompressor& zstd);  // returns false at the end
  const Event& event() const { return batch_.event(at_); }
  Facts facts() const { return batch_.facts(at_); }

 private:
  void load(ZstdDecompressor& zstd);

  const TempFile* file_;
  const SortedRun* run_;
  const IdMap* ids_;
  const ShapeTable* shapes_;
  AxisPlacer axis_;
  std::size_t stretch_ = 0;       // current stretch
  std::uint64_t read_bytes_ = 0;  // of that stretch
  EventBatch batch_;
  std::size_t at_ = static_cast<std::size_t>(-1);
};

}  // namespace cli::ttrace
