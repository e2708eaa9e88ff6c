// The driver's end of the talk with CUPTI (bridge.h).
#pragma once
#include "../bridge.h"

namespace sim {

// Null while no libcupti has attached itself.
const Bridge* bridge();
// On CUPTI's clock, or on the simulated host's where there is no CUPTI.
std::uint64_t to_cupti(const Bridge* bridge, std::uint64_t true_ns);
// Sets the times of ended work that CUPTI tells.
void tell_times(const Bridge* bridge, DeviceEvent& event);
void tell_graph(std::uint32_t cbid, const GraphEvent& event);
void tell_resource(std::uint32_t cbid, void* context, void* stream);
void tell_synchronized(std::uint32_t cbid, void* context, void* stream);

}  // namespace sim
