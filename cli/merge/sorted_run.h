// Sorted runs in a scratch file. A run is a row of blocks (a small header, then columns as in a merged file,
// compressed) that lie one after the other, so that its place is two numbers, however long it is.
#pragma once
#include <cstdint>
#include <string>

#include "cli/io/temp_file.h"
#include "cli/io/zstd_codec.h"
#include "cli/model/clock_fit.h"
#include "cli/read/merged_batch.h"

namespace cli {

struct SortedRun {
  std::uint64_t begin = 0, end = 0;  // in the scratch file
  std::uint32_t clock = 0;           // the clock of all its events
};

// Small, as a merge holds one block of every run.
inline constexpr std::size_t kBlockEvents = 1024;
inline constexpr std::size_t kBlockArgs = 128 << 10;

class SortedRunWriter {
 public:
  explicit SortedRunWriter(TempFile& file) : file_(file) {}

  // The batch in this order, as one run.
  SortedRun write(const EventBatch& batch, const std::uint32_t* order, std::uint32_t clock);
  // Or block by block: `batch` in its order. Returns where it lies.
  SortedRun write_block(const EventBatch& batch, const std::uint32_t* order, std::size_t begin, std::size_t end);

 private:
  TempFile& file_;
  ZstdCompressor zstd_{1};
  std::string raw_, packed_;
};

// Reads one run, event by event.
class SortedRunCursor {
 public:
  // `fit`: puts the events on the axis; nullptr: as they are. It keeps the order of starts (of two that become equal,
  // the earlier stays first, even if it is the shorter).
  SortedRunCursor(const TempFile& file, const SortedRun& run, const ClockFit* fit, const ShapeTable& shapes)
      : file_(&file), run_(run), fit_(fit), shapes_(&shapes) {}

  bool next(ZstdDecompressor& zstd);  // false: the end
  const Event& event() const { return batch_.event(at_); }
  Facts facts() const { return batch_.facts(at_); }

 private:
  void load(ZstdDecompressor& zstd);

  const TempFile* file_;
  SortedRun run_;
  const ClockFit* fit_;
  const ShapeTable* shapes_;
  EventBatch batch_;
  std::size_t at_ = static_cast<std::size_t>(-1);
};

}  // namespace cli
