#include "cli/show/export/event_walk.h"

namespace cli {

EventWalk::EventWalk(const ExportJob& job, Pieces& pieces, CutPlan* plan, Progress& progress)
    : job_(job),
      pieces_(pieces),
      plan_(plan),
      progress_(progress),
      router_(*job.catalog, pieces.layout),
      clip_([this](ProcessId id) { return job_.selector->window(id); }, *this) {
  job_.selector->begin_walk();
  if (job_.computed) overlay_.emplace(*job.catalog, clip_);
  if (job_.collectives == nullptr) return;
  std::vector<bool> written(job.catalog->processes.size());
  for (ProcessId id = 0; id < written.size(); ++id) written[id] = job.selector->has(id) && (!router_.by_process() || pieces.at(router_.output(id)) != nullptr);
  collectives_.emplace(*job_.collectives, std::move(written), clip_);
}

// The overlay sees all events of a rank that is written, so that what it computes is true of the rank.
void EventWalk::event(const Event& event, const Facts& facts) {
  progress_.step();
  const ProcessId process = router_.process(event);
  const bool chosen = job_.selector->has(process);
  if (chosen && router_.by_process() && pieces_.at(router_.output(process)) == nullptr) return;  // another walk is for it
  const LeftOut why = judge(event);
  if (!chosen) return;
  cut(event.start_ns);
  Piece* piece = pieces_.at(router_.output(process));
  if (plan_ != nullptr) plan_->note(event.start_ns, piece->bytes());
  if (overlay_) overlay_->event(event, facts);
  if (collectives_) collectives_->until(process, event.start_ns);
  if (piece == nullptr) return;
  if (why == LeftOut::kept) {
    piece->event(event, facts);
  } else {
    piece->exporter().left_out(event, facts);
  }
}

LeftOut EventWalk::judge(const Event& event) {
  const LeftOut why = job_.selector->judge(event);
  if (why != LeftOut::kept) ++left_out_.events[static_cast<std::size_t>(why)];
  if (job_.selector->loses_flow(event, why == LeftOut::kept)) ++left_out_.cut_flows;
  return why;
}

// What is computed ends at the border, in the output that ends there.
void EventWalk::cut(std::int64_t now_ns) {
  while (const std::int64_t* border = router_.border(now_ns)) {
    if (overlay_) overlay_->cut(*border);
    if (collectives_) collectives_->cut(*border);
    clip_.cut(*border);
    if (Piece* piece = pieces_.at(router_.output(0))) piece->finish();
    router_.cross();
  }
}

void EventWalk::derived(const Derived& derived) {
  if (Piece* piece = pieces_.at(router_.output(derived.process))) piece->exporter().derived(derived);
}

void EventWalk::not_read(const NotRead& events) {
  const auto add = [&](LeftOut why, std::uint64_t count) { left_out_.events[static_cast<std::size_t>(why)] += count; };
  add(LeftOut::ranks, events.by_process);
  add(job_.selector->has_steps() ? LeftOut::steps : LeftOut::time, events.by_time);
  add(LeftOut::kinds, events.by_kind);
}

LeftOutSummary EventWalk::finish() {
  if (overlay_) {
    overlay_->finish();
    left_out_.tracks = overlay_->notes();
  }
  if (collectives_) collectives_->finish();
  clip_.finish();
  for (const auto& piece : pieces_.alive) piece->finish();
  return left_out_;
}

}  // namespace cli
