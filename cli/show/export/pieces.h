// Several outputs that are written in one walk: one for each process, or one after the other in time. Of many, a walk
// writes some, so that buffers and open files stay few.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cli/show/export/piece.h"

namespace cli {

inline constexpr std::size_t kPiecesAtOnce = 32;  // an exporter holds 2 to 4 MiB

// Which output an event belongs to: by process, else by time; with neither there is one.
struct Layout {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> piece_of = {};  // by ProcessId; kNone: it is in no output
  std::vector<std::int64_t> borders = {};  // ascending; output i holds what starts before borders[i]
};

// Those that are written now: with the numbers from `first` on.
struct Pieces {
  Layout layout;
  std::size_t first = 0;
  std::vector<std::unique_ptr<Piece>> alive = {};

  Piece* at(std::size_t number) const { return number - first < alive.size() ? alive[number - first].get() : nullptr; }
};

class CutPlan;

// Walks the trace for the pieces, as often as their format needs it, and finishes them. `plan`, of the only piece:
// notes how large it becomes. Throws Error.
LeftOutSummary write_pieces(const ExportJob& job, Pieces& pieces, CutPlan* plan = nullptr);

}  // namespace cli
