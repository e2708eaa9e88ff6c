// Nodes of CUDA graphs. When a node is captured, the open NVTX range and NCCL call of the thread are recorded under the
// node's number, because its launches come later and from another place. Instantiating a graph creates clones with
// their own numbers, which are linked to the captured nodes. Nodes captured without an open range or call need no
// record.
//
// In a group of NCCL calls, which one kernel may execute together, the first call is recorded.
#pragma once
#include <cupti.h>

#include <cstdint>

#include "agent/nvtx/live_ranges.h"
#include "common/record.h"

namespace agent {

// The nodes of CUDA graphs that have a record, so that only their clones get one. Lock-free and of fixed size; when it
// is full, may_be_captured() is true for every node.
void remember_captured(std::uint64_t node) noexcept;
// Returns true for every node that was remembered, and possibly for others.
bool may_be_captured(std::uint64_t node) noexcept;
bool any_captured() noexcept;

// Nodes are recorded in the definitions region, a quarter of which is kept free for other definitions, so that they
// outlive the ring. If there is no space, they are recorded in the thread's block, which is overwritten later.

// Returns the record without names, which depend on their block.
trace::GraphNodeRecord describe_captured(std::uint64_t node, const OpenRange& open) noexcept;

// Enables the callbacks if TRACETOOL_EVENTS requests them. Refusals by CUPTI are reported with TRACETOOL_VERBOSE=1 and
// ignored.
void enable_graph_callbacks(CUpti_SubscriberHandle subscriber) noexcept;
// Handles CUPTI's resource callbacks; ignores those that are not about graph nodes. On the application's thread.
void on_graph_callback(CUpti_CallbackId id, const CUpti_ResourceData& resource) noexcept;

// Called when a kernel of a graph is translated, to detect graphs that were captured before the agent was active.
void note_graph_kernel() noexcept;
// Records once that such graphs exist. A periodic task of our own thread.
void tell_unknown_graphs() noexcept;

}  // namespace agent
