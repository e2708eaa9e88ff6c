// Instantiating, launching and destroying graphs.
#include <memory>
#include <unordered_map>

#include "attach.h"
#include "call.h"
#include "cbids.h"
#include "collective.h"
#include "executor.h"
#include "graph_objects.h"
#include "launch.h"

namespace sim {
namespace {

// Steps and nodes of the original, nodes with numbers of the clone's own.
Graph& clone(const Graph& original) {
  Graph& made = *make_graph();
  std::unordered_map<const GraphNode*, GraphNode*> clones{{nullptr, nullptr}};
  for (GraphNode* node : original.nodes) {
    clones[node] = add_node(made, node->op, node, clones[node->dependency]);
  }
  for (const GraphStep& step : original.steps) {
    made.steps.push_back({step.kind, step.branch, step.mark, clones[step.node]});
  }
  made.branches = original.branches;
  made.marks = original.marks;
  return made;
}

CUresult instantiate(CUgraphExec* handle, CUgraph graph) {
  Graph* original = find_graph(graph);
  Context* context = current_context();
  if (original == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  Graph& made = clone(*original);
  GraphExec* exec = make_exec(made);
  while (exec->streams.size() + 1 < made.branches) {
    exec->streams.push_back(make_stream(context, CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING, 0));
  }
  GraphEvent event{};
  event.graph = &made;
  event.original_graph = original;
  tell_graph(CUPTI_CBID_RESOURCE_GRAPH_CLONED, event);
  for (GraphNode* node : made.nodes) tell_clone(*node);
  event.exec = exec;
  tell_graph(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, event);
  *handle = reinterpret_cast<CUgraphExec>(exec);
  return CUDA_SUCCESS;
}

// One launch: the branches' streams, the marks between them, and what is known of the whole.
struct Replay {
  const GraphExec& exec;
  Stream& launched_in;
  std::uint32_t correlation;
  std::shared_ptr<GraphRun> run = std::make_shared<GraphRun>();
  std::vector<std::shared_ptr<Milestone>> marks{};

  Stream& stream(std::size_t branch) const { return branch == 0 ? launched_in : *exec.streams[branch - 1]; }
  void mark(OpKind kind, std::size_t branch, std::shared_ptr<Milestone> milestone) const {
    Op op;
    op.kind = kind;
    op.milestone = std::move(milestone);
    submit(stream(branch), std::move(op));
  }
  void work(const GraphStep& step) const {
    Op op = step.node->op;
    op.run = run;
    op.event.graph = exec.graph->id;
    op.event.graph_node = step.node->id;
    if (op.meeting.number != 0) op.meeting.number = next_collective(op.meeting.lane);
    enqueue(correlation, stream(step.branch), std::move(op));
  }
};

void replay(const GraphExec& exec, Stream& stream, std::uint32_t correlation) {
  Replay replay{exec, stream, correlation};
  for (std::size_t i = 0; i < exec.graph->marks; ++i) replay.marks.push_back(std::make_shared<Milestone>());
  for (const GraphStep& step : exec.graph->steps) {
    if (step.kind == OpKind::work) {
      replay.work(step);
    } else {
      replay.mark(step.kind, step.branch, replay.marks[step.mark]);
    }
  }
  for (std::size_t branch = 1; branch < exec.graph->branches; ++branch) {
    const auto over = std::make_shared<Milestone>();
    replay.mark(OpKind::record, branch, over);
    replay.mark(OpKind::wait, 0, over);
  }
  Op end;
  end.kind = OpKind::graph_end;
  end.run = replay.run;
  end.event.kind = DeviceKind::graph;
  end.event.graph = exec.graph->id;
  enqueue(correlation, stream, std::move(end));
}

}  // namespace
}  // namespace sim

using namespace sim;

SIM_EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long) {
  SIM_DRIVER_CALL(cuGraphInstantiateWithFlags);
  return call.end(instantiate(exec, graph));
}

// A graph that is launched into a capturing stream would become a node: that is not played here.
CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream) {
  const cuGraphLaunch_params seen{handle, stream};
  SIM_DRIVER_CALL(cuGraphLaunch, &seen);
  const GraphExec* exec = find_exec(handle);
  Stream* found = find_stream(stream);
  if (exec == nullptr || found == nullptr) return call.end(CUDA_ERROR_INVALID_HANDLE);
  if (is_capturing(*found)) return call.end(CUDA_ERROR_NOT_SUPPORTED);
  replay(*exec, *found, call.correlation());
  return call.end(CUDA_SUCCESS);
}

CUresult cuGraphExecDestroy(CUgraphExec handle) {
  SIM_DRIVER_CALL(cuGraphExecDestroy);
  GraphExec* exec = find_exec(handle);
  if (exec == nullptr) return call.end(CUDA_ERROR_INVALID_HANDLE);
  GraphEvent event{};
  event.graph = exec->graph;
  event.exec = exec;
  tell_graph(CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING, event);
  return call.end(CUDA_SUCCESS);
}

CUresult cuGraphDestroy(CUgraph handle) {
  SIM_DRIVER_CALL(cuGraphDestroy);
  Graph* graph = find_graph(handle);
  if (graph == nullptr) return call.end(CUDA_ERROR_INVALID_HANDLE);
  GraphEvent event{};
  event.graph = graph;
  tell_graph(CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, event);
  return call.end(CUDA_SUCCESS);
}
