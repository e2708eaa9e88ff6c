// Nodes of CUDA graphs: when one is captured, what is open on that thread (the innermost NVTX range, the NCCL call) is
// written down under the node's number, because its launches come later, from another slot. Instantiating a graph
// makes clones with numbers of their own, which are tied to the captured ones. Nodes without anything open need no
// record.
//
// In a group of NCCL calls, which one kernel may carry out together, the first one is written.
#pragma once
#include <cupti.h>

namespace agent {

// Where TRACETOOL_EVENTS wants it. What CUPTI refuses is said with TRACETOOL_VERBOSE=1, and left out.
void enable_graph_callbacks(CUpti_SubscriberHandle subscriber) noexcept;
// For CUPTI's resource callbacks; ignores those that are not about nodes of graphs. On the application's thread.
void on_graph_callback(CUpti_CallbackId id, const CUpti_ResourceData& resource) noexcept;

// For the translation of a kernel of a graph: one of a graph that was captured before we were there shows here.
void note_graph_kernel() noexcept;
// Writes down, once, that there are such graphs. A periodic task of our own thread.
void tell_unknown_graphs() noexcept;

}  // namespace agent
