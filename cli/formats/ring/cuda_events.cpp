#include "cli/formats/ring/cuda_events.h"

#include <algorithm>

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

}  // namespace cli::ring
