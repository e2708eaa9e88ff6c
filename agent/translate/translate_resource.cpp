#include "agent/translate/translate.h"

namespace agent {

void translate_context(Translation& out, const CUpti_Activity* activity) noexcept {
  const auto& context = *reinterpret_cast<const CUpti_ActivityContext*>(activity);
  auto record = trace::make_record<trace::ContextRecord>();
  record.context = context.contextId;
  record.device = context.deviceId;
  record.null_stream = context.nullStreamId;
  out.define_context(record);
}

void translate_stream(Translation& out, const CUpti_Activity* activity) noexcept {
  const auto& stream = *reinterpret_cast<const CUpti_ActivityStream*>(activity);
  auto record = trace::make_record<trace::StreamRecord>();
  record.context = stream.contextId;
  record.stream = stream.streamId;
  record.priority = static_cast<std::int32_t>(stream.priority);
  record.flag = static_cast<std::uint16_t>(stream.flag);
  out.define_stream(record);
}

}  // namespace agent
