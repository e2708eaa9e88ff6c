#include "agent/ring/notice.h"

namespace agent {

void write_notice(const Guard& guard, trace::NoticeCode code, std::uint32_t value, std::uint64_t start_mono_ns,
                  std::uint64_t end_mono_ns, std::string_view text) noexcept {
  if (recording() != Recording::open) return;
  auto record = trace::make_record<trace::NoticeRecord>();
  record.code = static_cast<std::uint8_t>(code);
  record.value = value;
  record.start_mono_ns = start_mono_ns;
  record.end_mono_ns = end_mono_ns;
  HostWriter writer(guard, trace::NoticeRecord::kKind, sizeof(record), text.size());
  if (!writer) return;
  record.text_ref = writer.name(text);
  writer.append(record);
}

}  // namespace agent
