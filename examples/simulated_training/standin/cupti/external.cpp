#include "external.h"

#include <utility>
#include <vector>

#include "../true_clock.h"
#include "buffers.h"
#include "state.h"

namespace sim {
namespace {

struct Pushed {
  std::vector<std::uint64_t> of_kind[CUPTI_EXTERNAL_CORRELATION_KIND_SIZE];
};

// By the number of the client.
std::vector<std::uint64_t>& pushed(std::size_t client, std::uint32_t kind) {
  thread_local std::vector<Pushed> t_pushed;
  if (t_pushed.size() <= client) t_pushed.resize(client + 1);
  return t_pushed[client].of_kind[kind];
}

bool is_kind(CUpti_ExternalCorrelationKind kind) {
  return kind > CUPTI_EXTERNAL_CORRELATION_KIND_INVALID && kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE;
}

void emit_for(Client& client, std::uint32_t correlation) {
  if (!kind_enabled(client, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)) return;
  for (std::uint32_t kind = 0; kind < CUPTI_EXTERNAL_CORRELATION_KIND_SIZE; ++kind) {
    if (pushed(client.number, kind).empty()) continue;
    Note note{};
    note.kind = NoteKind::external_correlation;
    note.correlation = correlation;
    note.type = kind;
    note.external_id = pushed(client.number, kind).back();
    note.start_ns = note.end_ns = true_ns();
    emit_to(client, note);
  }
}

}  // namespace

void emit_external(std::uint32_t correlation) {
  thread_local std::uint32_t t_last = 0;  // a driver call inside a runtime call has its number
  if (std::exchange(t_last, correlation) == correlation) return;
  each_client([&](Client& each) { emit_for(each, correlation); });
}

CUptiResult push_external(const Client& client, CUpti_ExternalCorrelationKind kind, std::uint64_t id) {
  if (!is_kind(kind)) return CUPTI_ERROR_INVALID_PARAMETER;
  pushed(client.number, kind).push_back(id);
  return CUPTI_SUCCESS;
}

CUptiResult pop_external(const Client& client, CUpti_ExternalCorrelationKind kind, std::uint64_t* last) {
  if (!is_kind(kind)) return CUPTI_ERROR_INVALID_PARAMETER;
  std::vector<std::uint64_t>& ids = pushed(client.number, kind);
  if (ids.empty()) return CUPTI_ERROR_QUEUE_EMPTY;
  if (last != nullptr) *last = ids.back();
  ids.pop_back();
  return CUPTI_SUCCESS;
}

}  // namespace sim

using namespace sim;

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, std::uint64_t id) {
  SIM_NEED_DRIVER();
  SIM_NEED_VERSION_1(true);
  return push_external(process_client(), kind, id);
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind, std::uint64_t* last) {
  SIM_NEED_DRIVER();
  SIM_NEED_VERSION_1(true);
  return pop_external(process_client(), kind, last);
}
