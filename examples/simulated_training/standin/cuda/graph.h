// CUDA graphs: what a capturing stream is given becomes nodes; a launch of the instantiated graph queues them all with
// the launch's correlation id. A captured branch (a stream that waited for an event of the capture) becomes a stream of
// the executable graph that nobody is told of. All dependencies are those of streams and events.
#pragma once
#include "objects.h"

namespace sim {

bool is_capturing(const Stream& stream);
// The three below do nothing and return false where the stream does not capture.
bool capture_work(Stream& stream, const Op& op);
bool capture_record(Stream& stream, Event& event);
// Also where the stream does not capture yet but the event is one of a capture: the stream joins it.
bool capture_wait(Stream& stream, Event& event);

// What CUPTI calls them; false: no such object.
bool graph_id(void* graph, std::uint32_t& id);
bool graph_exec_id(void* exec, std::uint32_t& id);
bool graph_node_id(void* node, std::uint64_t& id);

}  // namespace sim
