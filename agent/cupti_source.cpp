#include "agent/cupti_source.h"

#include <cerrno>
#include <cstdio>

#include "agent/agent.h"
#include "agent/api_choice.h"
#include "agent/buffer_pool.h"
#include "agent/cupti_library.h"
#include "agent/message.h"
#include "agent/recorder.h"
#include "agent/translate.h"

namespace agent {
namespace {

constinit CUpti_SubscriberHandle s_subscriber = nullptr;
constinit std::atomic<trace::SourceState> s_state{trace::SourceState::off};
constinit std::atomic<int> s_error{0};
constinit Spinlock s_translating{};
constinit Translation s_translation{};
constinit bool s_we_zero = false;  // CUPTI leaves the zeroing of buffers to us

bool failed(CUptiResult result, const char* what) {
  if (result == CUPTI_SUCCESS) return false;
  s_error.store(result);
  const bool taken = result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  s_state.store(taken ? trace::SourceState::taken : trace::SourceState::failed);
  if (taken) {
    say("another tool holds CUPTI (nsys, ncu or a profiler in this process): GPU work is not recorded, NVTX and NCCL "
        "are; run without that tool to record both");
  } else {
    say("CUPTI: %s failed with %s (%d): GPU work is not recorded, NVTX and NCCL are", what, cupti_result_name(result),
        static_cast<int>(result));
  }
  return true;
}

void CUPTIAPI on_request(std::uint8_t** buffer, std::size_t* size, std::size_t* max_records) {
  const int before = errno;
  *buffer = take_buffer();
  errno = before;
  *size = kBufferBytes;
  *max_records = 0;
}

// Records that came when nothing can be written any more.
void count_buffer_lost(std::uint8_t* buffer, std::size_t valid) {
  CUpti_Activity* activity = nullptr;
  while (cupti().get_next_record(buffer, valid, &activity) == CUPTI_SUCCESS) {
    for (const TranslatorRow* row = kTranslators; row->translate != nullptr; ++row) {
      if (row->activity == activity->kind) count_lost(row->record);
    }
  }
}

// A buffer's way into the ring. The lock is held over CUPTI's iterator only, which takes no lock of its own.
void translate_buffer(std::uint8_t* buffer, std::size_t valid) {
  const Locked locked(s_translating);
  if (!s_translation.begin()) return count_buffer_lost(buffer, valid);
  CUpti_Activity* activity = nullptr;
  while (cupti().get_next_record(buffer, valid, &activity) == CUPTI_SUCCESS) s_translation.record(activity);
  s_translation.end();
}

void CUPTIAPI on_complete(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                          std::size_t valid) {
  if (buffer == nullptr) return;
  const Guard guard;
  if (guard && open_recording(guard)) {
    translate_buffer(buffer, valid);
  } else if (guard && recording() == Recording::closed) {
    count_buffer_lost(buffer, valid);
  }
  give_back_buffer(buffer, s_we_zero ? kBufferBytes : valid);
  // Not under the lock: CUPTI may hold one of its own that a buffer callback waits for.
  std::size_t dropped = 0;
  if (guard && recording() == Recording::open && cupti().get_dropped(context, stream, &dropped) == CUPTI_SUCCESS) {
    trace::SharedMemory::add(ring().header->cupti_dropped, dropped);
  }
}

void CUPTIAPI on_callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void*) {
  if (domain != CUPTI_CB_DOMAIN_RESOURCE) return;
  if (id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) {
    const Guard guard;
    if (guard) begin_recording(guard);
  }
  // Outside a Guard: the buffers come back on this thread and enter one themselves.
  if (id == CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING) flush_cupti(false);
}

// Leaves the zeroing of buffers to our thread; CUPTI would do it in the application's.
void take_over_zeroing() {
  std::uint8_t on = 1;
  std::size_t size = sizeof(on);
  s_we_zero = cupti().set_attribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &on) == CUPTI_SUCCESS;
}

bool subscribe() {
  if (failed(cupti().subscribe(&s_subscriber, on_callback, nullptr), "cuptiSubscribe")) return false;
  for (const CUpti_CallbackId id :
       {CUPTI_CBID_RESOURCE_CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING}) {
    const CUptiResult result = cupti().enable_callback(1, s_subscriber, CUPTI_CB_DOMAIN_RESOURCE, id);
    if (failed(result, "cuptiEnableCallback")) return false;
  }
  return true;
}

std::string_view name_of(trace::RecordKind kind) { return trace::record_name(static_cast<std::uint8_t>(kind)); }

// Leaves CUPTI to others.
bool let_go() {
  for (const TranslatorRow* row = kTranslators; row->translate != nullptr; ++row)
    cupti().activity_disable(row->activity);
  if (s_subscriber != nullptr) cupti().unsubscribe(s_subscriber);
  return false;
}

// A kind that this device or library refuses is said and left out. False: none could be enabled.
bool enable_kinds() {
  CUptiResult last = CUPTI_SUCCESS;
  int enabled = 0;
  for (const TranslatorRow* row = kTranslators; row->translate != nullptr; ++row) {
    const bool by_call = row->activity == CUPTI_ACTIVITY_KIND_DRIVER && choose_driver_calls();
    const CUptiResult result = by_call ? CUPTI_SUCCESS : cupti().activity_enable(row->activity);
    enabled += result == CUPTI_SUCCESS;
    if (result == CUPTI_SUCCESS) continue;
    last = result;
    say_verbose("CUPTI refuses %.*s records (%s): they are not recorded", static_cast<int>(name_of(row->record).size()),
                name_of(row->record).data(), cupti_result_name(result));
  }
  if (enabled == 0) return !failed(last, "cuptiActivityEnable");
  if (last != CUPTI_SUCCESS) say("CUPTI refuses some kinds of records; TRACETOOL_VERBOSE=1 names them");
  deny_runtime_noise();
  return true;
}

}  // namespace

bool start_cupti(const Guard&) noexcept {
  if (!load_cupti()) {
    s_state.store(trace::SourceState::failed);
    return false;
  }
  if (!subscribe()) return let_go();
  cupti().set_thread_id_type(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  take_over_zeroing();
  keep_spare_buffers(4);
  if (failed(cupti().register_callbacks(on_request, on_complete), "cuptiActivityRegisterCallbacks")) return let_go();
  if (!enable_kinds()) return let_go();
  s_state.store(trace::SourceState::on);
  say_verbose("CUPTI %u from %s", cupti().version, cupti().path);
  return true;
}

bool cupti_is_on() noexcept { return s_state.load() == trace::SourceState::on; }

bool cupti_failed() noexcept {
  const trace::SourceState state = s_state.load();
  return state == trace::SourceState::failed || state == trace::SourceState::taken;
}

void flush_cupti(bool forced) noexcept {
  if (cupti_is_on()) cupti().flush_all(forced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
}

void describe_cupti() noexcept {
  trace::FileHeader& header = *ring().header;
  header.cupti_version = cupti().version;
  snprintf(header.cupti_path, sizeof(header.cupti_path), "%s", cupti().path);
  header.cupti_error = s_error.load();
  header.cupti_state = static_cast<std::uint32_t>(s_state.load());
}

}  // namespace agent
