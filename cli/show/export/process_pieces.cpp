#include "cli/show/export/process_pieces.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/trace/rank_list.h"

namespace cli {
namespace {

std::vector<ProcessId> chosen_processes(const ExportJob& job) {
  std::vector<ProcessId> chosen;
  for (ProcessId id = 0; id < job.catalog->processes.size(); ++id) {
    if (job.selector->has(id)) chosen.push_back(id);
  }
  return chosen;
}

Pieces open_some(const ExportJob& job, const ProcessOutputs& outputs, const ProcessId* begin, const ProcessId* end) {
  Pieces pieces;
  pieces.layout.piece_of.assign(job.catalog->processes.size(), Layout::kNone);
  for (const ProcessId* id = begin; id != end; ++id) {
    pieces.layout.piece_of[*id] = pieces.alive.size();
    pieces.alive.push_back(std::make_unique<Piece>(job, outputs.open(*id), 0, Piece::WhenEmpty::dropped));
  }
  return pieces;
}

// Adds up the walks. Each walk counts the events that it left out of its own processes. Events that were left out because of their rank are
// counted by every walk, so the last count is kept.
void add(LeftOutSummary& to, LeftOutSummary of) {
  constexpr auto kRanks = static_cast<std::size_t>(LeftOut::ranks);
  for (std::size_t why = 0; why < to.events.size(); ++why) of.events[why] += why == kRanks ? 0 : to.events[why];
  of.cut_flows += to.cut_flows;
  of.tracks.insert(of.tracks.begin(), to.tracks.begin(), to.tracks.end());
  to = std::move(of);
}

}  // namespace

void write_processes(const ExportJob& job, const ProcessOutputs& outputs, ExportReport& report) {
  const std::vector<ProcessId> chosen = chosen_processes(job);
  std::vector<std::int64_t> empty;
  for (std::size_t first = 0; first < chosen.size(); first += kPiecesAtOnce) {
    const std::size_t end = std::min(first + kPiecesAtOnce, chosen.size());
    Pieces pieces = open_some(job, outputs, chosen.data() + first, chosen.data() + end);
    add(report.left_out, write_pieces(job, pieces));
    for (std::size_t i = first; i < end; ++i) {
      const Piece& piece = *pieces.alive[i - first];
      if (piece.dropped()) {
        empty.push_back(job.catalog->processes[chosen[i]].rank);
      } else {
        report.summary += piece.summary();
      }
      outputs.done(chosen[i], piece);
    }
  }
  if (!empty.empty()) report.notes.push_back(rank_list(empty) + ": no events, no file");
}

}  // namespace cli
