#include "cli/read/ring_host_events.h"

#include <fmt/format.h>

#include "cli/read/ring_words.h"

namespace cli {

template <typename Record>
void RingHostEvents::call(Kind kind, trace::RecordKind domain, const Record& record, std::uint64_t end_cupti_ns,
                          std::uint32_t return_value) {
  if (!out_.has_time(record.start_cupti_ns)) return;
  Event event;
  event.kind = kind;
  event.track = out_.thread_track(record.tid);
  event.name = out_.names.api_name(domain, record.cbid);
  event.start_ns = out_.axis.from_cupti(record.start_cupti_ns);
  event.duration_ns = RingOutput::duration(record.start_cupti_ns, end_cupti_ns);
  event.correlation = record.correlation;
  std::string& args = call_args_[record.cbid];
  if (args.empty()) args = fmt::format("\"cbid\": {}", record.cbid);
  if (return_value == 0 && kind == Kind::runtime && out_.cuda_events.is_record_call(out_.catalog.strings[event.name])) {
    return out_.cuda_events.hold_call(event, args);
  }
  if (return_value == 0) return out_.emit(event, args);
  out_.emit(event, fmt::format("{}, \"return value\": {}", args, return_value));
}

void RingHostEvents::translate(const trace::RuntimeRecord& record, std::size_t) {
  call(Kind::runtime, trace::RecordKind::runtime, record, record.start_cupti_ns + record.duration_ns, 0);
}

void RingHostEvents::translate(const trace::DriverRecord& record, std::size_t) {
  call(Kind::driver, trace::RecordKind::driver, record, record.start_cupti_ns + record.duration_ns, 0);
}

void RingHostEvents::translate(const trace::RuntimeWideRecord& record, std::size_t) {
  call(Kind::runtime, trace::RecordKind::runtime, record, record.end_cupti_ns, record.return_value);
}

void RingHostEvents::translate(const trace::DriverWideRecord& record, std::size_t) {
  call(Kind::driver, trace::RecordKind::driver, record, record.end_cupti_ns, record.return_value);
}

template <typename Record>
OpenRange RingHostEvents::host_range(const Record& record, std::size_t at) {
  OpenRange range;
  range.event.kind = Kind::nvtx;
  range.event.track = out_.thread_track(record.tid);
  range.event.name = out_.names.string(record.name_ref, at);
  range.event.start_ns = out_.axis.from_mono(record.time_mono_ns);
  if (record.domain_ref != trace::kNoRef) {
    add_member(range.args, "domain", json_quoted(out_.catalog.strings[out_.names.string(record.domain_ref, at)]));
  }
  return range;
}

template <typename Record>
OpenRange RingHostEvents::nvtx_range(const Record& record, std::size_t at) {
  OpenRange range = host_range(record, at);
  if (record.category != 0) {
    add_member(range.args, "category", fmt::format("{}", record.category));
    const StringId name = out_.definitions.category(out_.names.string(record.domain_ref, at), record.category);
    if (name != 0) add_member(range.args, "category name", json_quoted(out_.catalog.strings[name]));
  }
  if (record.color_argb != 0) add_member(range.args, "color", fmt::format("\"#{:08x}\"", record.color_argb));
  add_payload(range.args, record.payload_type, record.payload);
  return range;
}

void RingHostEvents::translate(const trace::NvtxPushRecord& record, std::size_t at) {
  ranges_.push(record.tid, out_.names.string(record.domain_ref, at), nvtx_range(record, at));
}

void RingHostEvents::translate(const trace::NvtxPopRecord& record, std::size_t at) {
  ranges_.pop(record.tid, out_.names.string(record.domain_ref, at), out_.axis.from_mono(record.time_mono_ns));
}

void RingHostEvents::translate(const trace::NvtxStartRecord& record, std::size_t at) {
  ranges_.start(record.range_id, nvtx_range(record, at));
}

void RingHostEvents::translate(const trace::NvtxEndRecord& record, std::size_t) {
  ranges_.end(record.range_id, out_.axis.from_mono(record.time_mono_ns));
}

void RingHostEvents::translate(const trace::NvtxMarkRecord& record, std::size_t at) {
  OpenRange mark = nvtx_range(record, at);
  mark.event.phase = 'i';
  out_.emit(mark.event, mark.args);
}

void RingHostEvents::translate(const trace::NcclCallRecord& record, std::size_t at) {
  OpenRange range = host_range(record, at);
  range.event.kind = Kind::nccl;
  range.event.has_bytes = (record.has & 2) != 0;
  range.event.bytes = record.bytes;
  range.args = "\"domain\": \"NCCL\"";
  add_nccl(range.args, record);
  ranges_.push(record.tid, out_.names.string(record.domain_ref, at), std::move(range));
}

}  // namespace cli
