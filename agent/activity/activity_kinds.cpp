#include "agent/activity/activity_kinds.h"

#include "agent/activity/canary.h"
#include "agent/base/agent_settings.h"
#include "agent/base/message.h"
#include "agent/cupti/api_choice.h"
#include "agent/cupti/cupti_library.h"
#include "agent/translate/translate.h"

namespace agent {
namespace {

constinit std::atomic<bool> s_light{false};  // the cost guard has reduced the events to light

EventSet wanted_now() {
  const EventSet events = settings().events;
  return s_light.load(std::memory_order_relaxed) ? light_part(events) : events;
}

bool is_resource(CUpti_ActivityKind kind) {
  return kind == CUPTI_ACTIVITY_KIND_CONTEXT || kind == CUPTI_ACTIVITY_KIND_STREAM;
}

CUptiResult enable(const Translator& translator) {
  if (translator.activity == CUPTI_ACTIVITY_KIND_DRIVER && choose_driver_calls()) return CUPTI_SUCCESS;
  const bool late = is_own_thread() && is_resource(translator.activity) && cupti().activity_enable_and_dump != nullptr;
  return (late ? cupti().activity_enable_and_dump : cupti().activity_enable)(translator.activity);
}

// PyTorch's kCudaTypes (torch/csrc/profiler/kineto_shim.cpp, 2026), limited to the kinds that the agent enables.
// Synchronizations are not among them: torch.profiler records them only on request (enable_cuda_sync_events).
bool is_torch_profilers_too(CUpti_ActivityKind kind) {
  return kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || kind == CUPTI_ACTIVITY_KIND_MEMCPY ||
         kind == CUPTI_ACTIVITY_KIND_MEMSET || kind == CUPTI_ACTIVITY_KIND_RUNTIME ||
         kind == CUPTI_ACTIVITY_KIND_DRIVER || kind == CUPTI_ACTIVITY_KIND_OVERHEAD;
}

}  // namespace

int enable_kinds() noexcept {
  learn_api_names();
  CUptiResult last = CUPTI_SUCCESS;
  int enabled = 0;
  for (const Translator* translator = kTranslators; translator->translate != nullptr; ++translator) {
    if (!has(wanted_now(), translator->record)) continue;
    const CUptiResult result = enable(*translator);
    enabled += result == CUPTI_SUCCESS;
    if (result == CUPTI_SUCCESS) continue;
    last = result;
    const std::string_view name = trace::record_name(static_cast<std::uint8_t>(translator->record));
    say_verbose("CUPTI does not provide %.*s records (%s): they are not recorded", static_cast<int>(name.size()),
                name.data(), cupti_result_name(result));
  }
  if (enabled == 0) return last;
  if (last != CUPTI_SUCCESS) say("CUPTI does not provide some kinds of records; TRACETOOL_VERBOSE=1 lists them");
  if (has(wanted_now(), trace::RuntimeRecord::kKind)) deny_runtime_noise();
  return CUPTI_SUCCESS;
}

void enable_kinds_again() noexcept {
  for (const Translator* translator = kTranslators; translator->translate != nullptr; ++translator) {
    if (has(wanted_now(), translator->record) && !is_resource(translator->activity)) enable(*translator);
  }
}

void disable_kinds() noexcept {
  for (const Translator* translator = kTranslators; translator->translate != nullptr; ++translator) {
    if (wants(translator->record)) cupti().activity_disable(translator->activity);
  }
}

void disable_kinds_of_ours() noexcept {
  for (const Translator* translator = kTranslators; translator->translate != nullptr; ++translator) {
    if (wants(translator->record) && !is_torch_profilers_too(translator->activity))
      cupti().activity_disable(translator->activity);
  }
}

void reduce_to_light() noexcept {
  s_light.store(true, std::memory_order_relaxed);
  for (const Translator* translator = kTranslators; translator->translate != nullptr; ++translator) {
    if (!wants(translator->record) || has(wanted_now(), translator->record)) continue;
    // For driver calls that were enabled one by one, disabling the kind would also disable the canary's call.
    if (translator->activity != CUPTI_ACTIVITY_KIND_DRIVER || !leave_driver_calls())
      cupti().activity_disable(translator->activity);
  }
}

}  // namespace agent
