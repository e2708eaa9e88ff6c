#include "devices.h"

#include <cstdio>
#include <cstring>
#include <vector>

#include "call.h"
#include "cbids.h"

namespace sim {
namespace {

constexpr std::uint64_t kMemoryBytes = 85'029'158'912;

DeviceFacts make_facts(std::uint32_t device) {
  DeviceFacts facts{"NVIDIA H100 80GB HBM3 (simulated)",
                    {},
                    {},
                    kMemoryBytes,
                    3'352'320'000,
                    132,
                    9,
                    0,
                    1'980'000,
                    50 << 20,
                    32,
                    1'024,
                    64,
                    32,
                    65'536,
                    65'536,
                    48 << 10,
                    228 << 10,
                    3,
                    65'536};
  std::snprintf(facts.pci_bus_id, sizeof(facts.pci_bus_id), "0000:%02x:00.0", (0x1b + 0x10 * device) & 0xff);
  for (unsigned i = 0; i < sizeof(facts.uuid); ++i) facts.uuid[i] = static_cast<unsigned char>(0xa0 + i);
  facts.uuid[0] = static_cast<unsigned char>(device);
  return facts;
}

std::vector<DeviceFacts> make_all() {
  std::vector<DeviceFacts> all;
  for (std::uint32_t device = 0; device < device_count(); ++device) all.push_back(make_facts(device));
  return all;
}

std::uint32_t attribute_value(CUdevice_attribute attribute, const DeviceFacts& facts, CUdevice device) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return facts.multiprocessors;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return facts.compute_major;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return facts.compute_minor;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return facts.max_threads_per_block;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      return facts.max_warps * facts.threads_per_warp;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
      return facts.max_blocks;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
      return facts.max_registers_per_block;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
      return facts.max_registers;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      return facts.max_shared_per_block_bytes;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      return facts.max_shared_bytes;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      return facts.l2_bytes;
    case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
      return facts.constant_bytes;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
      return facts.copy_engines;
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
      return 1;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      return facts.threads_per_warp;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      return facts.core_clock_khz;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      return 2'619'000;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      return 5'120;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      return (0x1b + 0x10 * static_cast<std::uint32_t>(device)) & 0xff;
    default:
      return 0;
  }
}

const DeviceFacts* facts_of(CUdevice device) {
  return device >= 0 ? device_facts(static_cast<std::uint32_t>(device)) : nullptr;
}

CUresult copy_uuid(CUuuid* uuid, CUdevice device) {
  const DeviceFacts* facts = facts_of(device);
  if (facts == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  std::memcpy(uuid->bytes, facts->uuid, sizeof(uuid->bytes));
  return CUDA_SUCCESS;
}

}  // namespace

const DeviceFacts* device_facts(std::uint32_t device) {
  static const auto* const all = new std::vector<DeviceFacts>(make_all());
  return device < all->size() ? &(*all)[device] : nullptr;
}

}  // namespace sim

using namespace sim;

CUresult cuDeviceGetCount(int* count) {
  if (!is_initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  SIM_DRIVER_CALL(cuDeviceGetCount);
  *count = static_cast<int>(device_count());
  return call.end(CUDA_SUCCESS);
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (!is_initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  SIM_DRIVER_CALL(cuDeviceGet);
  if (facts_of(ordinal) == nullptr) return call.end(CUDA_ERROR_INVALID_DEVICE);
  *device = ordinal;
  return call.end(CUDA_SUCCESS);
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  SIM_DRIVER_CALL(cuDeviceGetName);
  const DeviceFacts* facts = facts_of(device);
  if (facts == nullptr) return call.end(CUDA_ERROR_INVALID_DEVICE);
  std::snprintf(name, static_cast<std::size_t>(length), "%s", facts->name);
  return call.end(CUDA_SUCCESS);
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  SIM_DRIVER_CALL(cuDeviceGetAttribute);
  const DeviceFacts* facts = facts_of(device);
  if (facts == nullptr) return call.end(CUDA_ERROR_INVALID_DEVICE);
  *value = static_cast<int>(attribute_value(attribute, *facts, device));
  return call.end(CUDA_SUCCESS);
}

CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  SIM_DRIVER_CALL(cuDeviceTotalMem_v2);
  const DeviceFacts* facts = facts_of(device);
  if (facts == nullptr) return call.end(CUDA_ERROR_INVALID_DEVICE);
  *bytes = facts->memory_bytes;
  return call.end(CUDA_SUCCESS);
}

// As the driver does it, 13 bytes and the end are needed.
CUresult cuDeviceGetPCIBusId(char* id, int length, CUdevice device) {
  SIM_DRIVER_CALL(cuDeviceGetPCIBusId);
  const DeviceFacts* facts = facts_of(device);
  if (facts == nullptr) return call.end(CUDA_ERROR_INVALID_DEVICE);
  if (length < 13) return call.end(CUDA_ERROR_INVALID_VALUE);
  std::snprintf(id, static_cast<std::size_t>(length), "%s", facts->pci_bus_id);
  return call.end(CUDA_SUCCESS);
}

// Both names, whatever the headers make of the first.
#undef cuDeviceGetUuid
SIM_EXPORT CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  SIM_DRIVER_CALL(cuDeviceGetUuid);
  return call.end(copy_uuid(uuid, device));
}

SIM_EXPORT CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  SIM_DRIVER_CALL(cuDeviceGetUuid_v2);
  return call.end(copy_uuid(uuid, device));
}
