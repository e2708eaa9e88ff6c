#include "cli/formats/kineto/kineto_collectives.h"

#include <algorithm>
#include <limits>

#include "cli/formats/export/census.h"

namespace cli {
namespace {

constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::min();

bool is_whole(const Event& event) { return event.phase == 'X' && event.duration_ns >= 0; }

}  // namespace

std::string KinetoCollectives::event(const Event& event, const Facts& facts) {
  if (event.kind == Kind::nccl) {
    call(event, facts);
    return std::string();
  }
  if (event.kind == Kind::nvtx) {
    range(event, facts);
    return std::string();
  }
  if (is_api_call(event.kind) && event.correlation != 0) {
    launch(event);
    return std::string();
  }
  return event.kind == Kind::kernel ? kernel(event, facts) : std::string();
}

void KinetoCollectives::call(const Event& event, const Facts& facts) {
  Thread& thread = threads_[event.track];
  ++thread.calls;
  thread.message = is_whole(event) ? message_of_call(catalog_.strings[event.name], event, facts) : std::nullopt;
  thread.end_ns = thread.open_groups > 0 ? kNoEnd : slice_end(event, kNoEnd);
}

void KinetoCollectives::range(const Event& event, const Facts& facts) {
  const std::string_view name = catalog_.strings[event.name];
  const RangeFacts* const range = facts.get<RangeFacts>();
  if (!is_whole(event) || range == nullptr || !name.starts_with("ncclGroup")) return;
  if (catalog_.strings[range->domain] != "NCCL") return;
  Thread& thread = threads_[event.track];
  if (name == "ncclGroupStart" && thread.open_groups++ == 0) thread.calls = 0;
  if (name == "ncclGroupEnd") end_group(thread, slice_end(event, kNoEnd));
}

// An end without a start, as at the begin of a ring, knows nothing of the calls before it.
void KinetoCollectives::end_group(Thread& thread, std::int64_t end_ns) {
  const bool outermost = thread.open_groups == 1;
  if (!outermost || thread.calls != 1) thread.end_ns = kNoEnd;
  if (outermost && thread.calls == 1) thread.end_ns = end_ns;
  thread.open_groups -= thread.open_groups > 0;
}

void KinetoCollectives::launch(const Event& api) {
  const auto thread = threads_.find(api.track);
  if (thread == threads_.end() || !thread->second.message) return;
  if (slice_end(api, api.start_ns) > thread->second.end_ns) return;
  if (catalog_.strings[api.name].find("LaunchKernel") == std::string_view::npos) return;
  if (waiting_.size() == kMostWaiting) {
    waiting_.erase(order_.front());
    order_.pop_front();
  }
  if (waiting_.insert_or_assign(api.correlation, *thread->second.message).second) order_.push_back(api.correlation);
  thread->second.message.reset();
}

std::string KinetoCollectives::kernel(const Event& event, const Facts& facts) {
  const std::string_view name = catalog_.strings[event.name];
  if (!is_comm_name(name)) return {};
  const KernelFacts* const of = facts.get<KernelFacts>();
  const auto captured = of != nullptr ? message_of_graph(catalog_, of->graph.capture) : std::nullopt;
  const auto message = captured ? captured : take(event.correlation);
  return message ? kineto_members(*message, name, groups_) : std::string();
}

std::optional<KinetoMessage> KinetoCollectives::take(std::uint64_t correlation) {
  const auto found = waiting_.find(correlation);
  if (found == waiting_.end()) return {};
  const KinetoMessage message = found->second;
  waiting_.erase(found);
  order_.erase(std::find(order_.begin(), order_.end(), correlation));
  return message;
}

}  // namespace cli
