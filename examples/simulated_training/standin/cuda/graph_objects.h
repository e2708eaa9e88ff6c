// The insides of graphs, shared by graph.cpp (capture) and graph_exec.cpp (instantiation and launch). None is ever
// freed.
#pragma once
#include <vector>

#include "graph.h"

namespace sim {

struct Graph;

struct GraphNode {
  Graph* graph;
  std::uint64_t id;
  GraphNode* original;  // null: the captured one
  GraphNode* dependency;
  std::uint32_t type;  // CUgraphNodeType
  Op op;               // without what a launch adds
};

// One thing that a branch does, in the order of the capture.
struct GraphStep {
  OpKind kind;
  std::size_t branch;
  std::size_t mark;  // of record and wait
  GraphNode* node;   // of work
};

struct Graph {
  std::uint32_t id;
  std::vector<GraphNode*> nodes;
  std::vector<GraphStep> steps;
  std::size_t branches = 1, marks = 0;
};

struct GraphExec {
  Graph* graph;                  // the clone; its id is the executable graph's
  std::vector<Stream*> streams;  // of the branches from the second on
};

struct Capture {
  Graph* graph;
  Stream* origin;
  std::vector<Stream*> streams;  // by branch
  std::vector<GraphNode*> last;  // by branch
  bool ended = false;
};

Graph* make_graph();
// With the next id of the graph.
GraphNode* add_node(Graph& graph, const Op& op, GraphNode* original, GraphNode* dependency);
// Truth and callback of a clone.
void tell_clone(GraphNode& node);
Graph* find_graph(const void* handle);
GraphExec* make_exec(Graph& clone);
GraphExec* find_exec(const void* handle);

}  // namespace sim
