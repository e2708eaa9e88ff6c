#include "cli/show/export/event_walk.h"

#include <algorithm>

namespace cli {

void Clip::derived(const Derived& derived) {
  const TimeWindow window = window_(derived.process);
  if (window.from_ns >= window.to_ns) return;
  return info(derived.track).counter ? value(derived, window) : slice(derived, window);
}

void Clip::slice(const Derived& derived, TimeWindow window) {
  const std::int64_t end_ns = derived.start_ns + derived.duration_ns;
  const bool is_point = derived.duration_ns == 0 && derived.start_ns >= window.from_ns;
  if (derived.start_ns >= window.to_ns || (end_ns <= window.from_ns && !is_point)) return;
  Derived part = derived;
  part.start_ns = std::max(derived.start_ns, window.from_ns);
  part.duration_ns = std::min(end_ns, window.to_ns) - part.start_ns;
  sink_.derived(part);
}

void Clip::value(const Derived& derived, TimeWindow window) {
  const Key key{derived.process, derived.track, derived.device};
  if (derived.start_ns <= window.from_ns) {
    Derived& kept = before_[key] = derived;
    kept.start_ns = window.from_ns;
    return;
  }
  if (const auto kept = before_.find(key); kept != before_.end()) {
    sink_.derived(kept->second);
    before_.erase(kept);
  }
  if (derived.start_ns < window.to_ns) sink_.derived(derived);
}

void Clip::cut(std::int64_t at_ns) {
  std::erase_if(before_, [&](const auto& entry) {
    if (entry.second.start_ns >= at_ns) return false;
    sink_.derived(entry.second);
    return true;
  });
}

void Clip::finish() {
  for (const auto& [key, value] : before_) sink_.derived(value);
  before_.clear();
}

EventWalk::EventWalk(const ExportJob& job, Pieces& pieces, CutPlan* plan, Progress& progress)
    : job_(job),
      pieces_(pieces),
      plan_(plan),
      progress_(progress),
      router_(*job.catalog, pieces.layout),
      clip_([this](ProcessId id) { return job_.selector->window(id); }, *this) {
  job_.selector->begin_walk();
  if (job_.computed) overlay_.emplace(*job.catalog, clip_);
  std::vector<bool> written(job.catalog->processes.size());
  for (ProcessId id = 0; id < written.size(); ++id)
    written[id] = job.selector->has(id) && (!router_.by_process() || pieces.at(router_.output(id)) != nullptr);
  if (job_.categories != nullptr) categories_.emplace(*job_.categories, written, clip_);
  if (job_.collectives != nullptr) collectives_.emplace(*job_.collectives, std::move(written), clip_);
}

// The overlay receives all events of a written rank, so that derived tracks are correct for the rank.
void EventWalk::event(const Event& event, const Facts& facts) {
  progress_.step();
  const ProcessId process = router_.process(event);
  const bool chosen = job_.selector->has(process);
  // Another walk writes it
  if (chosen && router_.by_process() && pieces_.at(router_.output(process)) == nullptr) return;
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

// Derived slices end at the border, in the output that ends there.
void EventWalk::cut(std::int64_t now_ns) {
  while (const std::int64_t* border = router_.border(now_ns)) {
    if (overlay_) overlay_->cut(*border);
    if (collectives_) collectives_->cut(*border);
    if (categories_) categories_->cut(*border);
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
  if (categories_) categories_->finish();
  clip_.finish();
  for (const auto& piece : pieces_.alive) piece->finish();
  return left_out_;
}

}  // namespace cli
