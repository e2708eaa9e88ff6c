#include "cli/answers/tables/path_walk.h"

#include <algorithm>

namespace cli {

void PathWalk::walk(const PathSpan& span, const std::function<void(const PathSegment&)>& segment) {
  segment_ = &segment;
  begin_ns_ = span.from_ns;
  now_ns_ = span.to_ns;
  work_ = span.last;
  while (now_ns_ > begin_ns_ && work_) in_work();
  hold(PathPart::unexplained, begin_ns_, trace_.process_of(span.last));
}

void PathWalk::hold(PathPart part, std::int64_t from_ns, std::optional<ProcessId> process, std::uint32_t work_class, StringId name) {
  const std::int64_t to_ns = now_ns_;
  now_ns_ = std::min(now_ns_, std::max(from_ns, begin_ns_));
  if (now_ns_ < to_ns) (*segment_)({now_ns_, to_ns, part, process, work_class, name});
}

void PathWalk::in_work() {
  const PathWorkId id = *work_;
  const PathWork& work = trace_[id];
  const PathMeeting* meeting = trace_.meeting_of(id);
  if (meeting == nullptr || meeting->last_start_ns >= now_ns_) {
    hold(PathPart::work, work.start_ns, trace_.process_of(id), work.work_class, work.name);
    return at_start(id);
  }
  hold(PathPart::work, meeting->last_start_ns, std::nullopt, work.work_class, work.name);
  hold(PathPart::unexplained, trace_[meeting->last].start_ns, trace_.process_of(meeting->last));
  at_start(meeting->last);
}

void PathWalk::at_start(PathWorkId id) {
  work_.reset();
  if (now_ns_ <= begin_ns_) return;
  const PathWork& work = trace_[id];
  const ProcessId process = trace_.process_of(id);
  const std::int64_t start_ns = now_ns_;
  // What may have let it start, and when that was done.
  struct Reason {
    std::int64_t done_ns = kEarliest_ns;
    std::optional<PathWorkId> work;  // empty: the call
  };
  const std::optional<PathWorkId> before = trace_.before(id);
  Reason reason;
  if (before) reason = {std::min(start_ns, trace_[*before].end_ns), before};
  const bool by_call = work.thread && (!before || trace_[*before].end_ns <= work.call_start_ns);
  if (by_call) reason = {std::min(start_ns, work.call_end_ns), std::nullopt};
  const std::optional<PathWorkId> awaited = trace_.awaited_by(id);
  const bool by_event = awaited && trace_[*awaited].end_ns > reason.done_ns;
  if (by_event) reason = {std::min(start_ns, trace_[*awaited].end_ns), awaited};
  const bool known = by_call || before || by_event;
  if (known && start_ns - reason.done_ns <= kLatency_ns) {
    hold(PathPart::queued, reason.done_ns, process);
  } else {
    const std::optional<PathWorkId> other = trace_.ended_by(process, start_ns, id);
    const bool is_later = other && trace_[*other].end_ns > reason.done_ns;
    if (is_later) reason = {trace_[*other].end_ns, other};
    const bool is_near = is_later && start_ns - reason.done_ns <= kLatency_ns;
    inferred_ += is_near;
    if (!known && !is_later) return;
    hold(is_near ? PathPart::queued : PathPart::unexplained, reason.done_ns, process);
  }
  if (now_ns_ <= begin_ns_) return;
  if (reason.work) {
    work_ = reason.work;
  } else {
    in_call(id);
  }
}

void PathWalk::in_call(PathWorkId id) {
  const PathWork& work = trace_[id];
  hold(PathPart::launch, work.call_start_ns, trace_.process_of(id), 0, call_name(work));
  on_host(*work.thread);
}

StringId PathWalk::call_name(const PathWork& work) const {
  const auto change = trace_.change_before(*work.thread, work.call_start_ns + 1);
  return change ? change->name : 0;
}

void PathWalk::on_host(TrackId thread) {
  for (TrackId at = thread; now_ns_ > begin_ns_;) {
    const ProcessId process = trace_.process_of({at, 0});
    const HostWait* wait = trace_.wait_by(process, now_ns_);
    in_calls(at, wait != nullptr ? wait->end_ns : begin_ns_);
    if (wait == nullptr) return;
    const auto awaited = trace_.ended_by(process, wait->end_ns, std::nullopt);
    if (awaited && trace_[*awaited].end_ns > wait->start_ns) {
      hold(PathPart::sync, trace_[*awaited].end_ns, process, 0, wait->name);
      work_ = awaited;
      return;
    }
    hold(PathPart::sync, wait->start_ns, process, 0, wait->name);
    at = wait->track;
  }
}

// The host's own time, by what it was in.
void PathWalk::in_calls(TrackId thread, std::int64_t from_ns) {
  const ProcessId process = trace_.process_of({thread, 0});
  const std::int64_t until_ns = std::max(from_ns, begin_ns_);
  while (now_ns_ > until_ns) {
    const auto change = trace_.change_before(thread, now_ns_);
    const bool is_in = change && change->name != 0;
    if (is_in) {
      const bool launches = change->is_call && names_[change->name].launches;
      hold(launches ? PathPart::launch : PathPart::host, std::max(change->from_ns, until_ns), process, 0, change->name);
    } else if (const auto other = trace_.thread_before(process, now_ns_)) {
      thread = *other;
    } else {
      hold(PathPart::host, std::max(trace_.changed_before(process, now_ns_), until_ns), process);
    }
  }
}

}  // namespace cli
