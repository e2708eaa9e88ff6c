// CUPTI's side of the bridge: what the driver tells goes to callbacks and activity buffers from here.
#pragma once
#include "../bridge.h"

namespace sim {

const Bridge& bridge_calls();

}  // namespace sim
