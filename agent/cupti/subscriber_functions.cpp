#include "agent/cupti/subscriber_functions.h"

#include <atomic>

#include "agent/base/agent_settings.h"
#include "agent/base/message.h"

namespace agent {
namespace {

struct SharedParams {  // CUpti_SubscriberParams of 13.2
  std::size_t struct_size;
  const char* subscriber_name;
  char* old_subscriber_name;
  std::size_t old_subscriber_size;
  std::uint8_t allow_multiple_subscribers;
  std::uint8_t padding[7];
};
static_assert(sizeof(SharedParams) == 40);

struct RequestInfo;    // CUpti_BufferCallbackRequestInfo
struct CompletedInfo;  // CUpti_BufferCallbackCompleteInfo
using Handle = CUpti_SubscriberHandle;
using OnRequest = void(CUPTIAPI*)(std::uint8_t**, std::size_t*, std::size_t*, RequestInfo*);
using OnCompleted = void(CUPTIAPI*)(std::uint8_t*, std::size_t, std::size_t, CompletedInfo*);

// CUpti_ActivityAttribute of 13.5.
constexpr auto kAllSyncRecords = static_cast<CUpti_ActivityAttribute>(16);
constexpr auto kGraphLevel = static_cast<CUpti_ActivityAttribute>(20);  // ..._ENABLE_MULTI_SUBSCRIBER_GRAPH_TRACE
constexpr auto kThreadIdType = static_cast<CUpti_ActivityAttribute>(21);

struct Functions {
  CUptiResult (*subscribe)(Handle*, CUpti_CallbackFunc, void*, SharedParams*);
  CUptiResult (*get_timestamp)(Handle, std::uint64_t*);
  CUptiResult (*register_callbacks)(Handle, OnRequest, OnCompleted);
  CUptiResult (*activity_enable)(Handle, CUpti_ActivityKind, void* config);
  CUptiResult (*activity_enable_and_dump)(Handle, CUpti_ActivityKind, void* config);
  CUptiResult (*activity_disable)(Handle, CUpti_ActivityKind, void* config);
  CUptiResult (*get_next_record)(Handle, std::uint8_t*, std::size_t, CUpti_Activity**);
  CUptiResult (*get_dropped)(Handle, CUcontext, std::uint32_t, std::size_t*);
  CUptiResult (*set_attribute)(Handle, CUpti_ActivityAttribute, std::size_t*, void*);
  CUptiResult (*get_attribute)(Handle, CUpti_ActivityAttribute, std::size_t*, void*);
  CUptiResult (*enable_runtime_api)(Handle, CUpti_CallbackId, std::uint8_t);
  CUptiResult (*enable_driver_api)(Handle, CUpti_CallbackId, std::uint8_t);
  CUptiResult (*get_enabled_kinds)(Handle, CUpti_ActivityKind*, std::uint32_t* size, std::uint32_t* count);
};
constinit Functions s_functions{};
constinit std::atomic<Handle> s_handle{nullptr};
constinit std::atomic<CUpti_BuffersCallbackRequestFunc> s_on_request{nullptr};
constinit std::atomic<CUpti_BuffersCallbackCompleteFunc> s_on_completed{nullptr};
constinit char s_first_subscriber[64] = "";

Handle subscriber() { return s_handle.load(std::memory_order_relaxed); }

CUptiResult subscribe(Handle* handle, CUpti_CallbackFunc callback, void* user) {
  s_first_subscriber[0] = '\0';
  SharedParams params{sizeof(params), "tracetool", s_first_subscriber, sizeof(s_first_subscriber), 1, {}};
  const CUptiResult result = s_functions.subscribe(handle, callback, user, &params);
  s_first_subscriber[sizeof(s_first_subscriber) - 1] = '\0';
  if (result == CUPTI_SUCCESS) s_handle.store(*handle);
  return result;
}

// Calls a function of version 2 with the agent's subscriber, which version 1 does not have.
template <auto function, typename... Arguments>
CUptiResult with_subscriber(Arguments... arguments) {
  return (s_functions.*function)(subscriber(), arguments...);
}
template <auto function>
CUptiResult with_kind(CUpti_ActivityKind kind) {
  return (s_functions.*function)(subscriber(), kind, nullptr);
}

void CUPTIAPI on_request(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records, RequestInfo*) {
  s_on_request.load(std::memory_order_relaxed)(buffer, size, max_records);
}

void CUPTIAPI on_completed(std::uint8_t* buffer, std::size_t size, std::size_t valid, CompletedInfo*) {
  s_on_completed.load(std::memory_order_relaxed)(nullptr, 0, buffer, size, valid);
}

CUptiResult register_callbacks(CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc completed) {
  s_on_request.store(request);
  s_on_completed.store(completed);
  return s_functions.register_callbacks(subscriber(), on_request, on_completed);
}

template <typename Value>
CUptiResult set(CUpti_ActivityAttribute attribute, Value value) {
  std::size_t size = sizeof(value);
  return with_subscriber<&Functions::set_attribute>(attribute, &size, &value);
}

CUptiResult set_thread_id_type(CUpti_ActivityThreadIdType type) { return set(kThreadIdType, type); }
CUptiResult enable_all_sync_records(std::uint8_t on) { return set(kAllSyncRecords, on); }

bool are_graphs_told_whole() {
  std::uint8_t whole = 0;
  std::size_t size = sizeof(whole);
  return with_subscriber<&Functions::get_attribute>(kGraphLevel, &size, &whole) == CUPTI_SUCCESS && whole != 0;
}

}  // namespace

const char* find_subscriber_functions(void* library, CuptiLibrary& table) noexcept {
  const char* lacks = nullptr;
  const auto find = [&](const char* name, auto*& function) {
    if (!find_function(library, name, function) && lacks == nullptr) lacks = name;
  };
  find("cuptiSubscribe_v2", s_functions.subscribe);
  find("cuptiGetTimestamp_v2", s_functions.get_timestamp);
  find("cuptiActivityRegisterCallbacks_v2", s_functions.register_callbacks);
  find("cuptiActivityEnable_v2", s_functions.activity_enable);
  find("cuptiActivityEnableAndDump_v2", s_functions.activity_enable_and_dump);
  find("cuptiActivityDisable_v2", s_functions.activity_disable);
  find("cuptiActivityGetNextRecord_v2", s_functions.get_next_record);
  find("cuptiActivityGetNumDroppedRecords_v2", s_functions.get_dropped);
  find("cuptiActivitySetAttribute_v2", s_functions.set_attribute);
  find("cuptiActivityGetAttribute_v2", s_functions.get_attribute);
  find_function(library, "cuptiActivityEnableRuntimeApi_v2", s_functions.enable_runtime_api);
  find_function(library, "cuptiActivityEnableDriverApi_v2", s_functions.enable_driver_api);
  find_function(library, "cuptiActivityGetEnabledKinds", s_functions.get_enabled_kinds);
  table.is_shared = true;
  table.subscribe = subscribe;
  table.get_timestamp = with_subscriber<&Functions::get_timestamp>;
  table.register_callbacks = register_callbacks;
  table.activity_enable = with_kind<&Functions::activity_enable>;
  table.activity_enable_and_dump = with_kind<&Functions::activity_enable_and_dump>;
  table.activity_disable = with_kind<&Functions::activity_disable>;
  table.get_next_record = with_subscriber<&Functions::get_next_record>;
  table.get_dropped = with_subscriber<&Functions::get_dropped>;
  table.set_attribute = with_subscriber<&Functions::set_attribute>;
  table.get_attribute = with_subscriber<&Functions::get_attribute>;
  table.set_thread_id_type = set_thread_id_type;
  table.enable_all_sync_records = enable_all_sync_records;
  table.enable_runtime_api = nullptr;
  table.enable_driver_api = nullptr;
  if (s_functions.enable_runtime_api != nullptr)
    table.enable_runtime_api = with_subscriber<&Functions::enable_runtime_api>;
  if (s_functions.enable_driver_api != nullptr)
    table.enable_driver_api = with_subscriber<&Functions::enable_driver_api>;
  return lacks;
}

const char* first_subscriber() noexcept { return s_first_subscriber; }

CUptiResult try_subscriber_functions() noexcept {
  std::uint64_t now;
  const CUptiResult clock = with_subscriber<&Functions::get_timestamp>(&now);
  return clock != CUPTI_SUCCESS ? clock : set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
}

void choose_graph_level() noexcept {
  if (wants(trace::GraphLaunchRecord::kKind)) set(kGraphLevel, std::uint8_t{1});
  if (!wants(trace::GraphNodeRecord::kKind) || !are_graphs_told_whole()) return;
  say("another CUPTI subscriber records CUDA graphs as a whole: their nodes are not recorded; "
      "TRACETOOL_EVENTS=default,graph_launch records the graph launches");
}

bool others_record() noexcept {
  std::uint32_t count = 0;
  if (s_functions.get_enabled_kinds == nullptr) return true;
  return s_functions.get_enabled_kinds(nullptr, nullptr, nullptr, &count) != CUPTI_SUCCESS || count != 0;
}

}  // namespace agent
