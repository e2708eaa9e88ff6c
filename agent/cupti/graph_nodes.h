// Nodes of CUDA graphs: when one is captured, what is open on that thread (the innermost NVTX range, the NCCL call) is
// written down under the node's number, because its launches come later, from another slot. Instantiating a graph
// makes clones with numbers of their own, which are tied to the captured ones. Nodes without anything open need no
// record.
//
// In a group of NCCL calls, which one kernel may carry out together, the first one is written.
#pragma once
#include <cupti.h>

#include <cstdint>

#include "agent/base/guard.h"
#include "agent/nvtx/live_ranges.h"
#include "common/record.h"

namespace agent {

// Which nodes of CUDA graphs have a record, so that only their clones get one. Lock-free, of fixed size: when it is
// full every node may be one.
void remember_captured(std::uint64_t node) noexcept;
// Never false for a node that was remembered.
bool may_be_captured(std::uint64_t node) noexcept;
bool any_captured() noexcept;

// How nodes of CUDA graphs are written: in the definitions region, of which other things keep a quarter, so that they
// outlive the ring; beyond it in the thread's block, which is overwritten in time.

// Without names, which depend on the slot.
trace::GraphNodeRecord describe_captured(std::uint64_t node, const OpenRange& open) noexcept;

// On the thread that captures, while there is a recording. Waits for a lock, but not long: then the block has to do.
void write_captured_node(const Guard& guard, std::uint64_t node, const OpenRange& open) noexcept;
void write_cloned_node(const Guard& guard, std::uint64_t node, std::uint64_t original) noexcept;

// Where TRACETOOL_EVENTS wants it. What CUPTI refuses is said with TRACETOOL_VERBOSE=1, and left out.
void enable_graph_callbacks(CUpti_SubscriberHandle subscriber) noexcept;
// For CUPTI's resource callbacks; ignores those that are not about nodes of graphs. On the application's thread.
void on_graph_callback(CUpti_CallbackId id, const CUpti_ResourceData& resource) noexcept;

// For the translation of a kernel of a graph: one of a graph that was captured before we were there shows here.
void note_graph_kernel() noexcept;
// Writes down, once, that there are such graphs. A periodic task of our own thread.
void tell_unknown_graphs() noexcept;

}  // namespace agent
