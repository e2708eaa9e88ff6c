// Translates records of waiting time: synchronizations of the host and of streams, the CUDA events that they wait for,
// and overhead of CUPTI and the driver.
#include "agent/translate/gpu_work.h"
#include "agent/translate/translate.h"

namespace agent {
namespace {

// The meaning depends on the kind of object: a process and its thread, or a device, its context, its stream.
void set_object(trace::OverheadRecord& record, const CUpti_ActivityOverhead& overhead) {
  const auto& id = overhead.objectId;
  const CUpti_ActivityObjectKind kind = overhead.objectKind;
  const bool is_stream = kind == CUPTI_ACTIVITY_OBJECT_STREAM;
  const bool is_context = is_stream || kind == CUPTI_ACTIVITY_OBJECT_CONTEXT;
  record.object = static_cast<std::uint16_t>(kind);
  if (kind == CUPTI_ACTIVITY_OBJECT_PROCESS) record.tid = id.pt.processId;  // the tid of its first thread
  if (kind == CUPTI_ACTIVITY_OBJECT_THREAD) record.tid = id.pt.threadId;
  if (is_stream) record.stream = id.dcs.streamId;
  if (is_context) record.context = id.dcs.contextId;
  if (is_context || kind == CUPTI_ACTIVITY_OBJECT_DEVICE) record.device = id.dcs.deviceId;
}

// The value for a synchronization that is not with an event, in 32 bits or in 64.
std::uint64_t known_sync_id(std::uint64_t id) {
  constexpr std::uint64_t kNone = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  return id == kNone || id == ~std::uint64_t{0} ? 0 : id;
}

}  // namespace

void translate_sync(Translation& out, const CUpti_Activity* activity) noexcept {
  if (!out.room(trace::SyncRecord::kKind, sizeof(trace::SyncRecord))) return;
  const auto& wait = *reinterpret_cast<const CUpti_ActivitySynchronization*>(activity);
  auto record = trace::make_record<trace::SyncRecord>();
  record.type = static_cast<std::uint8_t>(wait.type);
  copy_members(record, wait);
  out.set_times(record, wait);
  record.event = wait.cudaEventId;
  record.return_value = late_field(activity, kSyncResult);
  record.event_sync_id = known_sync_id(late_field(activity, kSyncOfEvent));
  out.append(record);
}

void translate_cuda_event(Translation& out, const CUpti_Activity* activity) noexcept {
  if (!out.room(trace::CudaEventRecord::kKind, sizeof(trace::CudaEventRecord))) return;
  const auto& event = *reinterpret_cast<const CUpti_ActivityCudaEvent*>(activity);
  auto record = trace::make_record<trace::CudaEventRecord>();
  copy_members(record, event);
  record.event = event.eventId;
  record.event_sync_id = known_sync_id(late_field(activity, kEventSync));
  out.append(record);
}

void translate_overhead(Translation& out, const CUpti_Activity* activity) noexcept {
  constexpr std::size_t kRoom = sizeof(trace::OverheadRecord) + sizeof(trace::ThreadNameRecord);
  if (!out.room(trace::OverheadRecord::kKind, kRoom)) return;
  const auto& overhead = *reinterpret_cast<const CUpti_ActivityOverhead*>(activity);
  auto record = trace::make_record<trace::OverheadRecord>();
  record.overhead = static_cast<std::uint32_t>(overhead.overheadKind);
  out.set_times(record, overhead);
  record.correlation = late_field(activity, kOverheadCorrelation);
  set_object(record, overhead);
  if (record.tid != 0) out.name_thread(record.tid);
  out.append(record);
}

}  // namespace agent
