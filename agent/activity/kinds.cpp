#include "agent/activity/kinds.h"

#include "agent/activity/own_calls.h"
#include "agent/base/message.h"
#include "agent/base/settings.h"
#include "agent/cupti/api_choice.h"
#include "agent/cupti/api_names.h"
#include "agent/cupti/cupti_library.h"
#include "agent/translate/translate.h"

namespace agent {
namespace {

constinit std::atomic<bool> s_light{false};  // the cost guard has reduced the events to light

EventSet wanted_now() {
  const EventSet events = settings().events;
  return s_light.load(std::memory_order_relaxed) ? light_part(events) : events;
}

std::string_view name_of(trace::RecordKind kind) { return trace::record_name(static_cast<std::uint8_t>(kind)); }

bool is_resource(CUpti_ActivityKind kind) {
  return kind == CUPTI_ACTIVITY_KIND_CONTEXT || kind == CUPTI_ACTIVITY_KIND_STREAM;
}

CUptiResult enable(const TranslatorRow& row) {
  if (row.activity == CUPTI_ACTIVITY_KIND_DRIVER && choose_driver_calls()) return CUPTI_SUCCESS;
  const bool late = is_own_thread() && is_resource(row.activity) && cupti().activity_enable_and_dump != nullptr;
  return (late ? cupti().activity_enable_and_dump : cupti().activity_enable)(row.activity);
}

// Driver calls that were enabled one by one: disabling the kind would take the canary's call along.
void disable(const TranslatorRow& row) {
  if (row.activity == CUPTI_ACTIVITY_KIND_DRIVER && leave_driver_calls()) return;
  cupti().activity_disable(row.activity);
}

// PyTorch's kCudaTypes (torch/csrc/profiler/kineto_shim.cpp, 2026), of those that we enable. Synchronizations are not
// among them: torch.profiler has them where it is asked for (enable_cuda_sync_events).
bool is_torch_profilers_too(CUpti_ActivityKind kind) {
  return kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || kind == CUPTI_ACTIVITY_KIND_MEMCPY ||
         kind == CUPTI_ACTIVITY_KIND_MEMSET || kind == CUPTI_ACTIVITY_KIND_RUNTIME ||
         kind == CUPTI_ACTIVITY_KIND_DRIVER || kind == CUPTI_ACTIVITY_KIND_OVERHEAD;
}

void say_refused(const TranslatorRow& row, CUptiResult result) {
  const std::string_view name = name_of(row.record);
  say_verbose("CUPTI refuses %.*s records (%s): they are not recorded", static_cast<int>(name.size()), name.data(),
              cupti_result_name(result));
}

}  // namespace

int enable_kinds() noexcept {
  learn_api_names();
  CUptiResult last = CUPTI_SUCCESS;
  int enabled = 0;
  for (const TranslatorRow* row = kTranslators; row->translate != nullptr; ++row) {
    if (!has(wanted_now(), row->record)) continue;
    const CUptiResult result = enable(*row);
    enabled += result == CUPTI_SUCCESS;
    if (result == CUPTI_SUCCESS) continue;
    last = result;
    say_refused(*row, result);
  }
  if (enabled == 0) return last;
  if (last != CUPTI_SUCCESS) say("CUPTI refuses some kinds of records; TRACETOOL_VERBOSE=1 names them");
  if (has(wanted_now(), trace::RuntimeRecord::kKind)) deny_runtime_noise();
  return CUPTI_SUCCESS;
}

void enable_kinds_again() noexcept {
  for (const TranslatorRow* row = kTranslators; row->translate != nullptr; ++row) {
    if (has(wanted_now(), row->record) && !is_resource(row->activity)) enable(*row);
  }
}

void disable_kinds() noexcept {
  for (const TranslatorRow* row = kTranslators; row->translate != nullptr; ++row) {
    if (wants(row->record)) cupti().activity_disable(row->activity);
  }
}

void disable_kinds_of_ours() noexcept {
  for (const TranslatorRow* row = kTranslators; row->translate != nullptr; ++row) {
    if (wants(row->record) && !is_torch_profilers_too(row->activity)) cupti().activity_disable(row->activity);
  }
}

void reduce_to_light() noexcept {
  s_light.store(true, std::memory_order_relaxed);
  for (const TranslatorRow* row = kTranslators; row->translate != nullptr; ++row) {
    if (wants(row->record) && !has(wanted_now(), row->record)) disable(*row);
  }
}

}  // namespace agent
