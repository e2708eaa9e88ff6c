#include "graph_objects.h"

#include <atomic>
#include <unordered_set>

#include "exports.h"

namespace sim {
namespace {

struct Graphs {
  std::mutex mutex;
  std::unordered_set<const void*> graphs, nodes, execs;
};

Graphs& graphs() {
  static auto* const made = new Graphs;
  return *made;
}

template <typename Object>
Object* find_in(const std::unordered_set<const void*>& known, const void* handle) {
  const std::lock_guard lock(graphs().mutex);
  return known.count(handle) != 0 ? static_cast<Object*>(const_cast<void*>(handle)) : nullptr;
}

template <typename Object>
Object* keep(std::unordered_set<const void*>& known, Object* made) {
  const std::lock_guard lock(graphs().mutex);
  known.insert(made);
  return made;
}

std::uint32_t type_of(const Op& op) {
  if (op.event.kind == DeviceKind::kernel) return CU_GRAPH_NODE_TYPE_KERNEL;
  return op.event.kind == DeviceKind::memset ? CU_GRAPH_NODE_TYPE_MEMSET : CU_GRAPH_NODE_TYPE_MEMCPY;
}

}  // namespace

Graph* make_graph() {
  static std::atomic<std::uint32_t> s_next{0};
  auto* graph = new Graph{};
  graph->id = ++s_next;
  return keep(graphs().graphs, graph);
}

GraphNode* add_node(Graph& graph, const Op& op, GraphNode* original, GraphNode* dependency) {
  const std::uint64_t id = std::uint64_t{graph.id} << 32 | (graph.nodes.size() + 1);
  graph.nodes.push_back(new GraphNode{&graph, id, original, dependency, type_of(op), op});
  return keep(graphs().nodes, graph.nodes.back());
}

Graph* find_graph(const void* handle) { return find_in<Graph>(graphs().graphs, handle); }

GraphExec* make_exec(Graph& clone) { return keep(graphs().execs, new GraphExec{&clone, {}}); }
GraphExec* find_exec(const void* handle) { return find_in<GraphExec>(graphs().execs, handle); }

bool graph_id(void* handle, std::uint32_t& id) {
  const Graph* graph = find_graph(handle);
  if (graph != nullptr) id = graph->id;
  return graph != nullptr;
}

bool graph_exec_id(void* handle, std::uint32_t& id) {
  const GraphExec* exec = find_exec(handle);
  if (exec != nullptr) id = exec->graph->id;
  return exec != nullptr;
}

bool graph_node_id(void* handle, std::uint64_t& id) {
  const auto* node = find_in<GraphNode>(graphs().nodes, handle);
  if (node != nullptr) id = node->id;
  return node != nullptr;
}

}  // namespace sim
