// CUPTI's functions of version 2, since CUDA 13.3: several subscribers, each with its own of everything. Declared here, as
// cupti_activity.h and cupti_callbacks.h of 13.5 have them, because the headers that this is built with may lack them; the
// functions have names of their own and get CUPTI's as the linker's.
#include <cstdio>
#include <cstring>
#include <mutex>

#include "buffers.h"
#include "external.h"
#include "state.h"

#define SIM_CALLED(name) __asm__(name) __attribute__((visibility("default")))

namespace sim {

// In no unnamed namespace: a function with such a parameter is not exported.
struct SubscriberParams {  // CUpti_SubscriberParams; `allow_multiple` since 13.2
  std::size_t struct_size;
  const char* name;
  char* old_name;
  std::size_t old_size;
  std::uint8_t allow_multiple;
};

namespace {

using Handle = CUpti_SubscriberHandle;
constexpr std::size_t kOldParams = offsetof(SubscriberParams, allow_multiple);

// cuptiGetVersion of the releases that brought what is here.
constexpr std::uint32_t kParams = 130'000, kAllowMultiple = 130'200, kSubscribers = 130'300, kOwnClock = 130'400;

// CUpti_ActivityAttribute of 13.5.
constexpr int kMultipleState = 12, kAllSync = 16, kGraphLevel = 20, kThreadIds = 21, kClock = 22;

constexpr int kNotChosen = 2;
std::mutex s_choosing;
std::atomic<int> s_multiple{kNotChosen};  // what the first subscriber said
std::atomic<int> s_graphs{kNotChosen};    // 0: node by node, 1: whole
std::atomic<int> s_version{0};            // of the functions that were used; 0: none yet
std::atomic<bool> s_enabled_once{false};  // a kind, by a subscriber

const Client* first_subscriber() {
  const Client* first = nullptr;
  each_client([&](const Client& each) {
    if (first == nullptr && each.is_subscribed) first = &each;
  });
  return first;
}

void tell_first(const SubscriberParams* params) {
  if (params == nullptr || params->old_name == nullptr) return;
  const Client* first = first_subscriber();
  const char* otherwise = is_taken() ? "CUPTI for another tool" : "";
  std::snprintf(params->old_name, params->old_size, "%s", first != nullptr ? first->name : otherwise);
}

// The header: ..._MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED "if the request cannot be fulfilled".
bool may_share() {
  return behaviour().version >= kSubscribers && !behaviour().old_driver && !is_taken() && s_multiple != 0 &&
         s_version != 1 && !process_client().is_subscribed;
}

CUptiResult subscribe_shared(Handle* handle, CUpti_CallbackFunc callback, void* user, const SubscriberParams& params) {
  if (handle == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  tell_first(&params);
  if (!may_share()) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  s_multiple = 1;
  Client& made = add_client(params.name);
  made.callback = callback;
  made.user = user;
  made.is_subscribed.store(true, std::memory_order_release);
  tell_of(made);
  *handle = reinterpret_cast<Handle>(&made);
  return CUPTI_SUCCESS;
}

// Whose the call is; the answer where there is none.
CUptiResult find(Handle handle, bool changes, Client*& client) {
  if (const CUptiResult refused = use_version_2(changes); refused != CUPTI_SUCCESS) return refused;
  client = subscriber_of(handle);
  return client != nullptr ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}
#define SIM_FIND(handle, changes) \
  SIM_NEED_DRIVER();              \
  sim::Client* client = nullptr;  \
  if (const CUptiResult refused = find(handle, changes, client); refused != CUPTI_SUCCESS) return refused

CUptiResult may_enable(CUpti_ActivityKind kind) {
  if (kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE && s_graphs != 1) return CUPTI_ERROR_NOT_COMPATIBLE;
  s_enabled_once = true;
  return CUPTI_SUCCESS;
}

// The first value is everybody's, and stays.
CUptiResult choose_graphs(std::uint8_t whole) {
  const std::lock_guard lock(s_choosing);
  const int wanted = whole != 0 ? 1 : 0;
  if (s_graphs == wanted) return CUPTI_SUCCESS;
  if (s_graphs != kNotChosen || s_enabled_once) return CUPTI_ERROR_NOT_COMPATIBLE;
  s_graphs = wanted;
  return CUPTI_SUCCESS;
}

template <typename Value>
bool read(const std::size_t* size, const void* from, Value& value) {
  if (*size < sizeof(value)) return false;
  std::memcpy(&value, from, sizeof(value));
  return true;
}

CUptiResult set_own_clock(Client& client, const std::size_t* size, const void* value) {
  CUpti_TimestampCallbackFunc clock;
  if (behaviour().version < kOwnClock) return CUPTI_ERROR_INVALID_PARAMETER;
  return read(size, value, clock) ? set_clock(client, clock) : CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
}

CUptiResult set_switch(Client& client, int id, const std::size_t* size, const void* value) {
  std::uint8_t on;
  if (!read(size, value, on)) return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
  if (id == kGraphLevel) return choose_graphs(on);
  client.all_sync = on != 0;
  return CUPTI_SUCCESS;
}

bool is_enabled(const Client& client, CUpti_ActivityKind kind) {
  const auto any = [](const auto& flags) {
    for (const auto& flag : flags) {
      if (flag) return true;
    }
    return false;
  };
  if (kind == CUPTI_ACTIVITY_KIND_DRIVER && any(client.driver_calls)) return true;
  if (kind == CUPTI_ACTIVITY_KIND_RUNTIME && any(client.runtime_calls)) return true;
  return kind_enabled(client, kind);
}

}  // namespace

bool graphs_are_whole(const Client& client) {
  return client.number == 0 ? kind_enabled(client, CUPTI_ACTIVITY_KIND_GRAPH_TRACE) : s_graphs == 1;
}

CUptiResult use_version_1(bool changes) {
  if (s_version == 2 || has_subscribers()) return CUPTI_ERROR_NOT_COMPATIBLE;
  if (changes) s_version = 1;
  return CUPTI_SUCCESS;
}

CUptiResult use_version_2(bool changes) {
  if (behaviour().version < kSubscribers) return CUPTI_ERROR_NOT_SUPPORTED;  // has no such function
  if (s_version == 1) return CUPTI_ERROR_NOT_COMPATIBLE;
  if (changes) s_version = 2;
  return CUPTI_SUCCESS;
}

void end_subscriber(Client& client) {
  forget_kinds(client);
  forget_subscriber(client);
  abandon_buffers(client);
  if (&client == &told()) tell_of(process_client());
}

void forget_subscribers() {
  each_client([](Client& each) {
    if (each.number != 0 && each.is_subscribed) end_subscriber(each);
  });
  s_multiple = s_graphs = kNotChosen;
  s_version = 0;
  s_enabled_once = false;
}

CUptiResult subscribe_2(Handle*, CUpti_CallbackFunc, void*, const SubscriberParams*) SIM_CALLED("cuptiSubscribe_v2");
CUptiResult subscribe_2(Handle* handle, CUpti_CallbackFunc callback, void* user, const SubscriberParams* params) {
  SIM_NEED_DRIVER();
  if (behaviour().version < kParams) return CUPTI_ERROR_NOT_SUPPORTED;  // has no such function
  if (params != nullptr && params->struct_size == 0) return CUPTI_ERROR_INVALID_PARAMETER;
  const bool knows = params != nullptr && params->struct_size > kOldParams && behaviour().version >= kAllowMultiple;
  const std::lock_guard lock(s_choosing);
  if (knows && params->allow_multiple != 0) return subscribe_shared(handle, callback, user, *params);
  const CUptiResult result = subscribe_alone(handle, callback, user, params != nullptr ? params->name : nullptr);
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) tell_first(params);
  if (result == CUPTI_SUCCESS) s_multiple = 0;
  return result;
}

CUptiResult timestamp_2(Handle, std::uint64_t*) SIM_CALLED("cuptiGetTimestamp_v2");
CUptiResult timestamp_2(Handle handle, std::uint64_t* timestamp) {
  SIM_FIND(handle, false);
  if (timestamp == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *timestamp = now_of(*client);
  return CUPTI_SUCCESS;
}

CUptiResult register_2(Handle, OnRequest2, OnCompleted2) SIM_CALLED("cuptiActivityRegisterCallbacks_v2");
CUptiResult register_2(Handle handle, OnRequest2 request, OnCompleted2 completed) {
  SIM_FIND(handle, true);
  if (request == nullptr || completed == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  client->buffers.completed_2.store(completed);
  client->buffers.request_2.store(request);
  start_worker(*client);
  return CUPTI_SUCCESS;
}

CUptiResult enable_2(Handle, CUpti_ActivityKind, void*) SIM_CALLED("cuptiActivityEnable_v2");
CUptiResult enable_2(Handle handle, CUpti_ActivityKind kind, void*) {
  SIM_FIND(handle, true);
  if (const CUptiResult result = may_enable(kind); result != CUPTI_SUCCESS) return result;
  return change_kind(*client, kind, true);
}

CUptiResult dump_2(Handle, CUpti_ActivityKind, void*) SIM_CALLED("cuptiActivityEnableAndDump_v2");
CUptiResult dump_2(Handle handle, CUpti_ActivityKind kind, void*) {
  SIM_FIND(handle, true);
  if (const CUptiResult result = may_enable(kind); result != CUPTI_SUCCESS) return result;
  return enable_and_dump(*client, kind);
}

CUptiResult disable_2(Handle, CUpti_ActivityKind, void*) SIM_CALLED("cuptiActivityDisable_v2");
CUptiResult disable_2(Handle handle, CUpti_ActivityKind kind, void*) {
  SIM_FIND(handle, false);
  return change_kind(*client, kind, false);
}

CUptiResult next_2(Handle, std::uint8_t*, std::size_t, CUpti_Activity**) SIM_CALLED("cuptiActivityGetNextRecord_v2");
CUptiResult next_2(Handle handle, std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
  Client* client = nullptr;
  if (const CUptiResult refused = find(handle, false, client); refused != CUPTI_SUCCESS) return refused;
  return next_record(buffer, valid, record);
}

CUptiResult dropped_2(Handle, CUcontext, std::uint32_t, std::size_t*)
    SIM_CALLED("cuptiActivityGetNumDroppedRecords_v2");
CUptiResult dropped_2(Handle handle, CUcontext, std::uint32_t, std::size_t* dropped) {
  SIM_FIND(handle, false);
  return dropped != nullptr ? take_dropped(*client, dropped) : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult set_2(Handle, CUpti_ActivityAttribute, std::size_t*, void*) SIM_CALLED("cuptiActivitySetAttribute_v2");
CUptiResult set_2(Handle handle, CUpti_ActivityAttribute id, std::size_t* size, void* value) {
  SIM_FIND(handle, false);
  if (size == nullptr || value == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  std::uint32_t type;
  switch (static_cast<int>(id)) {
    case kMultipleState:
      return CUPTI_ERROR_INVALID_PARAMETER;
    case kAllSync:
    case kGraphLevel:
      return set_switch(*client, static_cast<int>(id), size, value);
    case kThreadIds:
      return read(size, value, type) ? set_thread_ids(*client, type) : CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
    case kClock:
      return set_own_clock(*client, size, value);
    default:
      return set_attribute(*client, id, size, value);
  }
}

CUptiResult get_2(Handle, CUpti_ActivityAttribute, std::size_t*, void*) SIM_CALLED("cuptiActivityGetAttribute_v2");
CUptiResult get_2(Handle handle, CUpti_ActivityAttribute id, std::size_t* size, void* value) {
  SIM_FIND(handle, false);
  if (size == nullptr || value == nullptr || *size == 0) return CUPTI_ERROR_INVALID_PARAMETER;
  const auto answer = [&](int small) {
    *static_cast<std::uint8_t*>(value) = static_cast<std::uint8_t>(small);
    *size = 1;
    return CUPTI_SUCCESS;
  };
  switch (static_cast<int>(id)) {
    case kMultipleState:
      return answer(s_multiple);
    case kGraphLevel:
      return answer(s_graphs == 1 ? 1 : 0);
    case kAllSync:
      return answer(client->all_sync ? 1 : 0);
    default:
      return get_attribute(*client, id, size, value);
  }
}

CUptiResult driver_call_2(Handle, CUpti_CallbackId, std::uint8_t) SIM_CALLED("cuptiActivityEnableDriverApi_v2");
CUptiResult driver_call_2(Handle handle, CUpti_CallbackId cbid, std::uint8_t on) {
  SIM_FIND(handle, true);
  return change_driver_call(*client, cbid, on != 0);
}

CUptiResult runtime_call_2(Handle, CUpti_CallbackId, std::uint8_t) SIM_CALLED("cuptiActivityEnableRuntimeApi_v2");
CUptiResult runtime_call_2(Handle handle, CUpti_CallbackId cbid, std::uint8_t on) {
  SIM_FIND(handle, true);
  return change_runtime_call(*client, cbid, on != 0);
}

CUptiResult push_2(Handle, CUpti_ExternalCorrelationKind, std::uint64_t)
    SIM_CALLED("cuptiActivityPushExternalCorrelationId_v2");
CUptiResult push_2(Handle handle, CUpti_ExternalCorrelationKind kind, std::uint64_t id) {
  SIM_FIND(handle, false);
  return push_external(*client, kind, id);
}

CUptiResult pop_2(Handle, CUpti_ExternalCorrelationKind, std::uint64_t*)
    SIM_CALLED("cuptiActivityPopExternalCorrelationId_v2");
CUptiResult pop_2(Handle handle, CUpti_ExternalCorrelationKind kind, std::uint64_t* last) {
  SIM_FIND(handle, false);
  return pop_external(*client, kind, last);
}

// Of a subscriber, or of all together where there is no handle. Who only wants to know how many gives no memory.
CUptiResult enabled_kinds(Handle, CUpti_ActivityKind*, std::uint32_t*, std::uint32_t*)
    SIM_CALLED("cuptiActivityGetEnabledKinds");
CUptiResult enabled_kinds(Handle handle, CUpti_ActivityKind* kinds, std::uint32_t* size, std::uint32_t* count) {
  SIM_NEED_DRIVER();
  if (behaviour().version < kSubscribers) return CUPTI_ERROR_NOT_SUPPORTED;  // has no such function
  const Client* one = handle != nullptr ? subscriber_of(handle) : nullptr;
  if (count == nullptr || (handle != nullptr && one == nullptr) || (kinds != nullptr && size == nullptr))
    return CUPTI_ERROR_INVALID_PARAMETER;
  *count = 0;
  for (int number = 1; number < CUPTI_ACTIVITY_KIND_COUNT; ++number) {
    const auto kind = static_cast<CUpti_ActivityKind>(number);
    bool on = false;
    each_client([&](const Client& each) { on |= (one == nullptr || one == &each) && is_enabled(each, kind); });
    if (!on) continue;
    if (kinds != nullptr && *count < *size / sizeof(*kinds)) kinds[*count] = kind;
    ++*count;
  }
  return CUPTI_SUCCESS;
}

}  // namespace sim
