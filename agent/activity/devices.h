// Records the GPUs of this process from the driver: name, UUID, PCI bus id, memory, limits. CUPTI's DEVICE records are
// not used: they lack the bus id, exist only if CUPTI was active before cuInit, and include devices hidden by
// CUDA_VISIBLE_DEVICES. The driver's functions need no context and work at any time.
#pragma once

namespace agent {

// Writes a definition for each device and the driver's version, once; tries again until the driver is ready. A periodic
// task of our own thread, so that no application thread calls the driver for us.
void describe_devices() noexcept;

}  // namespace agent
