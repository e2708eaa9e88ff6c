#include "cli/formats/kineto/operators.h"

#include <utility>

#include "cli/trace/event_times.h"
#include "cli/trace/names.h"

namespace cli::kineto {
namespace {

bool is_numbered_range(const Event& event) {
  return is_slice(event) && (event.kind == Kind::cpu_op || event.kind == Kind::user_annotation);
}

}  // namespace

std::uint64_t ExternalIds::innermost(const Event& event) {
  const auto thread = open_.find(event.track);
  if (thread == open_.end()) return 0;
  std::erase_if(thread->second, [&](const Open& each) { return each.end_ns <= event.start_ns; });
  return thread->second.empty() ? 0 : thread->second.back().id;
}

std::uint64_t ExternalIds::of(const Event& event) {
  if (is_numbered_range(event)) {
    ++last_id_;
    if (event.kind == Kind::user_annotation) return last_id_;
    innermost(event);
    open_[event.track].push_back({slice_end(event, kLatest_ns), last_id_});
    return last_id_;
  }
  if (last_id_ == 0) return 0;  // no operators so far
  if (is_gpu_work(event.kind)) {
    const auto place = event.correlation != 0 ? calls_.find(event.correlation) : Newest<std::uint64_t>::kNone;
    return place == Newest<std::uint64_t>::kNone ? 0 : calls_[place];
  }
  if (!is_api_call(event.kind)) return 0;
  const std::uint64_t id = innermost(event);
  // Nested calls with one correlation are both in the same operator.
  if (id != 0 && event.correlation != 0) calls_.add(event.correlation, id);
  return id;
}

std::optional<Backward::Forward> Backward::forward_of(const Event& event, const Facts& facts, std::string_view ids) {
  const auto* op = facts.get<OperatorFacts>();
  if (op == nullptr || !is_slice(event) || (op->has & OperatorFacts::kSequenceNumber) == 0) return std::nullopt;
  if (is_backward(*op)) {
    const bool is_engine = catalog_.strings[event.name].starts_with("autograd::engine::evaluate_function");
    return is_engine || ids.empty() ? std::nullopt : take(*op);
  }
  if (op->thread != 0)
    forwards_.try_emplace(op->thread, kMostForwards).first->second.add(op->sequence_number, {event.start_ns, ids});
  return std::nullopt;
}

std::optional<Backward::Forward> Backward::take(const OperatorFacts& op) {
  const auto thread = forwards_.find(op.forward_thread);
  if (thread == forwards_.end()) return std::nullopt;
  const auto place = thread->second.find(op.sequence_number);
  if (place == Newest<Forward>::kNone) return std::nullopt;
  const Forward forward = std::exchange(thread->second[place], {});
  return forward.ids.empty() ? std::nullopt : std::optional(forward);
}

}  // namespace cli::kineto
