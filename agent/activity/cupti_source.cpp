#include "agent/activity/cupti_source.h"

#include <cstdio>
#include <utility>

#include "agent/activity/activity_kinds.h"
#include "agent/activity/canary.h"
#include "agent/activity/delivery.h"
#include "agent/activity/other_subscribers.h"
#include "agent/activity/watch.h"
#include "agent/base/agent_settings.h"
#include "agent/base/life.h"
#include "agent/base/message.h"
#include "agent/clocks/clocks.h"
#include "agent/cupti/api_choice.h"
#include "agent/cupti/cupti_library.h"
#include "agent/cupti/graph_nodes.h"
#include "agent/cupti/subscriber_functions.h"
#include "agent/native/call_stacks.h"
#include "agent/nvtx/nvtx_names.h"
#include "agent/ring/recorder.h"

namespace agent {
namespace {

constexpr std::size_t kFirstBuffers = (2 << 20) / kBufferBytes;

constinit CUpti_SubscriberHandle s_subscriber = nullptr;
constinit std::atomic<trace::SourceState> s_state{trace::SourceState::off};
constinit std::atomic<int> s_error{0};
constinit std::atomic<bool> s_left{false};
constinit bool s_per_thread = false;
constinit bool s_canary = false;
constinit char s_current_subscriber[64] = "";

// The reason why CUPTI was not available at the last try.
struct Refusal {
  const char* what;
  CUptiResult result;
};
constinit Refusal s_refusal{};

bool refused(CUptiResult result, const char* what) {
  if (result == CUPTI_SUCCESS) return false;
  s_refusal = {what, result};
  return true;
}

bool fail() {
  const CUptiResult result = s_refusal.result;
  // If the driver finds no device, cuptiSubscribe returns the first of these in CUPTI 12 and the second in CUPTI 13.
  const bool as_without_gpu = result == CUPTI_ERROR_NOT_INITIALIZED || result == CUPTI_ERROR_UNKNOWN;
  s_error.store(result);
  s_state.store(trace::SourceState::failed);
  say("CUPTI: %s failed with %s (%d)%s: only NVTX and NCCL are recorded, not GPU work", s_refusal.what,
      cupti_result_name(result), static_cast<int>(result), as_without_gpu ? ", as on machines without a GPU" : "");
  return false;
}

// Leaves CUPTI to others.
bool release_cupti() {
  disable_kinds();
  if (s_subscriber != nullptr) cupti().unsubscribe(s_subscriber);
  s_subscriber = nullptr;
  return false;
}

bool note_taken() {
  const bool named = s_current_subscriber[0] != '\0';
  if (!named) name_current_subscriber(s_current_subscriber, sizeof(s_current_subscriber));
  s_error.store(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  // Last, because our thread may try from now on, and this thread must no longer use CUPTI
  s_state.store(trace::SourceState::taken);
  if (named) return false;
  say("CUPTI is in use by %s: only NVTX and NCCL are recorded until it is released; run without that tool to "
      "record GPU work",
      s_current_subscriber);
  return false;
}

void on_resource(CUpti_CallbackId id) {
  if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
    static constinit std::atomic<bool> s_any{false};
    const Guard guard;
    if (guard && begin_recording(guard) && !s_any.exchange(true)) exit_before_driver();
  }
  // Requests an early collection of CUPTI's records, in case the process ends without an exit. They are not collected
  // here: cupti_activity.h forbids cuptiActivityFlushAll in callbacks other than those of API calls.
  if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) wake_flusher();
}

// CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR and CUpti_StateData of CUDA 12.2; older headers lack them.
constexpr auto kStateDomain = static_cast<CUpti_CallbackDomain>(6);
constexpr CUpti_CallbackId kFatalError = 1;
struct StateData {
  CUptiResult result;
  const char* message;
};

// CUPTI has shut itself down after a permanent error.
void on_cupti_fatal(const Guard& guard, const StateData& state) {
  s_error.store(state.result);
  s_state.store(trace::SourceState::failed);
  const char* text = state.message != nullptr ? state.message : cupti_result_name(state.result);
  write_notice(guard, trace::NoticeCode::fatal, static_cast<std::uint32_t>(state.result), text);
  describe_cupti();
  say("CUPTI stopped after a GPU error (%s): GPU work is not recorded from now on", text);
}

// The only callback function.
void CUPTIAPI on_cupti_callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if ((domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API) && data != nullptr)
    return on_call(domain, id, *static_cast<const CUpti_CallbackData*>(data));
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) on_resource(id);
  if (domain == CUPTI_CB_DOMAIN_RESOURCE && data != nullptr)
    on_graph_callback(id, *static_cast<const CUpti_ResourceData*>(data));
  if (domain != kStateDomain || id != kFatalError || data == nullptr) return;
  const Guard guard;
  if (guard) on_cupti_fatal(guard, *static_cast<const StateData*>(data));
}

