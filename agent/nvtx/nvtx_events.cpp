#include "agent/nvtx/nvtx_events.h"

#include "agent/agent.h"
#include "agent/cupti/cupti_source.h"
#include "agent/nvtx/nvtx_pending.h"
#include "agent/ring/recorder.h"

namespace agent {
namespace {

std::string_view domain_name(const NvtxEvent& event) {
  return event.domain != nullptr ? event.domain->name() : std::string_view();
}

// The fields that a push, a start and a mark share.
template <typename Record>
Record named(HostWriter& writer, const NvtxEvent& event) {
  auto record = trace::make_record<Record>();
  record.tid = event.tid;
  record.time_mono_ns = event.time_mono_ns;
  record.name_ref = writer.name(event.name);
  record.domain_ref = writer.name(domain_name(event));
  record.color_argb = event.color_argb;
  record.category = event.category;
  return record;
}

void append_event(HostWriter& writer, const NvtxEvent& event) {
  switch (event.kind) {
    case trace::RecordKind::nvtx_push:
      return writer.append(named<trace::NvtxPushRecord>(writer, event));
    case trace::RecordKind::nvtx_mark:
      return writer.append(named<trace::NvtxMarkRecord>(writer, event));
    case trace::RecordKind::nvtx_start: {
      auto record = named<trace::NvtxStartRecord>(writer, event);
      record.range_id = event.range_id;
      return writer.append(record);
    }
    case trace::RecordKind::nvtx_end: {
      auto record = trace::make_record<trace::NvtxEndRecord>();
      record.tid = event.tid;
      record.time_mono_ns = event.time_mono_ns;
      record.range_id = event.range_id;
      return writer.append(record);
    }
    default: {
      auto record = trace::make_record<trace::NvtxPopRecord>();
      record.tid = event.tid;
      record.time_mono_ns = event.time_mono_ns;
      record.domain_ref = writer.name(domain_name(event));
      return writer.append(record);
    }
  }
}

}  // namespace

void write_nvtx(const Guard& guard, const NvtxEvent& event) noexcept {
  HostWriter writer(guard, event.kind, sizeof(trace::NvtxStartRecord), event.name.size() + domain_name(event).size());
  if (writer) append_event(writer, event);
}

void nvtx_event(const Guard& guard, NvtxEvent event) noexcept {
  event.tid = thread_id();
  event.time_mono_ns = mono_ns();
  if (recording() == Recording::off && cupti_failed()) begin_recording(guard);
  if (recording() == Recording::off && keep_pending_nvtx(event)) return;
  if (recording() == Recording::open) write_nvtx(guard, event);
}

}  // namespace agent
