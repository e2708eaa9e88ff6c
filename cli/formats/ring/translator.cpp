#include "cli/formats/ring/translator.h"

#include <algorithm>
#include <array>

#include "cli/trace/event.h"
#include "common/record.h"

namespace cli::ring {

void RingCudaEvents::index() {
  for (const trace::CudaEventRecord& each : records_) {
    by_correlation_[each.correlation] = &each;
    if (each.event_sync_id != 0) by_sync_id_[each.event_sync_id] = &each;
    by_event_[{each.context, each.event}].push_back(&each);
  }
  const auto earlier = [](const auto* a, const auto* b) { return a->correlation < b->correlation; };
  for (auto& [event, of_event] : by_event_) std::sort(of_event.begin(), of_event.end(), earlier);
}

const trace::CudaEventRecord* RingCudaEvents::awaited(const Wait& wait, bool is_complete) const {
  if (!by_sync_id_.empty()) {
    const auto found = by_sync_id_.find(wait.event_sync_id);
    return found != by_sync_id_.end() && found->second->event == wait.facts.event ? found->second : nullptr;
  }
  const auto of_event = by_event_.find({wait.facts.context, wait.facts.event});
  if (!is_complete || of_event == by_event_.end()) return nullptr;
  const auto& records = of_event->second;
  const auto correlation = static_cast<std::uint32_t>(wait.event.correlation);
  const auto later = std::lower_bound(records.begin(), records.end(), correlation,
                                      [](const auto* a, std::uint32_t wanted) { return a->correlation < wanted; });
  // Correlations restart at 0 after 2^32 calls; then the largest one is the last before the wait.
  const trace::CudaEventRecord* last = later != records.begin() ? later[-1] : records.back();
  return static_cast<std::int32_t>(correlation - last->correlation) > 0 ? last : nullptr;
}

void RingCudaEvents::finish(bool is_complete, const Emit& emit) {
  index();
  for (const Call& each : calls_) {
    const auto found = by_correlation_.find(static_cast<std::uint32_t>(each.event.correlation));
    if (found == by_correlation_.end()) {
      emit(each.event, CallFacts{each.cbid, 0});
    } else {
      emit(each.event, EventRecordFacts{each.cbid, found->second->event, found->second->stream});
    }
  }
  for (Wait& each : waits_) {
    if (const trace::CudaEventRecord* record = awaited(each, is_complete)) {
      each.facts.producer_is_known = true;
      each.facts.producer_stream = record->stream;
      each.facts.producer_correlation = record->correlation;
    }
    emit(each.event, each.facts);
  }
  waits_.clear();
  calls_.clear();
}

namespace {

std::uint64_t stack_key(std::uint32_t tid, StringId domain) { return std::uint64_t{tid} << 32 | domain; }

}  // namespace

void OpenRanges::close(OpenRange& range, std::int64_t end_ns) {
  range.event.duration_ns = std::max<std::int64_t>(end_ns - range.event.start_ns, 0);
  emit_(range);
}

void OpenRanges::push(std::uint32_t tid, StringId domain, OpenRange range) {
  stacks_[stack_key(tid, domain)].push_back(std::move(range));
}

void OpenRanges::pop(std::uint32_t tid, StringId domain, std::int64_t end_ns) {
  auto& stack = stacks_[stack_key(tid, domain)];
  if (stack.empty()) {
    ++unmatched_ends_;
    return;
  }
  close(stack.back(), end_ns);
  stack.pop_back();
}

void OpenRanges::start(std::uint64_t range_id, OpenRange range) {
  const auto end = ended_ns_.find(range_id);
  if (end == ended_ns_.end()) {
    started_[range_id] = std::move(range);
    return;
  }
  close(range, end->second);
  ended_ns_.erase(end);
}

void OpenRanges::end(std::uint64_t range_id, std::int64_t end_ns) {
  const auto range = started_.find(range_id);
  if (range == started_.end()) {
    ended_ns_[range_id] = end_ns;
    return;
  }
  close(range->second, end_ns);
  started_.erase(range);
}

void OpenRanges::finish() {
  std::vector<OpenRange> open;
  for (auto& [key, stack] : stacks_) std::move(stack.begin(), stack.end(), std::back_inserter(open));
  for (auto& [id, range] : started_) open.push_back(std::move(range));
  endless_ += open.size();
  unmatched_ends_ += ended_ns_.size();
  ended_ns_.clear();
  stacks_.clear();
  started_.clear();
  std::stable_sort(open.begin(), open.end(),
                   [](const OpenRange& a, const OpenRange& b) { return a.event.start_ns < b.event.start_ns; });
  for (OpenRange& range : open) {
    range.event.duration_ns = kUnknownDuration;
    emit_(range);
  }
}

namespace {

constexpr Kind kind_named(std::string_view name) {
  for (const KindInfo& info : kKinds) {
    if (info.name == name) return info.kind;
  }
  return Kind::count_;
}

constexpr auto kEventKinds = [] {
  std::array<Kind, 256> kinds{};
  kinds.fill(Kind::count_);
  trace::for_each_record([&]<typename R>(R*) {
    if constexpr (requires { R::kCountsAs; }) {
      static_assert(kind_named(R::kCountsAs) != Kind::count_, "a record counts as a nonexistent kind of event");
      kinds[static_cast<std::size_t>(R::kKind)] = kind_named(R::kCountsAs);
    }
  });
  return kinds;
}();

}  // namespace

Kind event_kind(std::uint8_t record_kind) { return kEventKinds[record_kind]; }

}  // namespace cli::ring