// Enables the callbacks that on_cupti_callback() needs: the few events in a process's life that are needed, and calls
// with TRACETOOL_NATIVE_STACKS. Returns the first result other than CUPTI_SUCCESS of the indispensable ones.
CUptiResult enable_callbacks(CUpti_SubscriberHandle subscriber) {
  for (const CUpti_CallbackId id :
       {CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING}) {
    const CUptiResult result = cupti().enable_callback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, id);
    if (result != CUPTI_SUCCESS) return result;
  }
  cupti().enable_callback(1, subscriber, kStateDomain, kFatalError);
  enable_graph_callbacks(subscriber);
  enable_stack_callbacks(subscriber);
  return CUPTI_SUCCESS;
}

bool subscribe() {
  if (refused(cupti().subscribe(&s_subscriber, on_cupti_callback, nullptr), "cuptiSubscribe")) {
    s_subscriber = nullptr;
    return false;
  }
  return !refused(enable_callbacks(s_subscriber), "cuptiEnableCallback") || release_cupti();
}

// A buffer for each thread costs the application less, and the canary is then delivered independently. 12.3 to 12.9
// share one buffer by default; older versions lack the attribute. Called before the registration. If there are other
// subscribers it is not changed, because the headers do not define whether it applies to all of them.
bool ask_for_buffers_per_thread() {
  constexpr auto kPerThread =
      static_cast<CUpti_ActivityAttribute>(9);  // CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER
  std::uint8_t on = 1;
  std::size_t size = sizeof(on);
  if (!cupti().is_shared) cupti().set_attribute(kPerThread, &size, &on);
  on = 0;
  return cupti().get_attribute != nullptr && cupti().get_attribute(kPerThread, &size, &on) == CUPTI_SUCCESS && on != 0;
}

// Uses the current function table.
bool try_to_take() {
  if (!subscribe()) return false;
  // Without the version the fields of records are unknown.
  if (refused(ask_cupti_version(), "cuptiGetVersion")) return release_cupti();
  if (cupti().is_shared) {
    // Fails if this subscriber cannot have the settings of the process.
    if (refused(try_subscriber_functions(), "cuptiGetTimestamp_v2 or the type of thread ids")) return release_cupti();
    choose_graph_level();
  }
  cupti().set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  s_per_thread = ask_for_buffers_per_thread();
  open_buffer_pool(kFirstBuffers);
  leave_out_queries();
  remember_threads();
  const CUptiResult registered = cupti().register_callbacks(on_buffer_requested, on_buffer_completed);
  if (refused(registered, "cuptiActivityRegisterCallbacks") ||
      refused(static_cast<CUptiResult>(enable_kinds()), "cuptiActivityEnable"))
    return release_cupti();
  s_canary = enable_canary();
  find_new_threads();
  return true;
}

// Subscribes as one of several, if this CUPTI and its driver support it.
bool try_to_share() {
  if (const char* lacking = use_cupti_version(2)) return !refused(CUPTI_ERROR_API_NOT_IMPLEMENTED, lacking);
  if (try_to_take()) return true;
  use_cupti_version(1);
  return false;
}

// Reported once, and only if sharing was refused but not the subscription.
void say_not_shared(const Refusal& why) {
  static constinit bool s_said = false;
  if (std::exchange(s_said, true)) return;
  say("TRACETOOL_COEXIST=share needs CUPTI 13.3, driver r610 and a CUPTI that is not yet in use (%s: %s, %d): "
      "using TRACETOOL_COEXIST=yield",
      why.what, cupti_result_name(why.result), static_cast<int>(why.result));
}

