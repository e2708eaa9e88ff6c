#include "agent/translate/translate.h"

namespace agent {
namespace {

template <typename Wide>
void append_wide(Translation& out, const CUpti_ActivityAPI& call, Translation::Times times) {
  auto record = trace::make_record<Wide>();
  record.correlation = call.correlationId;
  record.start_cupti_ns = times.start;
  record.end_cupti_ns = times.end;
  record.cbid = call.cbid;
  record.tid = call.threadId;
  record.return_value = call.returnValue;
  out.append(record);
}

template <typename Narrow, typename Wide>
void translate_api(Translation& out, const CUpti_Activity* activity) {
  constexpr std::size_t kRoom = sizeof(Wide) + sizeof(trace::ApiNameRecord) + sizeof(trace::ThreadNameRecord);
  if (!out.room(Narrow::kKind, kRoom)) return;
  const auto& call = *reinterpret_cast<const CUpti_ActivityAPI*>(activity);
  out.name_api(Narrow::kKind, call.cbid);
  out.name_thread(call.threadId);
  const Translation::Times times = out.times(call.start, call.end);
  const bool fits =
      !times.are_odd() && times.end - times.start <= UINT32_MAX && call.cbid <= UINT16_MAX && call.returnValue == 0;
  if (!fits) return append_wide<Wide>(out, call, times);
  auto record = trace::make_record<Narrow>();
  record.cbid = static_cast<std::uint16_t>(call.cbid);
  record.correlation = call.correlationId;
  record.start_cupti_ns = times.start;
  record.duration_ns = static_cast<std::uint32_t>(times.end - times.start);
  record.tid = call.threadId;
  out.append(record);
}

}  // namespace

void translate_runtime(Translation& out, const CUpti_Activity* activity) noexcept {
  translate_api<trace::RuntimeRecord, trace::RuntimeWideRecord>(out, activity);
}

void translate_driver(Translation& out, const CUpti_Activity* activity) noexcept {
  translate_api<trace::DriverRecord, trace::DriverWideRecord>(out, activity);
}

}  // namespace agent
