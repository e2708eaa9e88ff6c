#include "external.h"

#include <utility>
#include <vector>

#include "../true_clock.h"
#include "buffers.h"
#include "state.h"

namespace sim {
namespace {

thread_local std::vector<std::uint64_t> t_pushed[CUPTI_EXTERNAL_CORRELATION_KIND_SIZE];

bool is_kind(CUpti_ExternalCorrelationKind kind) {
  return kind > CUPTI_EXTERNAL_CORRELATION_KIND_INVALID && kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE;
}

}  // namespace

void emit_external(std::uint32_t correlation) {
  thread_local std::uint32_t t_last = 0;  // a driver call inside a runtime call has its number
  if (std::exchange(t_last, correlation) == correlation) return;
  if (!kind_enabled(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)) return;
  for (std::uint32_t kind = 0; kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE; ++kind) {
    if (t_pushed[kind].empty()) continue;
    Note note{};
    note.kind = NoteKind::external_correlation;
    note.correlation = correlation;
    note.type = kind;
    note.external_id = t_pushed[kind].back();
    note.start_ns = note.end_ns = true_ns();
    emit(note);
  }
}

}  // namespace sim

using namespace sim;

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, std::uint64_t id) {
  SIM_NEED_DRIVER();
  if (!is_kind(kind)) return CUPTI_ERROR_INVALID_PARAMETER;
  t_pushed[kind].push_back(id);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind, std::uint64_t* last) {
  SIM_NEED_DRIVER();
  if (!is_kind(kind)) return CUPTI_ERROR_INVALID_PARAMETER;
  if (t_pushed[kind].empty()) return CUPTI_ERROR_QUEUE_EMPTY;
  if (last != nullptr) *last = t_pushed[kind].back();
  t_pushed[kind].pop_back();
  return CUPTI_SUCCESS;
}
