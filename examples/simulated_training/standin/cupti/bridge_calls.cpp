#include "bridge_calls.h"

#include "../true_clock.h"
#include "buffers.h"
#include "external.h"
#include "records.h"
#include "replay.h"
#include "state.h"

namespace sim {
namespace {

bool anybody_calls_back(CUpti_CallbackDomain domain, std::uint32_t cbid) {
  bool any = false;
  each_client([&](const Client& each) { any |= callback_enabled(each, domain, cbid); });
  return any;
}

void call_back(CUpti_CallbackDomain domain, std::uint32_t cbid, const void* data) {
  const bool of_api = domain == CUPTI_CB_DOMAIN_DRIVER_API || domain == CUPTI_CB_DOMAIN_RUNTIME_API;
  const InsideClient inside(of_api ? Inside::api_callback : Inside::other_callback);
  each_client([&](const Client& each) {
    if (!each.is_subscribed || each.callback == nullptr || !callback_enabled(each, domain, cbid)) return;
    each.callback(each.user, domain, cbid, data);
  });
}

void api_callback(CallEvent& event, CUpti_ApiCallbackSite site) {
  const auto domain = static_cast<CUpti_CallbackDomain>(event.domain);
  if (!anybody_calls_back(domain, event.cbid)) return;
  CUpti_CallbackData data{};
  data.callbackSite = site;
  data.functionName = event.name;
  data.functionParams = event.params;
  data.functionReturnValue = site == CUPTI_API_EXIT ? &event.result : nullptr;
  data.symbolName = event.symbol;
  data.context = static_cast<CUcontext>(event.context);
  data.contextUid = event.context_id;
  data.correlationData = &event.callback_data;
  data.correlationId = event.correlation;
  call_back(domain, event.cbid, &data);
}

std::atomic<std::uint64_t> s_works{0}, s_bad{0}, s_zero{0};

bool every(std::uint64_t interval, std::atomic<std::uint64_t>& count) {
  return interval != 0 && ++count % interval == 0;
}

void emit_unknown() {
  Note note{};
  note.kind = NoteKind::unknown;
  note.start_ns = note.end_ns = true_ns();
  emit_to(told(), note);
}

bool is_wanted(const Client& client, const DeviceEvent& event) {
  if (event.graph_node != 0 && graphs_are_whole(client)) return false;
  return kind_enabled(client, kind_of(event));
}

void reserve_device(DeviceEvent& event) {
  event.fate = Fate::off;
  event.slot = nullptr;
  each_client([&](Client& each) {
    if (!is_wanted(each, event)) return;
    const Fate fate = admit(each);
    if (fate == Fate::emitted) reserve(each, kind_of(event), event);
    if (&each == &told()) {
      event.fate = fate;
      if (every(behaviour().unknown_every, s_works)) emit_unknown();
    } else {
      count_if_dropped(each, fate);
    }
  });
}

void tell_times(DeviceEvent& event) {
  if (event.fate != Fate::emitted) return;
  if (every(behaviour().bad_times, s_bad)) event.cupti_end_ns = event.cupti_start_ns - 1'000;
  if (every(behaviour().zero_times, s_zero)) event.cupti_start_ns = event.cupti_end_ns = 0;
}

void finish_device(const DeviceEvent& event) {
  count_if_dropped(told(), event.fate);
  finish(event);
}

void enter_call(CallEvent& event) { api_callback(event, CUPTI_API_ENTER); }

void exit_call(CallEvent& event) {
  api_callback(event, CUPTI_API_EXIT);
  emit_external(event.correlation);
  const bool wanted = api_enabled(told(), static_cast<CUpti_CallbackDomain>(event.domain), event.cbid);
  event.fate = wanted ? admit(told()) : Fate::off;
}

// For one of the clients: that which the truth is about has its fate already.
template <typename Event, typename Append>
void deliver(Client& client, const Event& event, bool wanted, const Append& append) {
  Fate fate = event.fate;
  if (&client != &told()) fate = wanted ? admit(client) : Fate::off;
  count_if_dropped(client, fate);
  if (fate == Fate::emitted) append();
}

void finish_call(const CallEvent& event) {
  const auto domain = static_cast<CUpti_CallbackDomain>(event.domain);
  each_client([&](Client& each) {
    deliver(each, event, api_enabled(each, domain, event.cbid), [&] { append(each, kind_of(event), event); });
  });
}

void resource(std::uint32_t cbid, void* context, void* stream) {
  if (!anybody_calls_back(CUPTI_CB_DOMAIN_RESOURCE, cbid)) return;
  CUpti_ResourceData data{};
  data.context = static_cast<CUcontext>(context);
  data.resourceHandle.stream = static_cast<CUstream>(stream);
  call_back(CUPTI_CB_DOMAIN_RESOURCE, cbid, &data);
}

void synchronized(std::uint32_t cbid, void* context, void* stream) {
  if (!anybody_calls_back(CUPTI_CB_DOMAIN_SYNCHRONIZE, cbid)) return;
  const CUpti_SynchronizeData data{static_cast<CUcontext>(context), static_cast<CUstream>(stream)};
  call_back(CUPTI_CB_DOMAIN_SYNCHRONIZE, cbid, &data);
}

// With a replay, contexts and streams are the report's.
bool is_wanted(const Client& client, const Note& note) {
  if (behaviour().replay != nullptr && note.seq < kFirstReplayed) return false;
  const bool unfinished = note.kind == NoteKind::sync && note.result == CUDA_ERROR_NOT_READY;
  return kind_enabled(client, kind_of(note)) && (!unfinished || client.all_sync.load(std::memory_order_relaxed));
}

void admit_note(Note& note) { note.fate = is_wanted(told(), note) ? admit(told()) : Fate::off; }

void finish_note(const Note& note) {
  each_client([&](Client& each) { deliver(each, note, is_wanted(each, note), [&] { append(each, note); }); });
}

std::uint64_t to_told(std::uint64_t true_ns) { return to_cupti(told(), true_ns); }

void graph(std::uint32_t cbid, void* context, const GraphEvent& event) {
  if (!anybody_calls_back(CUPTI_CB_DOMAIN_RESOURCE, cbid)) return;
  CUpti_GraphData described{};
  described.graph = static_cast<CUgraph>(event.graph);
  described.originalGraph = static_cast<CUgraph>(event.original_graph);
  described.node = static_cast<CUgraphNode>(event.node);
  described.originalNode = static_cast<CUgraphNode>(event.original_node);
  described.nodeType = static_cast<CUgraphNodeType>(event.node_type);
  described.dependency = static_cast<CUgraphNode>(event.dependency);
  described.graphExec = static_cast<CUgraphExec>(event.exec);
  CUpti_ResourceData data{};
  data.context = static_cast<CUcontext>(context);
  data.resourceDescriptor = &described;
  call_back(CUPTI_CB_DOMAIN_RESOURCE, cbid, &data);
}

// CUPTI says so while it still works, then answers nobody any more.
void fatal() {
#if CUPTI_API_VERSION >= 21  // CUDA 12.3
  if (anybody_calls_back(CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR)) {
    CUpti_StateData data{};
    data.notification.result = CUPTI_ERROR_UNKNOWN;
    data.notification.message = "an illegal memory access was encountered";
    call_back(CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR, &data);
  }
#endif
  die();
}

constexpr Bridge kBridge{to_told,   tell_times,  reserve_device, finish_device,  enter_call,
                         exit_call, finish_call, admit_note,     finish_note,    graph,
                         fatal,     resource,    synchronized,   begin_teardown, replay};

}  // namespace

const Bridge& bridge_calls() { return kBridge; }

}  // namespace sim
