#include "agent/cupti/queries.h"

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "agent/base/agent_settings.h"
#include "agent/cupti/cupti_library.h"

namespace agent {
namespace {

// More than the calls that one buffer holds.
constexpr std::size_t kQuerySlots = 1u << 14;

constinit std::atomic<bool> s_find{false};
constinit std::uint32_t s_queries[kQuerySlots]{};  // correlation ids, each in the slot of its last bits

}  // namespace

void leave_out_queries() noexcept {
  if (!wants(trace::SyncRecord::kKind)) return;
  const auto all = cupti().enable_all_sync_records;
  s_find.store(all == nullptr || all(0) != CUPTI_SUCCESS);
}

void leave_in_queries() noexcept {
  if (wants(trace::SyncRecord::kKind) && cupti().enable_all_sync_records != nullptr) cupti().enable_all_sync_records(1);
}

bool has_to_find_queries() noexcept { return s_find.load(std::memory_order_relaxed); }

bool is_query_call(CUpti_ActivityKind kind, CUpti_CallbackId id) noexcept {
  if (kind == CUPTI_ACTIVITY_KIND_DRIVER) {
    return id == CUPTI_DRIVER_TRACE_CBID_cuEventQuery || id == CUPTI_DRIVER_TRACE_CBID_cuStreamQuery ||
           id == CUPTI_DRIVER_TRACE_CBID_cuStreamQuery_ptsz;
  }
  return kind == CUPTI_ACTIVITY_KIND_RUNTIME &&
         (id == CUPTI_RUNTIME_TRACE_CBID_cudaEventQuery_v3020 || id == CUPTI_RUNTIME_TRACE_CBID_cudaStreamQuery_v3020 ||
          id == CUPTI_RUNTIME_TRACE_CBID_cudaStreamQuery_ptsz_v7000);
}

void find_query(const CUpti_Activity* activity) noexcept {
  if (activity->kind != CUPTI_ACTIVITY_KIND_DRIVER && activity->kind != CUPTI_ACTIVITY_KIND_RUNTIME) return;
  const auto& call = *reinterpret_cast<const CUpti_ActivityAPI*>(activity);
  if (is_query_call(activity->kind, call.cbid)) s_queries[call.correlationId % kQuerySlots] = call.correlationId;
}

bool is_query_wait(const CUpti_Activity* activity) noexcept {
  if (activity->kind != CUPTI_ACTIVITY_KIND_SYNCHRONIZATION || !has_to_find_queries()) return false;
  const std::uint32_t id = reinterpret_cast<const CUpti_ActivitySynchronization*>(activity)->correlationId;
  return id != 0 && s_queries[id % kQuerySlots] == id;
}

}  // namespace agent
