#include "agent/cupti/graph_nodes.h"

#include <atomic>
#include <cstddef>

#include "agent/base/agent_settings.h"
#include "agent/base/message.h"
#include "agent/clocks/clocks.h"
#include "agent/cupti/cupti_library.h"
#include "agent/ring/recorder.h"
#include "common/hash.h"

namespace agent {
namespace {

constexpr std::size_t kSlots = 1u << 16;
constexpr std::size_t kProbes = 16;

constinit std::atomic<std::uint64_t> s_slots[kSlots]{};  // number + 1; 0 if free
constinit std::atomic<bool> s_any{false};
constinit std::atomic<bool> s_full{false};

std::size_t first_slot(std::uint64_t node) { return trace::spread(node) >> 48; }

// Finds the slot of the node, or a free one, which it takes if `take`. Returns false if neither is near.
bool find(std::uint64_t node, bool take) {
  for (std::size_t i = 0; i < kProbes; ++i) {
    std::atomic<std::uint64_t>& slot = s_slots[(first_slot(node) + i) % kSlots];
    std::uint64_t found = slot.load(std::memory_order_relaxed);
    if (found == 0 && !take) return false;
    if (found == node + 1 || (found == 0 && slot.compare_exchange_strong(found, node + 1))) return true;
    if (found == node + 1) return true;  // another thread was faster
  }
  return false;
}

constexpr std::size_t kCloneBytes = offsetof(trace::GraphNodeRecord, range_ref);
constexpr std::size_t kNames = 256;
constexpr std::uint64_t kMostWaitNs = 200'000'000;

// References in the region to names of nodes, by hash. Used under the interner's lock.
struct RegionName {
  std::uint64_t hash;
  std::uint32_t ref;
};
constinit RegionName s_names[kNames]{};
constinit std::atomic<std::uint64_t> s_waited_ns{0};  // for that lock, over all threads

std::size_t keep_free() { return ring().header->definitions_bytes / 4; }

// Returns kNoRef if the region is full or there is no text.
std::uint32_t region_name(std::string_view text) {
  if (text.empty()) return trace::kNoRef;
  const std::uint64_t hash = trace::hash_bytes(text.data(), text.size(), 3);
  RegionName& known = s_names[hash % kNames];
  if (known.hash == hash && text_at(ring().definitions() + trace::ref_offset(known.ref)) == text) return known.ref;
  const std::uint32_t ref = define_string(ring(), keep_free(), text);
  if (ref != trace::kNoRef) known = {hash, ref};
  return ref;
}

// Sets the names in the record. Returns false if one has no space.
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

// The owner may be preempted, and a record in the block would be overwritten later. All captures of a process together
// wait at most kMostWaitNs.
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

constinit std::atomic<bool> s_enabled{false};
constinit std::atomic<bool> s_seen{false};     // any node, with or without a range
constinit std::atomic<bool> s_unknown{false};  // a kernel of a graph before any node

// Returns false if CUPTI does not report the number; it is not queried again then.
bool number_of(CUgraphNode node, std::uint64_t& number) {
  const CUptiResult result = cupti().get_graph_node_id(node, &number);
  if (result == CUPTI_SUCCESS) return true;
  if (s_enabled.exchange(false)) {
    say("CUPTI: cuptiGetGraphNodeId failed with %s: kernels of CUDA graphs have no NVTX ranges",
        cupti_result_name(result));
  }
  return false;
}

void on_created(const Guard& guard, const CUpti_GraphData& graph) {
  OpenRange open;
  std::uint64_t node;
  if (!current_range(open) || !number_of(graph.node, node)) return;
  remember_captured(node);
  // Waits for a lock, but not long; then it writes to the block.
  trace::GraphNodeRecord record = describe_captured(node, open);
  if (in_region([&] { return set_names(record, open, region_name) && append_to_region(record); })) return;
  const std::size_t room = sizeof(record) + string_room(open.nccl.name.size());
  HostWriter writer(guard, trace::GraphNodeRecord::kKind, room, open.name.size() + open.domain.size());
  if (!writer) return;
  set_names(record, open, [&](std::string_view text) { return writer.name(text); });
  writer.append(record);
}

void on_cloned(const Guard& guard, const CUpti_GraphData& graph) {
  std::uint64_t node, original;
  if (graph.originalNode == nullptr || !any_captured() || !number_of(graph.originalNode, original)) return;
  if (!may_be_captured(original) || !number_of(graph.node, node)) return;
  remember_captured(node);
  auto record = trace::make_record<trace::GraphNodeRecord>();
  record.size_words = kCloneBytes / 8;
  record.node = node;
  record.captured_node = original;
  if (in_region([&] { return append_to_region(record); })) return;
  HostWriter writer(guard, trace::GraphNodeRecord::kKind, kCloneBytes, 0);
  if (writer) writer.append(record, kCloneBytes);
}

constexpr CUpti_CallbackId kCallbacks[] = {CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED};

}  // namespace

void remember_captured(std::uint64_t node) noexcept {
  s_any.store(true, std::memory_order_relaxed);
  if (!find(node, true)) s_full.store(true, std::memory_order_relaxed);
}

bool may_be_captured(std::uint64_t node) noexcept {
  return s_full.load(std::memory_order_relaxed) || find(node, false);
}

bool any_captured() noexcept { return s_any.load(std::memory_order_relaxed); }

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

void enable_graph_callbacks(CUpti_SubscriberHandle subscriber) noexcept {
  if (!wants(trace::GraphNodeRecord::kKind) || cupti().get_graph_node_id == nullptr) return;
  bool all = true;
  for (const CUpti_CallbackId id : kCallbacks)
    all &= cupti().enable_callback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, id) == CUPTI_SUCCESS;
  s_enabled.store(all);
  if (!all) say_verbose("CUPTI does not report graph nodes: kernels of CUDA graphs have no NVTX ranges");
}

void on_graph_callback(CUpti_CallbackId id, const CUpti_ResourceData& resource) noexcept {
  if (id != kCallbacks[0] && id != kCallbacks[1]) return;
  const Guard guard;
  const auto* graph = static_cast<const CUpti_GraphData*>(resource.resourceDescriptor);
  if (!guard || graph == nullptr || !s_enabled.load(std::memory_order_relaxed)) return;
  s_seen.store(true, std::memory_order_relaxed);
  const CUgraphNodeType type = graph->nodeType;
  const bool is_work =
      type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY || type == CU_GRAPH_NODE_TYPE_MEMSET;
  if (recording() != Recording::open || !is_work) return;
  id == kCallbacks[0] ? on_created(guard, *graph) : on_cloned(guard, *graph);
}

void note_graph_kernel() noexcept {
  if (s_seen.load(std::memory_order_relaxed) || !s_enabled.load(std::memory_order_relaxed)) return;
  s_unknown.store(true, std::memory_order_relaxed);
}

void tell_unknown_graphs() noexcept {
  static constinit bool s_told = false;
  if (s_told || !s_unknown.load(std::memory_order_relaxed)) return;
  const Guard guard;
  if (!guard) return;
  s_told = true;
  write_notice(guard, trace::NoticeCode::graphs_unknown, 0,
               "CUDA graphs were captured before the agent subscribed to CUPTI: their kernels have no NVTX ranges");
}

}  // namespace agent
