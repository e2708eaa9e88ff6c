#include "cli/formats/kineto/frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "cli/trace/short_name.h"

namespace cli::kineto {
namespace {

// Readers store times as doubles of microseconds since Kineto's base. These distinguish successive nanoseconds, but are
// not exact enough for sums of two.
constexpr std::int64_t kWider_ns = 4;

bool is_same_function(const StackFrame& a, const StackFrame& b) {
  return a.what == b.what && a.name == b.name && a.file == b.file &&
         (a.what != StackFrame::kModule || a.instance == b.instance);
}

}  // namespace

void Frames::operation(const Event& event, const OperatorFacts& op, std::int64_t end_ns, std::string_view ids) {
  Thread& thread = threads_[event.track];
  if (!ids.empty()) thread.ids = ids;
  end_ranges(thread, event.start_ns);
  take_path(op.stack);
  const std::size_t kept = common(thread);
  if (op.stack != 0) drop_unfinished(thread, kept);
  const std::size_t least = calls_around(thread);
  if (kept < least) path_.clear();
  change_calls(thread, std::max(kept, least), event.start_ns);
  const bool is_operator = event.kind == Kind::cpu_op;
  begin_range(thread, {end_ns, thread.calls.size(), is_operator, event.duration_ns < 0, is_operator && !ids.empty()});
  thread.last_ns = event.start_ns;
}

void Frames::range(TrackId track, std::int64_t start_ns, std::int64_t end_ns) {
  Thread& thread = threads_[track];
  end_ranges(thread, start_ns);
  for (Open& call : thread.calls) call.end_ns = std::min(call.end_ns, start_ns);
  begin_range(thread, {end_ns, thread.calls.size(), false, false, false});
  thread.last_ns = start_ns;
}

void Frames::finish() {
  constexpr std::int64_t kEver = std::numeric_limits<std::int64_t>::max();
  for (auto& [track, thread] : threads_) {
    end_ranges(thread, kEver);
    end_calls(thread, 0, kEver);
  }
  threads_.clear();
}

void Frames::end_ranges(Thread& thread, std::int64_t now_ns) {
  while (!thread.ranges.empty() && thread.ranges.back().end_ns <= now_ns) {
    const Range range = thread.ranges.back();
    thread.ranges.pop_back();
    end_calls(thread, range.calls, range.end_ns);
    thread.last_ns = std::max(thread.last_ns, range.end_ns);
    if (!range.holds_any) continue;
    const std::size_t count = thread.calls.size();
    for (std::size_t i = 0; i < count; ++i) {
      Open& call = thread.calls[i];
      call.holds_any = true;
      call.end_ns = std::max(call.end_ns, range.end_ns + static_cast<std::int64_t>(count - i) * kWider_ns);
    }
  }
}

// Such an operator has ended at the latest when its callers have; its end was lost.
void Frames::drop_unfinished(Thread& thread, std::size_t kept) {
  while (!thread.ranges.empty() && thread.ranges.back().is_unfinished && thread.ranges.back().calls > kept)
    thread.ranges.pop_back();
}

void Frames::end_calls(Thread& thread, std::size_t kept, std::int64_t latest_ns) {
  while (thread.calls.size() > kept) {
    Open& call = thread.calls.back();
    call.end_ns = std::min(call.end_ns, latest_ns);
    if (call.holds_any) tell(thread, thread.calls.size() - 1);
    thread.calls.pop_back();
  }
  for (Range& range : thread.ranges) range.calls = std::min(range.calls, thread.calls.size());
}

// The calls in an operator do not end its callers.
std::size_t Frames::calls_around(const Thread& thread) {
  const auto around =
      std::find_if(thread.ranges.rbegin(), thread.ranges.rend(), [](const Range& range) { return range.is_operator; });
  return around == thread.ranges.rend() ? 0 : around->calls;
}

// The calls that are kept, followed by those of the path.
void Frames::change_calls(Thread& thread, std::size_t kept, std::int64_t now_ns) {
  const std::int64_t room_ns = std::max<std::int64_t>(now_ns - thread.last_ns, 0);
  const std::int64_t begun = static_cast<std::int64_t>(std::max(path_.size(), kept) - kept);
  const std::int64_t border_ns = now_ns - std::min(begun * kWider_ns, room_ns);
  end_calls(thread, kept, border_ns);
  for (Open& call : thread.calls) call.end_ns = std::min(call.end_ns, border_ns);
  begin_calls(thread, border_ns, now_ns);
}

void Frames::begin_range(Thread& thread, Range range) {
  for (Range& around : thread.ranges) around.holds_any |= range.holds_any;
  if (!thread.ranges.empty()) range.end_ns = std::min(range.end_ns, thread.ranges.back().end_ns);
  thread.ranges.push_back(range);
}

void Frames::begin_calls(Thread& thread, std::int64_t border_ns, std::int64_t now_ns) {
  for (std::size_t i = 0; i < std::min(thread.calls.size(), path_.size()); ++i) thread.calls[i].stack = path_[i];
  for (std::size_t i = thread.calls.size(); i < path_.size(); ++i) {
    const std::int64_t start_ns = std::max(border_ns, now_ns - static_cast<std::int64_t>(path_.size() - i) * kWider_ns);
    const StackFrame& frame = catalog_.stacks[path_[i]];
    thread.calls.push_back({path_[i], ++last_id_, start_ns, now_ns, frame.line, module_id(frame), false});
  }
}

// A module is identified by its object; native frames are not written.
void Frames::take_path(StackId stack) {
  path_.clear();
  for (; stack != 0; stack = catalog_.stacks[stack].outer) {
    if (catalog_.stacks[stack].what != StackFrame::kNative) path_.push_back(stack);
  }
  std::reverse(path_.begin(), path_.end());
}

// Returns the number of calls that continue in the path: those at the same lines, and the next one at any line.
std::size_t Frames::common(const Thread& thread) const {
  const std::size_t most = std::min(thread.calls.size(), path_.size());
  std::size_t same = 0;
  while (same < most && thread.calls[same].stack == path_[same]) ++same;
  if (same < most && is_same_function(catalog_.stacks[thread.calls[same].stack], catalog_.stacks[path_[same]])) ++same;
  return same;
}

void Frames::tell(const Thread& thread, std::size_t at) {
  const Open& open = thread.calls[at];
  StackFrame frame = catalog_.stacks[open.stack];
  frame.line = open.line;
  Call call;
  name_ = frame.what == StackFrame::kModule ? fmt::format("nn.Module: {}", catalog_.strings[frame.name])
                                            : frame_text(catalog_, frame);
  if (open.module_id) name_ += fmt::format("_{}", *open.module_id);
  call.name = name_;
  call.ids = thread.ids;
  call.start_ns = open.start_ns;
  call.end_ns = open.end_ns;
  call.id = open.id;
  call.module_id = open.module_id;
  if (at > 0) call.parent_id = thread.calls[at - 1].id;
  on_call_(call);
}

// Numbers modules by their first calls, as torch.profiler does. Calls of unknown modules have no number.
std::optional<std::uint64_t> Frames::module_id(const StackFrame& frame) {
  if (frame.what != StackFrame::kModule || frame.instance == 0) return std::nullopt;
  const auto [known, is_new] = modules_.try_emplace({frame.name, frame.instance}, 0);
  if (is_new) known->second = classes_[frame.name]++;
  return known->second;
}

}  // namespace cli::kineto
