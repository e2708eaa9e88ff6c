// The devices of the machine: each an H100 with 80 GB, told apart by its bus address and its UUID.
#pragma once
#include "../events.h"
#include "objects.h"

namespace sim {

// Null: there is no such device.
const DeviceFacts* device_facts(std::uint32_t device);

}  // namespace sim
