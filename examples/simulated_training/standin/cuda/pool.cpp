#include "pool.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "allocation.h"
#include "cbids.h"
#include "notes.h"

namespace sim {
namespace {

struct Pools {
  std::mutex mutex;
  std::unordered_set<const void*> live;
  std::vector<std::unique_ptr<Pool>> all;                             // destroyed ones too: allocations point to them
  std::vector<Pool*> of_device = std::vector<Pool*>(device_count());  // the default pools, made when they are needed
};

Pools& pools() {
  static auto* const made = new Pools;
  return *made;
}

void tell_pool(std::uint32_t correlation, std::uint32_t operation, const Pool& pool) {
  Note note = make_note(NoteKind::memory_pool, nullptr);
  note.correlation = correlation;
  note.type = operation;
  note.device = pool.device;
  note.address = pool.address;
  note.bytes = pool.bytes;
  add_pool(note, pool);
  tell(note);
}

Pool* make_pool(std::uint32_t correlation, std::uint32_t device) {
  auto* pool = new Pool{draw_address(1), device, 0};
  {
    const std::lock_guard lock(pools().mutex);
    pools().live.insert(pool);
    pools().all.emplace_back(pool);
  }
  tell_pool(correlation, CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED, *pool);
  return pool;
}

Pool* find_pool(const void* handle) {
  const std::lock_guard lock(pools().mutex);
  return pools().live.count(handle) != 0 ? static_cast<Pool*>(const_cast<void*>(handle)) : nullptr;
}

Pool* default_pool(std::uint32_t correlation, std::uint32_t device) {
  static std::mutex s_making;
  const std::lock_guard making(s_making);
  Pool*& slot = pools().of_device[device];
  if (slot == nullptr) slot = make_pool(correlation, device);
  return slot;
}

CUresult allocate(const Call& call, CUdeviceptr* address, size_t bytes, Pool* pool, Stream* stream) {
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (bytes == 0 || address == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *address = draw_address(bytes);
  use_pool(*pool, static_cast<std::int64_t>(bytes));
  allocated(call, {*address, bytes, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, pool}, stream);
  return CUDA_SUCCESS;
}

CUresult allocate_default(const Call& call, CUdeviceptr* address, size_t bytes, CUstream handle) {
  Stream* stream = find_stream(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return allocate(call, address, bytes, default_pool(call.correlation(), stream->context->device), stream);
}

CUresult trim(const Call& call, CUmemoryPool handle, size_t keep) {
  Pool* pool = find_pool(handle);
  if (pool == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  pool->bytes = std::max<std::uint64_t>(pool->used_bytes, std::min<std::uint64_t>(pool->bytes, keep));
  tell_pool(call.correlation(), CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED, *pool);
  return CUDA_SUCCESS;
}

CUresult destroy(const Call& call, CUmemoryPool handle) {
  Pool* pool = find_pool(handle);
  if (pool == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  tell_pool(call.correlation(), CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED, *pool);
  const std::lock_guard lock(pools().mutex);
  pools().live.erase(pool);
  return CUDA_SUCCESS;
}

}  // namespace

void add_pool(Note& note, const Pool& pool) {
  note.pool = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
  note.pool_address = pool.address;
  note.pool_bytes = pool.bytes;
  note.used_bytes = pool.used_bytes;
  note.release_threshold_bytes = pool.release_threshold_bytes;
}

void use_pool(Pool& pool, std::int64_t bytes) {
  const std::uint64_t used = pool.used_bytes += static_cast<std::uint64_t>(bytes);
  if (used > pool.bytes) pool.bytes = used;
}

}  // namespace sim

using namespace sim;

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  SIM_DRIVER_CALL(cuMemPoolCreate);
  const int device = properties->location.id;
  if (device < 0 || static_cast<std::uint32_t>(device) >= device_count()) return call.end(CUDA_ERROR_INVALID_DEVICE);
  *pool = reinterpret_cast<CUmemoryPool>(make_pool(call.correlation(), static_cast<std::uint32_t>(device)));
  return call.end(CUDA_SUCCESS);
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
  SIM_DRIVER_CALL(cuMemPoolTrimTo);
  return call.end(trim(call, pool, keep));
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  SIM_DRIVER_CALL(cuMemPoolDestroy);
  return call.end(destroy(call, pool));
}

CUresult cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream stream) {
  SIM_DRIVER_CALL(cuMemAllocAsync);
  return call.end(allocate_default(call, address, bytes, stream));
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t bytes, CUmemoryPool handle, CUstream stream) {
  SIM_DRIVER_CALL(cuMemAllocFromPoolAsync);
  Pool* pool = find_pool(handle);
  if (pool == nullptr) return call.end(CUDA_ERROR_INVALID_HANDLE);
  return call.end(allocate(call, address, bytes, pool, find_stream(stream)));
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
  SIM_DRIVER_CALL(cuMemFreeAsync);
  const Stream* stream = find_stream(handle);
  if (stream == nullptr) return call.end(CUDA_ERROR_INVALID_HANDLE);
  return call.end(released(call, address, stream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}
