// The GPUs of this process, as the driver tells them: name, UUID, PCI bus id, memory, limits. Not from CUPTI's DEVICE
// records: these lack the bus id, come only where CUPTI was there before cuInit, and count devices that
// CUDA_VISIBLE_DEVICES hides. The driver's answers need no context and are there at any time.
#pragma once

namespace agent {

// Once: writes a definition per device and the driver's version; tried again until the driver is ready. A periodic task of our
// own thread: an application's thread asks the driver nothing for us.
void describe_devices() noexcept;

}  // namespace agent