bool take() {
  const bool share = settings().coexist == trace::Coexist::share;
  const bool shared = share && try_to_share();
  const Refusal why = s_refusal;
  if (!shared && !try_to_take())
    return s_refusal.result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED ? note_taken() : fail();
  if (share && !shared) say_not_shared(why);
  if (shared) warn_torch_profiler();
  s_error.store(0);
  s_current_subscriber[0] = '\0';
  s_state.store(trace::SourceState::on);
  say_verbose("CUPTI %u from %s%s", cupti().version, cupti().path, shared ? ", shared with other subscribers" : "");
  return true;
}

// While another user has the buffers, incomplete records in them are not collected. Neither are they if there are other
// subscribers, because cuptiActivityFlushAll affects all subscribers. Whether there are others is known only when ours
// requests nothing any more.
bool may_take_unfinished() {
  if (cupti_is_yielded()) return false;
  if (!cupti().is_shared) return true;
  disable_kinds();
  disable_canary();
  return !others_record();
}

bool read_clock(std::uint64_t& cupti_ns) {
  return cupti().get_timestamp != nullptr && !has_left_cupti() && cupti().get_timestamp(&cupti_ns) == CUPTI_SUCCESS;
}

bool number_stream(std::uint64_t handle, std::uint32_t& id) {
  const auto ask = cupti().get_stream_id_ex;
  auto* stream = reinterpret_cast<CUstream>(handle);
  return cupti_is_on() && ask != nullptr && ask(nullptr, stream, 0, &id) == CUPTI_SUCCESS;
}

// Includes the kinds that others request.
bool load() {
  if (!load_cupti()) return false;
  set_cupti_clock(read_clock);
  set_stream_numbers(number_stream);
  return true;
}

}  // namespace

void start_cupti(const Guard&) noexcept {
  if (load()) {
    take();
  } else {
    s_state.store(trace::SourceState::failed);
  }
}

void start_cupti_late() noexcept { s_state.store(load() ? trace::SourceState::taken : trace::SourceState::failed); }

bool retry_cupti() noexcept {
  const bool was_in_use = s_current_subscriber[0] != '\0';
  const bool taken = take();
  const Guard guard;
  if (taken && guard && begin_recording(guard)) exit_before_driver();
  describe_cupti();
  if (!taken || !was_in_use) return taken;
  write_notice(guard, trace::NoticeCode::source_on, 0, "CUPTI was in use by another tool and has been released");
  say("CUPTI has been released: GPU work is recorded from now on");
  return true;
}

bool retake_cupti() noexcept {
  if (cupti().is_shared) {
    if (enable_callbacks(s_subscriber) != CUPTI_SUCCESS) {
      // Buffers of a subscriber are registered permanently. The subscription no longer exists if CUPTI was shut down.
      forget_held_buffers();
      return try_to_take();
    }
  } else if (cupti().register_callbacks(on_buffer_requested, on_buffer_completed) != CUPTI_SUCCESS) {
    return false;
  }
  enable_canary();
  return enable_kinds() == CUPTI_SUCCESS;
}

bool cupti_is_on() noexcept { return s_state.load() == trace::SourceState::on && !has_left_cupti(); }
bool cupti_is_taken() noexcept { return s_state.load() == trace::SourceState::taken && !has_left_cupti(); }
void leave_cupti() noexcept { s_left.store(true); }
bool has_left_cupti() noexcept { return s_left.load(); }

bool cupti_failed() noexcept {
  const trace::SourceState state = s_state.load();
  return state == trace::SourceState::failed || state == trace::SourceState::taken;
}

bool has_buffer_per_thread() noexcept { return s_per_thread; }
bool canary_is_enabled() noexcept { return s_canary; }

void flush_cupti(bool forced) noexcept {
  if (!cupti_is_on() || (cupti_is_yielded() && !forced)) return;
  cupti().flush_all(forced && may_take_unfinished() ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
  count_dropped(nullptr, 0);
}

void describe_cupti() noexcept {
  if (recording() != Recording::open) return;
  trace::FileHeader& header = *ring().header;
  snprintf(header.events, sizeof(header.events), "%s", asked_events());
  header.cupti_version = cupti().version;
  snprintf(header.cupti_path, sizeof(header.cupti_path), "%.255s", cupti().path);
  snprintf(header.cupti_holder, sizeof(header.cupti_holder), "%s", s_current_subscriber);
  header.cupti_error = s_error.load();
  header.cupti_state = static_cast<std::uint32_t>(s_state.load());
}

}  // namespace agent
