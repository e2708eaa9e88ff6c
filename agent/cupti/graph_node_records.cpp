#include "agent/cupti/graph_node_records.h"

#include <atomic>
#include <cstddef>
#include <cstring>

#include "agent/clocks/clocks.h"
#include "agent/ring/recorder.h"

namespace agent {
namespace {

constexpr std::size_t kCloneBytes = offsetof(trace::GraphNodeRecord, range_ref);
constexpr std::size_t kNames = 256;
constexpr std::uint64_t kMostWaitNs = 200'000'000;

// Names that the region has for nodes, by hash. Used under the interner's lock.
struct RegionName {
  std::uint64_t hash;
  std::uint32_t ref;
};
constinit RegionName s_names[kNames]{};
constinit std::atomic<std::uint64_t> s_waited_ns{0};  // for that lock, by all threads

std::size_t keep_free() { return ring().header->definitions_bytes / 4; }

bool is_in_region(const RegionName& known, std::string_view text) {
  trace::StringRecord head;
  const std::byte* at = ring().definitions() + trace::ref_offset(known.ref);
  std::memcpy(&head, at, sizeof(head));
  return std::string_view{reinterpret_cast<const char*>(at) + sizeof(head), head.length} == text;
}

// kNoRef: the region is full, or there is no text.
std::uint32_t region_name(std::string_view text) {
  if (text.empty()) return trace::kNoRef;
  const std::uint64_t hash = hash_bytes(text.data(), text.size(), 3);
  RegionName& known = s_names[hash % kNames];
  if (known.hash == hash && is_in_region(known, text)) return known.ref;
  const std::uint32_t ref = define_string(ring(), keep_free(), text);
  if (ref != trace::kNoRef) known = {hash, ref};
  return ref;
}

trace::GraphNodeRecord describe_clone(std::uint64_t node, std::uint64_t original) {
  auto record = trace::make_record<trace::GraphNodeRecord>();
  record.size_words = kCloneBytes / 8;
  record.node = node;
  record.captured_node = original;
  return record;
}

// Gives the record its names. False: one has no slot.
template <typename Name>
bool set_names(trace::GraphNodeRecord& record, const OpenRange& open, const Name& name) {
  const std::string_view call = open.nccl_calls > 0 ? open.nccl.name : std::string_view();
  record.range_ref = name(open.name);
  record.domain_ref = name(open.domain);
  record.nccl_name_ref = name(call);
  const auto has_ref = [](std::string_view text, std::uint32_t ref) { return text.empty() || ref != trace::kNoRef; };
  return has_ref(open.name, record.range_ref) && has_ref(open.domain, record.domain_ref) &&
         has_ref(call, record.nccl_name_ref);
}

// The holder may have lost its processor, and what goes into the block instead is overwritten in time. All captures of a
// process together wait kMostWaitNs at most.
bool lock_region() {
  if (interner().lock().try_lock()) return true;
  const std::uint64_t begin_ns = mono_ns(), before_ns = s_waited_ns.load(std::memory_order_relaxed);
  bool locked = false;
  std::uint64_t waited_ns = 0;
  while (!locked && before_ns + waited_ns < kMostWaitNs) {
    sched_yield();
    locked = interner().lock().try_lock();
    waited_ns = mono_ns() - begin_ns;
  }
  s_waited_ns.fetch_add(waited_ns, std::memory_order_relaxed);
  return locked;
}

template <typename Write>
bool in_region(const Write& write) {
  if (!lock_region()) return false;
  const bool written = write();
  interner().lock().unlock();
  return written;
}

bool append_to_region(const trace::GraphNodeRecord& record) {
  return trace::append_definition(ring(), keep_free(), &record, record.size_words * 8u) != trace::kNoRef;
}

}  // namespace

trace::GraphNodeRecord describe_captured(std::uint64_t node, const OpenRange& open) noexcept {
  auto record = trace::make_record<trace::GraphNodeRecord>();
  record.node = node;
  record.tid = thread_id();
  if (open.nccl_calls == 0) return record;
  record.nccl_class = open.nccl.nccl_class;
  record.has = open.nccl.has;
  if (open.nccl_calls > 1) record.has |= trace::kHasFirstOf;
  record.epoch = open.nccl.epoch;
  record.reduction_op = open.nccl.reduction_op;
  record.communicator = open.nccl.communicator;
  record.bytes = open.nccl.bytes;
  record.ordinal = open.nccl.ordinal;
  record.peer = open.nccl.peer;
  return record;
}

void write_captured_node(const Guard& guard, std::uint64_t node, const OpenRange& open) noexcept {
  trace::GraphNodeRecord record = describe_captured(node, open);
  if (in_region([&] { return set_names(record, open, region_name) && append_to_region(record); })) return;
  const std::size_t room = sizeof(record) + string_room(open.nccl.name.size());
  HostWriter writer(guard, trace::GraphNodeRecord::kKind, room, open.name.size() + open.domain.size());
  if (!writer) return;
  set_names(record, open, [&](std::string_view text) { return writer.name(text); });
  writer.append(record);
}

void write_cloned_node(const Guard& guard, std::uint64_t node, std::uint64_t original) noexcept {
  const trace::GraphNodeRecord record = describe_clone(node, original);
  if (in_region([&] { return append_to_region(record); })) return;
  HostWriter writer(guard, trace::GraphNodeRecord::kKind, kCloneBytes, 0);
  if (writer) writer.append(record, kCloneBytes);
}

}  // namespace agent
