#include "cli/show/export/pieces.h"

#include <algorithm>
#include <utility>

#include "cli/show/export/event_walk.h"
#include "cli/trace/ranks.h"

namespace cli {

namespace {

void prepare(const ExportJob& job, const Pieces& pieces, const Wanted& wanted, Progress& progress) {
  Router router(*job.catalog, pieces.layout);
  job.selector->begin_walk();
  EachEvent sink([&](const Event& event, const Facts& facts) {
    progress.step();
    while (router.border(event.start_ns) != nullptr) router.cross();
    Piece* piece = pieces.at(router.output(router.process(event)));
    if (piece == nullptr && router.by_process()) return;
    if (job.selector->judge(event) == LeftOut::kept && piece != nullptr) piece->exporter().prepare(event, facts);
  });
  job.trace->walk(sink, wanted);
}

// Reads only the processes that this walk writes, so that one file per process takes time in proportion to the events.
Wanted wanted_now(const ExportJob& job, const Pieces& pieces) {
  Wanted wanted = job.wanted;
  for (const std::size_t piece : pieces.layout.piece_of) wanted.now.push_back(pieces.at(piece) != nullptr);
  return wanted;
}

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

// Adds the results of a walk. Each walk counts the events that it excluded from its own processes. Every walk counts
// the events that were excluded because of their rank, so only the last of these counts is kept.
void add(LeftOutSummary& to, LeftOutSummary of) {
  constexpr auto kRanks = static_cast<std::size_t>(LeftOut::ranks);
  for (std::size_t why = 0; why < to.events.size(); ++why) of.events[why] += why == kRanks ? 0 : to.events[why];
  of.cut_flows += to.cut_flows;
  of.tracks.insert(of.tracks.begin(), to.tracks.begin(), to.tracks.end());
  to = std::move(of);
}

}  // namespace

Piece::Piece(const ExportJob& job, std::unique_ptr<ByteSink> sink, std::uint64_t limit_bytes, WhenEmpty when_empty)
    : sink_(std::move(sink), limit_bytes), exporter_(job.format->make(job.format_options)), when_empty_(when_empty) {
  if (job.origin_ns) exporter_->origin(*job.origin_ns);
  exporter_->begin(*job.catalog, sink_);
  if (job.collectives != nullptr) exporter_->collectives(*job.collectives);
  exporter_->clocks(job.trace->fits());
}

void Piece::finish() {
  if (finished_) return;
  finished_ = true;
  summary_ = exporter_->finish();
  exporter_.reset();  // frees memory for the other pieces of this walk
  if (!dropped()) sink_.finish();
}

LeftOutSummary write_pieces(const ExportJob& job, Pieces& pieces, CutPlan* plan) {
  Progress progress("exporting");
  const Wanted wanted = wanted_now(job, pieces);
  if (!pieces.alive.empty() && pieces.alive[0]->exporter().needs_two_passes()) prepare(job, pieces, wanted, progress);
  for (const auto& piece : pieces.alive) piece->exporter().steps(*job.steps);
  EventWalk events(job, pieces, plan, progress);
  events.not_read(job.trace->walk(events, wanted));
  return events.finish();
}

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
