// Attributes: sizes are remembered; two change what this library does (zeroing, buffers per thread).
#include <cstring>
#include <mutex>

#include "buffers.h"
#include "state.h"

namespace sim {
namespace {

struct Attribute {
  CUpti_ActivityAttribute id;
  std::size_t size;
  std::uint64_t value;  // the default
};

std::mutex s_mutex;
Attribute s_attributes[] = {
    {CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, sizeof(std::size_t), 3'200'000},
    {CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, sizeof(std::size_t), 250},
    {CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, sizeof(std::uint8_t), 0},
    {CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE, sizeof(std::size_t), 3},
    {CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED, sizeof(std::uint8_t), 0},
#if SIM_BUFFER_PER_THREAD
    {CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, sizeof(std::uint8_t), 1},
#endif
};

CUptiResult find(CUpti_ActivityAttribute id, const std::size_t* size, const void* value, Attribute*& found) {
  SIM_NEED_DRIVER();
  if (size == nullptr || value == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  for (Attribute& attribute : s_attributes) {
    if (attribute.id != id) continue;
    found = &attribute;
    return *size < attribute.size ? CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT : CUPTI_SUCCESS;
  }
  return CUPTI_ERROR_INVALID_PARAMETER;
}

// The header calls a change of buffers per thread in the middle of a session undefined: here it ends the process. What
// it is already may be said again.
void apply(const Attribute& attribute) {
  if (attribute.id == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER) set_zeroed_by_client(attribute.value != 0);
#if SIM_BUFFER_PER_THREAD
  const bool per_thread = attribute.value != 0;
  if (attribute.id != CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER || per_thread == per_thread_buffers()) return;
  if (anything_enabled()) break_off("PER_THREAD_ACTIVITY_BUFFER was changed while a kind of records was on");
  set_per_thread_buffers(per_thread);
#endif
}

}  // namespace
}  // namespace sim

using namespace sim;

CUptiResult cuptiActivityGetAttribute(CUpti_ActivityAttribute id, std::size_t* size, void* value) {
  const std::lock_guard lock(s_mutex);
  Attribute* found = nullptr;
  if (const CUptiResult result = find(id, size, value, found); result != CUPTI_SUCCESS) return result;
  std::memcpy(value, &found->value, found->size);
  *size = found->size;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute id, std::size_t* size, void* value) {
  const std::lock_guard lock(s_mutex);
  Attribute* found = nullptr;
  if (const CUptiResult result = find(id, size, value, found); result != CUPTI_SUCCESS) return result;
  found->value = 0;
  std::memcpy(&found->value, value, found->size);
  apply(*found);
  return CUPTI_SUCCESS;
}
