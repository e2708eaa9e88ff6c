// Attributes: values are remembered, for each client; two change what this library does (zeroing, buffers per thread).
#include <cstring>
#include <iterator>
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
constexpr Attribute kKnown[] = {
    {CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, sizeof(std::size_t), 3'200'000},
    {CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT, sizeof(std::size_t), 250},
    {CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, sizeof(std::uint8_t), 0},
    {CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE, sizeof(std::size_t), 3},
    {CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED, sizeof(std::uint8_t), 0},
#if SIM_BUFFER_PER_THREAD
    {CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, sizeof(std::uint8_t), 1},
#endif
};

static_assert(std::size(kKnown) <= kAttributes);

// The number of the attribute in the table.
CUptiResult find(CUpti_ActivityAttribute id, const std::size_t* size, const void* value, std::size_t& found) {
  if (size == nullptr || value == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  for (found = 0; found < std::size(kKnown); ++found) {
    if (kKnown[found].id != id) continue;
    return *size < kKnown[found].size ? CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT : CUPTI_SUCCESS;
  }
  return CUPTI_ERROR_INVALID_PARAMETER;
}

// The header calls a change of buffers per thread in the middle of a session undefined: here it ends the process. What
// it is already may be said again.
void apply(Client& client, CUpti_ActivityAttribute id, std::uint64_t value) {
  if (id == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER) client.buffers.zeroed_by_client = value != 0;
#if SIM_BUFFER_PER_THREAD
  const bool per_thread = value != 0;
  if (id != CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER || per_thread == client.buffers.per_thread) return;
  if (anything_enabled(client)) break_off("PER_THREAD_ACTIVITY_BUFFER was changed while a kind of records was on");
  client.buffers.per_thread = per_thread;
#endif
}

}  // namespace

void reset_attributes(Client& client) {
  for (std::size_t i = 0; i < std::size(kKnown); ++i) client.attributes[i] = kKnown[i].value;
}

CUptiResult get_attribute(Client& client, CUpti_ActivityAttribute id, std::size_t* size, void* value) {
  const std::lock_guard lock(s_mutex);
  std::size_t found;
  if (const CUptiResult result = find(id, size, value, found); result != CUPTI_SUCCESS) return result;
  std::memcpy(value, &client.attributes[found], kKnown[found].size);
  *size = kKnown[found].size;
  return CUPTI_SUCCESS;
}

CUptiResult set_attribute(Client& client, CUpti_ActivityAttribute id, const std::size_t* size, const void* value) {
  const std::lock_guard lock(s_mutex);
  std::size_t found;
  if (const CUptiResult result = find(id, size, value, found); result != CUPTI_SUCCESS) return result;
  client.attributes[found] = 0;
  std::memcpy(&client.attributes[found], value, kKnown[found].size);
  apply(client, id, client.attributes[found]);
  return CUPTI_SUCCESS;
}

}  // namespace sim

using namespace sim;

CUptiResult cuptiActivityGetAttribute(CUpti_ActivityAttribute id, std::size_t* size, void* value) {
  SIM_NEED_DRIVER();
  SIM_NEED_VERSION_1(false);
  return get_attribute(process_client(), id, size, value);
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute id, std::size_t* size, void* value) {
  SIM_NEED_DRIVER();
  SIM_NEED_VERSION_1(true);
  return set_attribute(process_client(), id, size, value);
}
