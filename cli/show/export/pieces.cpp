#include "cli/show/export/pieces.h"

#include "cli/show/export/event_walk.h"

namespace cli {
namespace {

class PrepareWalk : public EventSink {
 public:
  PrepareWalk(const ExportJob& job, const Pieces& pieces, Progress& progress)
      : job_(job), pieces_(pieces), progress_(progress), router_(*job.catalog, pieces.layout) {
    job_.selector->begin_walk();
  }
  void event(const Event& event, const Facts& facts) override {
    progress_.step();
    while (router_.border(event.start_ns) != nullptr) router_.cross();
    Piece* piece = pieces_.at(router_.output(router_.process(event)));
    if (piece == nullptr && router_.by_process()) return;
    if (job_.selector->judge(event) == LeftOut::kept && piece != nullptr) piece->exporter().prepare(event, facts);
  }

 private:
  const ExportJob& job_;
  const Pieces& pieces_;
  Progress& progress_;
  Router router_;
};

// Reads only the processes that are written now, so that one file for each process takes time in proportion to the events.
Wanted wanted_now(const ExportJob& job, const Pieces& pieces) {
  Wanted wanted = job.wanted;
  for (const std::size_t piece : pieces.layout.piece_of) wanted.now.push_back(pieces.at(piece) != nullptr);
  return wanted;
}

}  // namespace

LeftOutSummary write_pieces(const ExportJob& job, Pieces& pieces, CutPlan* plan) {
  Progress progress("exporting");
  const Wanted wanted = wanted_now(job, pieces);
  if (!pieces.alive.empty() && pieces.alive[0]->exporter().needs_two_passes()) {
    PrepareWalk prepare(job, pieces, progress);
    job.trace->walk(prepare, wanted);
  }
  for (const auto& piece : pieces.alive) piece->exporter().steps(*job.steps);
  EventWalk events(job, pieces, plan, progress);
  events.not_read(job.trace->walk(events, wanted));
  return events.finish();
}

}  // namespace cli
