// Allocation, copies and sets. Device memory is numbers: nothing can be read back.
#include <algorithm>
#include <cstdlib>

#include "allocation.h"
#include "call.h"
#include "cbids.h"
#include "devices.h"
#include "executor.h"
#include "launch.h"

namespace sim {
namespace {

// All transfers are asynchronous: this library has no others.
DeviceEvent copy_event(std::uint8_t kind, std::uint8_t src, std::uint8_t dst, std::size_t bytes) {
  DeviceEvent event{};
  event.kind = DeviceKind::memcpy;
  event.copy_kind = kind;
  event.src_memory = src;
  event.dst_memory = dst;
  event.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
  event.bytes = bytes;
  return event;
}

DeviceEvent set_event(std::uint32_t value, std::size_t bytes) {
  DeviceEvent event{};
  event.kind = DeviceKind::memset;
  event.value = value;
  event.bytes = bytes;
  event.dst_memory = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  event.flags = CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC;
  return event;
}

// A device and a context on it.
struct Place {
  std::uint32_t device, context;
};

DeviceEvent peer_event(Place from, Place to, std::size_t bytes) {
  DeviceEvent event = copy_event(CUPTI_ACTIVITY_MEMCPY_KIND_PTOP, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
                                 CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, bytes);
  event.kind = DeviceKind::memcpy_peer;
  event.src_device = from.device;
  event.src_context = from.context;
  event.dst_device = to.device;
  event.dst_context = to.context;
  return event;
}

constexpr std::uint64_t kMapped = 1ull << 60;  // above all that is drawn
constexpr int kDeviceShift = 48;

// Where the bytes at this address are, seen from `context`; no context of another device is needed to reach them.
Place place_of(CUdeviceptr address, const Context& context) {
  const bool mapped = (address & kMapped) != 0;
  return {mapped ? static_cast<std::uint32_t>((address & ~kMapped) >> kDeviceShift) : context.device, context.id};
}

}  // namespace
}  // namespace sim

using namespace sim;

SIM_EXPORT std::uintptr_t simulated_mapped_memory(std::uint32_t device) {
  return kMapped | std::uint64_t{device} << kDeviceShift;
}

CUresult cuMemAlloc(CUdeviceptr* address, size_t bytes) {
  SIM_DRIVER_CALL(cuMemAlloc_v2);
  if (current_context() == nullptr) return call.end(CUDA_ERROR_INVALID_CONTEXT);
  if (bytes == 0) return call.end(CUDA_ERROR_INVALID_VALUE);
  *address = draw_address(bytes);
  allocated(call, {*address, bytes, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, nullptr}, nullptr);
  return call.end(CUDA_SUCCESS);
}

CUresult cuMemFree(CUdeviceptr address) {
  SIM_DRIVER_CALL(cuMemFree_v2);
  return call.end(address == 0 || released(call, address, nullptr) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuMemGetInfo(size_t* available, size_t* total) {
  SIM_DRIVER_CALL(cuMemGetInfo_v2);
  if (current_context() == nullptr) return call.end(CUDA_ERROR_INVALID_CONTEXT);
  *total = device_facts(current_context()->device)->memory_bytes;
  *available = *total - std::min<std::uint64_t>(*total, device_bytes());
  return call.end(CUDA_SUCCESS);
}

CUresult cuMemHostAlloc(void** memory, size_t bytes, unsigned int) {
  SIM_DRIVER_CALL(cuMemHostAlloc_v2);
  *memory = std::malloc(bytes);
  if (*memory == nullptr) return call.end(CUDA_ERROR_OUT_OF_MEMORY);
  allocated(call, {reinterpret_cast<std::uintptr_t>(*memory), bytes, CUPTI_ACTIVITY_MEMORY_KIND_PINNED, nullptr},
            nullptr);
  return call.end(CUDA_SUCCESS);
}

CUresult cuMemFreeHost(void* memory) {
  SIM_DRIVER_CALL(cuMemFreeHost);
  if (!released(call, reinterpret_cast<std::uintptr_t>(memory), nullptr)) return call.end(CUDA_ERROR_INVALID_VALUE);
  std::free(memory);
  return call.end(CUDA_SUCCESS);
}

// From pageable memory: waits for the stream, and until all is copied.
CUresult cuMemcpyHtoDAsync(CUdeviceptr, const void* from, size_t bytes, CUstream stream) {
  SIM_DRIVER_CALL(cuMemcpyHtoDAsync_v2);
  const std::uint8_t memory = is_pinned(from) ? CUPTI_ACTIVITY_MEMORY_KIND_PINNED : CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
  Stream* const blocked = memory == CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE ? find_stream(stream) : nullptr;
  if (blocked != nullptr) wait_for(*blocked);
  const CUresult result = transfer(
      call, stream, copy_event(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, memory, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, bytes));
  if (blocked != nullptr && result == CUDA_SUCCESS) wait_for(*blocked);
  return call.end(result);
}

CUresult cuMemcpyDtoHAsync(void*, CUdeviceptr, size_t bytes, CUstream stream) {
  SIM_DRIVER_CALL(cuMemcpyDtoHAsync_v2);
  return call.end(transfer(call, stream,
                           copy_event(CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
                                      CUPTI_ACTIVITY_MEMORY_KIND_PINNED, bytes)));
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  SIM_DRIVER_CALL(cuMemcpyDtoDAsync_v2);
  if (current_context() == nullptr) return call.end(CUDA_ERROR_INVALID_CONTEXT);
  const Place source = place_of(from, *current_context()), target = place_of(to, *current_context());
  if (source.device != target.device) return call.end(transfer(call, stream, peer_event(source, target, bytes)));
  return call.end(transfer(call, stream,
                           copy_event(CUPTI_ACTIVITY_MEMCPY_KIND_DTOD, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
                                      CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, bytes)));
}

CUresult cuMemcpyPeerAsync(CUdeviceptr, CUcontext to, CUdeviceptr, CUcontext from, size_t bytes, CUstream stream) {
  SIM_DRIVER_CALL(cuMemcpyPeerAsync);
  const Context* source = find_context(from);
  const Context* target = find_context(to);
  if (source == nullptr || target == nullptr) return call.end(CUDA_ERROR_INVALID_CONTEXT);
  return call.end(
      transfer(call, stream, peer_event({source->device, source->id}, {target->device, target->id}, bytes)));
}

CUresult cuMemsetD8Async(CUdeviceptr, unsigned char value, size_t count, CUstream stream) {
  SIM_DRIVER_CALL(cuMemsetD8Async);
  return call.end(transfer(call, stream, set_event(value, count)));
}

CUresult cuMemsetD32Async(CUdeviceptr, unsigned int value, size_t count, CUstream stream) {
  SIM_DRIVER_CALL(cuMemsetD32Async);
  return call.end(transfer(call, stream, set_event(value, count * 4)));
}
