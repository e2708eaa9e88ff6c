#include "agent/cupti/cupti_source.h"

#include <cstdio>

#include "agent/cupti/buffer_pool.h"
#include "agent/cupti/callbacks.h"
#include "agent/cupti/cupti_library.h"
#include "agent/cupti/delivery.h"
#include "agent/cupti/kinds.h"
#include "agent/message.h"
#include "agent/ring/recorder.h"

namespace agent {
namespace {

constinit CUpti_SubscriberHandle s_subscriber = nullptr;
constinit std::atomic<trace::SourceState> s_state{trace::SourceState::off};
constinit std::atomic<int> s_error{0};

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

bool subscribe() {
  if (failed(cupti().subscribe(&s_subscriber, on_cupti_callback, nullptr), "cuptiSubscribe")) return false;
  return !failed(enable_callbacks(s_subscriber), "cuptiEnableCallback");
}

// Leaves CUPTI to others.
bool let_go() {
  disable_kinds();
  if (s_subscriber != nullptr) cupti().unsubscribe(s_subscriber);
  return false;
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
  const CUptiResult registered = cupti().register_callbacks(on_buffer_requested, on_buffer_completed);
  if (failed(registered, "cuptiActivityRegisterCallbacks")) return let_go();
  if (failed(static_cast<CUptiResult>(enable_kinds()), "cuptiActivityEnable")) return let_go();
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
