#include "agent/cupti/kinds.h"

#include "agent/cupti/api_choice.h"
#include "agent/cupti/cupti_library.h"
#include "agent/message.h"
#include "agent/translate/translate.h"

namespace agent {
namespace {

std::string_view name_of(trace::RecordKind kind) { return trace::record_name(static_cast<std::uint8_t>(kind)); }

}  // namespace

int enable_kinds() noexcept {
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
  if (enabled == 0) return last;
  if (last != CUPTI_SUCCESS) say("CUPTI refuses some kinds of records; TRACETOOL_VERBOSE=1 names them");
  deny_runtime_noise();
  return CUPTI_SUCCESS;
}

void disable_kinds() noexcept {
  for (const TranslatorRow* row = kTranslators; row->translate != nullptr; ++row)
    cupti().activity_disable(row->activity);
}

void reduce_to_light() noexcept {
  cupti().activity_disable(CUPTI_ACTIVITY_KIND_RUNTIME);
  cupti().activity_disable(CUPTI_ACTIVITY_KIND_DRIVER);
}

}  // namespace agent
