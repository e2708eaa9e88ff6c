#include "agent/nvtx/nvtx_events.h"

#include <cstddef>
#include <cstring>

#include "agent/base/agent_settings.h"
#include "agent/base/life.h"
#include "agent/nvtx/live_ranges.h"
#include "agent/ring/recorder.h"

namespace agent {
namespace {

std::string_view domain_name(const NvtxEvent& event) {
  return event.domain != nullptr ? event.domain->name() : std::string_view();
}

// The fields shared by a push, a start and a mark. Without a payload the record is shorter by that field.
template <typename Record>
void append_named(HostWriter& writer, const NvtxEvent& event) {
  auto record = trace::make_record<Record>();
  if constexpr (requires { record.range_id; }) record.range_id = event.range_id;
  record.payload_type = event.payload_type;
  record.tid = event.tid;
  record.time_mono_ns = event.time_mono_ns;
  record.name_ref = writer.name(event.name);
  record.domain_ref = writer.name(domain_name(event));
  record.color_argb = event.color_argb;
  record.category = event.category;
  record.payload = event.payload;
  static_assert(offsetof(Record, payload) + sizeof(record.payload) == sizeof(Record));
  const std::size_t bytes = event.payload_type != 0 ? sizeof(Record) : offsetof(Record, payload);
  record.size_words = static_cast<std::uint8_t>(bytes / 8);
  writer.append(record, bytes);
}

void append_end(HostWriter& writer, const NvtxEvent& event) {
  auto record = trace::make_record<trace::NvtxEndRecord>();
  record.tid = event.tid;
  record.time_mono_ns = event.time_mono_ns;
  record.range_id = event.range_id;
  writer.append(record);
}

void append_pop(HostWriter& writer, const NvtxEvent& event) {
  auto record = trace::make_record<trace::NvtxPopRecord>();
  record.tid = event.tid;
  record.time_mono_ns = event.time_mono_ns;
  record.domain_ref = writer.name(domain_name(event));
  writer.append(record);
}

void append_event(HostWriter& writer, const NvtxEvent& event) {
  if (event.kind == trace::NvtxPushRecord::kKind) return append_named<trace::NvtxPushRecord>(writer, event);
  if (event.kind == trace::NvtxPopRecord::kKind) return append_pop(writer, event);
  if (event.kind == trace::NvtxMarkRecord::kKind) return append_named<trace::NvtxMarkRecord>(writer, event);
  if (event.kind == trace::NvtxStartRecord::kKind) return append_named<trace::NvtxStartRecord>(writer, event);
  append_end(writer, event);
}

// Writes an event now; the recording must be open.
void write_nvtx(const Guard& guard, const NvtxEvent& event) {
  HostWriter writer(guard, event.kind, sizeof(trace::NvtxStartRecord), event.name.size() + domain_name(event).size());
  if (writer) append_event(writer, event);
}

constexpr std::size_t kMost = 256;
constexpr std::size_t kNameBytes = 128;  // longer names are cut here

struct EarlyEvent {
  NvtxEvent event;
  char name[kNameBytes];
};

constinit Spinlock s_pending_lock{};
constinit EarlyEvent s_early[kMost]{};
constinit std::size_t s_early_count = 0;  // number stored so far; the last kMost of them are kept
constinit std::uint64_t s_lost[trace::kEventKinds]{};
constinit bool s_early_replayed = false;

// The oldest event is replaced: an end without its start is harmless, unlike a start without its end.
void keep(const NvtxEvent& event) {
  EarlyEvent& pending = s_early[s_early_count++ % kMost];
  if (s_early_count > kMost) ++s_lost[static_cast<std::size_t>(pending.event.kind) - trace::kFirstEventKind];
  pending.event = event;
  const std::string_view name = clipped(event.name, kNameBytes);
  count_cut_name(event.name, name);
  if (!name.empty()) std::memcpy(pending.name, name.data(), name.size());
  pending.event.name = {pending.name, name.size()};
}

}  // namespace

void nvtx_event(const Guard& guard, NvtxEvent& event) noexcept {
  event.tid = thread_id();
  event.time_mono_ns = mono_ns();
  if (event.kind == trace::NvtxPushRecord::kKind) range_opened(event.domain, event.name);
  if (event.kind == trace::NvtxPopRecord::kKind) range_closed(event.domain);
  // Ends of NCCL calls, and NCCL groups, are ranges of its domain.
  const bool is_of_nccl = event.domain != nullptr && event.domain->is_nccl;
  if (!wants(is_of_nccl ? trace::NcclCallRecord::kKind : trace::NvtxPushRecord::kKind)) return;
  if (recording() == Recording::open) return write_nvtx(guard, event);
  if (recording() != Recording::off) return;
  begin_without_gpu(guard);
  if (recording() == Recording::off) {
    const Locked locked(s_pending_lock);
    if (!s_early_replayed) return keep(event);
  }
  if (recording() == Recording::open) write_nvtx(guard, event);
}

void replay_pending_nvtx(const Guard& guard) noexcept {
  replay_pending_names(guard);
  const Locked locked(s_pending_lock);
  for (std::size_t i = s_early_count > kMost ? s_early_count - kMost : 0; i < s_early_count; ++i)
    write_nvtx(guard, s_early[i % kMost].event);
  for (std::size_t kind = 0; kind < trace::kEventKinds; ++kind) {
    if (s_lost[kind] > 0) count_lost(static_cast<trace::RecordKind>(trace::kFirstEventKind + kind), s_lost[kind]);
  }
  s_early_replayed = true;
}

void forget_pending_nvtx() noexcept {
  forget_pending_names();
  release_nvtx_texts();
  release_open_ranges();
  s_pending_lock.unlock();  // a thread of the parent may have held it
  s_early_count = 0;
  for (std::uint64_t& lost : s_lost) lost = 0;
}

}  // namespace agent
