// Records the GPUs of this process from the driver: name, UUID, PCI bus id, memory, limits. CUPTI's DEVICE records are
// not used: they lack the bus id, exist only if CUPTI was active before cuInit, and include devices hidden by
// CUDA_VISIBLE_DEVICES. The driver's functions need no context and work at any time.
#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <cstring>

#include "agent/activity/cupti_source.h"
#include "agent/base/agent_settings.h"
#include "agent/base/message.h"
#include "agent/cupti/cupti_library.h"
#include "agent/ring/recorder.h"

namespace agent {
namespace {

constexpr int kMostDevices = 64;

// The driver loaded in the process; functions are null if it lacks them.
struct Driver {
  CUresult (*version)(int*);
  CUresult (*count)(int*);
  CUresult (*device)(CUdevice*, int ordinal);
  CUresult (*name)(char*, int size, CUdevice);
  CUresult (*memory)(std::size_t*, CUdevice);
  CUresult (*pci_bus_id)(char*, int size, CUdevice);
  CUresult (*uuid)(CUuuid*, CUdevice);
  CUresult (*attribute)(int*, CUdevice_attribute, CUdevice);
};

// Uses the driver's own names for cuDeviceTotalMem and cuDeviceGetUuid of cuda.h; the newer one distinguishes the parts
// of a divided GPU.
bool load(Driver& driver) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return false;
  find_function(library, "cuDriverGetVersion", driver.version);
  find_function(library, "cuDeviceGetName", driver.name);
  find_function(library, "cuDeviceTotalMem_v2", driver.memory);
  find_function(library, "cuDeviceGetPCIBusId", driver.pci_bus_id);
  if (!find_function(library, "cuDeviceGetUuid_v2", driver.uuid))
    find_function(library, "cuDeviceGetUuid", driver.uuid);
  return find_function(library, "cuDeviceGetCount", driver.count) &&
         find_function(library, "cuDeviceGet", driver.device) &&
         find_function(library, "cuDeviceGetAttribute", driver.attribute);
}

// The attributes queried by number, and the members for the results.
struct DeviceAttribute {
  CUdevice_attribute attribute;
  std::uint32_t trace::DeviceRecord::*field;
};
constexpr DeviceAttribute kAttributes[] = {
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &trace::DeviceRecord::multiprocessors},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &trace::DeviceRecord::compute_major},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &trace::DeviceRecord::compute_minor},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &trace::DeviceRecord::core_clock_khz},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &trace::DeviceRecord::l2_bytes},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, &trace::DeviceRecord::threads_per_warp},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &trace::DeviceRecord::max_threads_per_block},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, &trace::DeviceRecord::max_blocks_per_multiprocessor},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, &trace::DeviceRecord::max_registers_per_block},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, &trace::DeviceRecord::max_registers_per_multiprocessor},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, &trace::DeviceRecord::max_shared_bytes_per_block},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
     &trace::DeviceRecord::max_shared_bytes_per_multiprocessor},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, &trace::DeviceRecord::copy_engines},
};

// Returns 0 if the driver does not support it.
std::uint32_t ask(const Driver& driver, CUdevice device, CUdevice_attribute attribute) {
  int value = 0;
  if (driver.attribute(&value, attribute, device) != CUDA_SUCCESS || value < 0) return 0;
  return static_cast<std::uint32_t>(value);
}

void set_derived(const Driver& driver, CUdevice device, trace::DeviceRecord& record) {
  const std::uint32_t threads = ask(driver, device, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  if (record.threads_per_warp != 0) record.max_warps_per_multiprocessor = threads / record.threads_per_warp;
  // Two transfers per clock cycle.
  const std::uint64_t memory_khz = ask(driver, device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  record.memory_bandwidth_kbps = 2 * memory_khz * ask(driver, device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8;
}

// In lower case, as in /sys and lspci; the driver uses capitals.
void set_pci_bus_id(const Driver& driver, CUdevice device, trace::DeviceRecord& record) {
  char id[32] = "";
  if (driver.pci_bus_id == nullptr || driver.pci_bus_id(id, sizeof(id), device) != CUDA_SUCCESS) return;
  for (std::size_t i = 0; i + 1 < sizeof(record.pci_bus_id) && id[i] != '\0'; ++i)
    record.pci_bus_id[i] = id[i] >= 'A' && id[i] <= 'F' ? static_cast<char>(id[i] - 'A' + 'a') : id[i];
}

void set_identity(const Driver& driver, CUdevice device, trace::DeviceRecord& record) {
  std::size_t bytes = 0;
  CUuuid uuid;
  if (driver.name != nullptr) driver.name(record.name, sizeof(record.name), device);
  record.name[sizeof(record.name) - 1] = '\0';
  if (driver.memory != nullptr && driver.memory(&bytes, device) == CUDA_SUCCESS) record.memory_bytes = bytes;
  if (driver.uuid != nullptr && driver.uuid(&uuid, device) == CUDA_SUCCESS)
    std::memcpy(record.uuid, uuid.bytes, sizeof(record.uuid));
  set_pci_bus_id(driver, device, record);
}

void describe(const Driver& driver, int ordinal) {
  CUdevice device;
  if (driver.device(&device, ordinal) != CUDA_SUCCESS) return;
  auto record = trace::make_record<trace::DeviceRecord>();
  record.device = static_cast<std::uint32_t>(ordinal);
  set_identity(driver, device, record);
  for (const DeviceAttribute& attribute : kAttributes)
    record.*attribute.field = ask(driver, device, attribute.attribute);
  set_derived(driver, device, record);
  if (!define(record)) say("the definitions region of the recording is full: device %d is not described", ordinal);
}

// Returns false if the driver is not loaded or not initialized yet.
bool describe_all() {
  Driver driver{};
  int count = 0;
  if (!load(driver) || driver.count(&count) != CUDA_SUCCESS) return false;
  if (int version = 0; driver.version != nullptr && driver.version(&version) == CUDA_SUCCESS)
    ring().header->cuda_driver_version = static_cast<std::uint32_t>(version);
  for (int i = 0; wants(trace::DeviceRecord::kKind) && i < std::min(count, kMostDevices); ++i) describe(driver, i);
  return true;
}

}  // namespace

void describe_devices() noexcept {
  static constinit bool s_done = false;
  if (s_done || recording() != Recording::open || has_left_cupti()) return;
  const Guard guard;  // the driver may call back into us
  if (guard) s_done = describe_all();
}

}  // namespace agent
