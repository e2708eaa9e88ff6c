#include "cli/read/ring_cuda_events.h"

#include <fmt/format.h>

#include <algorithm>

namespace cli {

void RingCudaEvents::index() {
  for (const trace::CudaEventRecord& each : records_) {
    by_correlation_[each.correlation] = &each;
    if (each.event_sync_id != 0) by_sync_id_[each.event_sync_id] = &each;
    by_event_[{each.context, each.event}].push_back(&each);
  }
  const auto earlier = [](const auto* a, const auto* b) { return a->correlation < b->correlation; };
  for (auto& [event, of_event] : by_event_) std::sort(of_event.begin(), of_event.end(), earlier);
}

const trace::CudaEventRecord* RingCudaEvents::awaited(const trace::SyncRecord& wait, bool is_complete) const {
  if (!by_sync_id_.empty()) {
    const auto found = by_sync_id_.find(wait.event_sync_id);
    return found != by_sync_id_.end() && found->second->event == wait.event ? found->second : nullptr;
  }
  const auto of_event = by_event_.find({wait.context, wait.event});
  if (!is_complete || of_event == by_event_.end()) return nullptr;
  const auto& records = of_event->second;
  const auto later = std::lower_bound(records.begin(), records.end(), wait.correlation,
                                      [](const auto* a, std::uint32_t correlation) { return a->correlation < correlation; });
  // Correlations begin again at 0 after 2^32 calls: then the largest is the last before.
  const trace::CudaEventRecord* last = later != records.begin() ? later[-1] : records.back();
  return static_cast<std::int32_t>(wait.correlation - last->correlation) > 0 ? last : nullptr;
}

void RingCudaEvents::finish(bool is_complete, const Emit& emit) {
  index();
  for (const Call& each : calls_) {
    const auto found = by_correlation_.find(static_cast<std::uint32_t>(each.event.correlation));
    if (found == by_correlation_.end()) {
      emit(each.event, each.args);
      continue;
    }
    const trace::CudaEventRecord& record = *found->second;
    emit(each.event, fmt::format("{}, \"event_id\": {}, \"event_stream\": {}", each.args, record.event, record.stream));
  }
  // By Kineto's names, and -1 where it is not known, as Kineto has it.
  for (const Wait& each : waits_) {
    const trace::CudaEventRecord* record = awaited(each.wait, is_complete);
    emit(each.event, fmt::format("{}, \"wait_on_stream\": {}, \"wait_on_cuda_event_record_corr_id\": {}, "
                                 "\"wait_on_cuda_event_id\": {}",
                                 each.args, record == nullptr ? -1 : std::int64_t{record->stream},
                                 record == nullptr ? -1 : std::int64_t{record->correlation}, each.wait.event));
  }
  waits_.clear(), calls_.clear();
}

}  // namespace cli
