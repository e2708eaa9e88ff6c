#include "agent/cupti/graph_nodes.h"

#include <atomic>

#include "agent/base/chosen_events.h"
#include "agent/base/message.h"
#include "agent/cupti/captured_nodes.h"
#include "agent/cupti/cupti_library.h"
#include "agent/cupti/graph_node_records.h"
#include "agent/nvtx/live_ranges.h"
#include "agent/ring/notice.h"

namespace agent {
namespace {

constinit std::atomic<bool> s_enabled{false};
constinit std::atomic<bool> s_seen{false};     // any node, with or without a range
constinit std::atomic<bool> s_unknown{false};  // a kernel of a graph before any node

// False: CUPTI does not tell the number, and is not asked again.
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
  write_captured_node(guard, node, open);
}

void on_cloned(const Guard& guard, const CUpti_GraphData& graph) {
  std::uint64_t node, original;
  if (graph.originalNode == nullptr || !any_captured() || !number_of(graph.originalNode, original)) return;
  if (!may_be_captured(original) || !number_of(graph.node, node)) return;
  remember_captured(node);
  write_cloned_node(guard, node, original);
}

bool is_work(CUgraphNodeType type) {
  return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY || type == CU_GRAPH_NODE_TYPE_MEMSET;
}

constexpr CUpti_CallbackId kCallbacks[] = {CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED};

}  // namespace

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
  if (recording() != Recording::open || !is_work(graph->nodeType)) return;
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
  const std::uint64_t now_ns = mono_ns();
  write_notice(guard, trace::NoticeCode::graphs_unknown, 0, now_ns, now_ns,
               "CUDA graphs were captured before the agent subscribed to CUPTI: their kernels have no NVTX ranges");
}

}  // namespace agent
