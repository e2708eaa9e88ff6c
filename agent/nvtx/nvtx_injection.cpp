// NVTX's door: the tables of functions that NVTX calls in every library that uses it. Own injection rather than
// CUPTI's: it works without CUPTI and without a GPU, on every thread, and carries NCCL's payloads.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <cwchar>

#include "agent/agent.h"
#include "agent/nccl/nccl.h"
#include "agent/nvtx/nvtx_events.h"
#include "agent/ring/recorder.h"

namespace agent {
namespace {

constinit std::atomic<std::uint64_t> s_next_range{1};

Domain* to_domain(nvtxDomainHandle_t handle) { return reinterpret_cast<Domain*>(handle); }
std::string_view text_of(const char* text) { return text != nullptr ? std::string_view(text) : std::string_view(); }

NvtxEvent plain(trace::RecordKind kind, const Domain* domain, std::string_view name) {
  NvtxEvent event;
  event.kind = kind;
  event.domain = domain;
  event.name = name;
  return event;
}

void emit(trace::RecordKind kind, const Domain* domain, std::string_view name, std::uint64_t range_id = 0) {
  const Guard guard;
  if (!guard) return;
  NvtxEvent event = plain(kind, domain, name);
  event.range_id = range_id;
  nvtx_event(guard, event);
}

bool is_nccl_call(const Guard& guard, trace::RecordKind kind, const Domain* domain, std::string_view name,
                  const nvtxEventAttributes_t* attributes) {
  if (kind != trace::RecordKind::nvtx_push || domain == nullptr || !domain->is_nccl) return false;
  const bool extended = attributes->payloadType == NVTX_PAYLOAD_TYPE_EXT && attributes->reserved0 >= 1;
  const auto* data = extended ? reinterpret_cast<const nvtxPayloadData_t*>(attributes->payload.ullValue) : nullptr;
  return record_nccl_call(guard, domain, name, data != nullptr ? data->payload : nullptr,
                          data != nullptr ? data->size : 0);
}

void emit_ex(trace::RecordKind kind, const Domain* domain, const nvtxEventAttributes_t* attributes,
             std::uint64_t range_id = 0) {
  const Guard guard;
  if (!guard || attributes == nullptr) return;
  char converted[kConverted];
  NvtxEvent event = plain(kind, domain, message_of(attributes, converted));
  if (is_nccl_call(guard, kind, domain, event.name, attributes)) return;
  if (attributes->colorType == NVTX_COLOR_ARGB) event.color_argb = attributes->color;
  event.category = attributes->category;
  event.range_id = range_id;
  nvtx_event(guard, event);
}

using trace::RecordKind;

int domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  emit_ex(RecordKind::nvtx_push, to_domain(domain), attributes);
  return NVTX_NO_PUSH_POP_TRACKING;
}
int domain_pop(nvtxDomainHandle_t domain) {
  emit(RecordKind::nvtx_pop, to_domain(domain), {});
  return NVTX_NO_PUSH_POP_TRACKING;
}
nvtxRangeId_t domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  const std::uint64_t id = s_next_range.fetch_add(1, std::memory_order_relaxed);
  emit_ex(RecordKind::nvtx_start, to_domain(domain), attributes, id);
  return id;
}
void domain_end(nvtxDomainHandle_t domain, nvtxRangeId_t id) { emit(RecordKind::nvtx_end, to_domain(domain), {}, id); }
void domain_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  emit_ex(RecordKind::nvtx_mark, to_domain(domain), attributes);
}

int push_ex(const nvtxEventAttributes_t* attributes) { return domain_push(nullptr, attributes); }
int push_a(const char* name) {
  emit(RecordKind::nvtx_push, nullptr, text_of(name));
  return NVTX_NO_PUSH_POP_TRACKING;
}
int push_w(const wchar_t* name) {
  char converted[kConverted];
  emit(RecordKind::nvtx_push, nullptr, narrow(name, converted));
  return NVTX_NO_PUSH_POP_TRACKING;
}
int pop() { return domain_pop(nullptr); }

nvtxRangeId_t start_ex(const nvtxEventAttributes_t* attributes) { return domain_start(nullptr, attributes); }
nvtxRangeId_t start_named(std::string_view name) {
  const std::uint64_t id = s_next_range.fetch_add(1, std::memory_order_relaxed);
  emit(RecordKind::nvtx_start, nullptr, name, id);
  return id;
}
nvtxRangeId_t start_a(const char* name) { return start_named(text_of(name)); }
nvtxRangeId_t start_w(const wchar_t* name) {
  char converted[kConverted];
  return start_named(narrow(name, converted));
}
void end(nvtxRangeId_t id) { domain_end(nullptr, id); }

void mark_ex(const nvtxEventAttributes_t* attributes) { domain_mark(nullptr, attributes); }
void mark_a(const char* name) { emit(RecordKind::nvtx_mark, nullptr, text_of(name)); }
void mark_w(const wchar_t* name) {
  char converted[kConverted];
  emit(RecordKind::nvtx_mark, nullptr, narrow(name, converted));
}

nvtxDomainHandle_t create_domain(std::string_view name) {
  return reinterpret_cast<nvtxDomainHandle_t>(make_domain(name));
}
nvtxDomainHandle_t domain_create_a(const char* name) { return create_domain(text_of(name)); }
nvtxDomainHandle_t domain_create_w(const wchar_t* name) {
  char converted[kConverted];
  return create_domain(narrow(name, converted));
}
nvtxStringHandle_t register_a(nvtxDomainHandle_t, const char* text) { return make_registered_string(text_of(text)); }
nvtxStringHandle_t register_w(nvtxDomainHandle_t, const wchar_t* text) {
  char converted[kConverted];
  return make_registered_string(narrow(text, converted));
}

int push_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t*, std::size_t) {
  emit(RecordKind::nvtx_push, to_domain(domain), {});
  return NVTX_NO_PUSH_POP_TRACKING;
}

int pop_payload(nvtxDomainHandle_t handle, const nvtxPayloadData_t* data, std::size_t count) {
  const Domain* domain = to_domain(handle);
  if (domain != nullptr && domain->is_nccl && data != nullptr && count > 0) {
    const Guard guard;
    if (guard) nccl_init_payload(guard, data->schemaId, data->payload, data->size);
  }
  return domain_pop(handle);
}

struct Hook {
  unsigned id;
  NvtxFunctionPointer function;
};

template <typename Function>
Hook hook(unsigned id, Function* function) {
  return {id, reinterpret_cast<NvtxFunctionPointer>(function)};
}

template <std::size_t Count>
bool install(const NvtxExportTableCallbacks* callbacks, NvtxCallbackModule module, const Hook (&hooks)[Count]) {
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks->GetModuleFunctionTable(module, &table, &size) == 0 || table == nullptr) return false;
  for (const Hook& each : hooks) {
    if (each.id < size && table[each.id] != nullptr) *table[each.id] = each.function;
  }
  return true;
}

bool install_all(const NvtxExportTableCallbacks* callbacks) {
  const Hook core[] = {
      hook(NVTX_CBID_CORE_MarkEx, mark_ex),      hook(NVTX_CBID_CORE_MarkA, mark_a),
      hook(NVTX_CBID_CORE_MarkW, mark_w),        hook(NVTX_CBID_CORE_RangeStartEx, start_ex),
      hook(NVTX_CBID_CORE_RangeStartA, start_a), hook(NVTX_CBID_CORE_RangeStartW, start_w),
      hook(NVTX_CBID_CORE_RangeEnd, end),        hook(NVTX_CBID_CORE_RangePushEx, push_ex),
      hook(NVTX_CBID_CORE_RangePushA, push_a),   hook(NVTX_CBID_CORE_RangePushW, push_w),
      hook(NVTX_CBID_CORE_RangePop, pop),
  };
  const Hook core2[] = {
      hook(NVTX_CBID_CORE2_DomainMarkEx, domain_mark),         hook(NVTX_CBID_CORE2_DomainRangeStartEx, domain_start),
      hook(NVTX_CBID_CORE2_DomainRangeEnd, domain_end),        hook(NVTX_CBID_CORE2_DomainRangePushEx, domain_push),
      hook(NVTX_CBID_CORE2_DomainRangePop, domain_pop),        hook(NVTX_CBID_CORE2_DomainCreateA, domain_create_a),
      hook(NVTX_CBID_CORE2_DomainCreateW, domain_create_w),    hook(NVTX_CBID_CORE2_DomainRegisterStringA, register_a),
      hook(NVTX_CBID_CORE2_DomainRegisterStringW, register_w),
  };
  return install(callbacks, NVTX_CB_MODULE_CORE, core) && install(callbacks, NVTX_CB_MODULE_CORE2, core2);
}

}  // namespace
}  // namespace agent

// Called once in every shared object that uses NVTX, at its first NVTX call, on any thread.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_export_table) {
  if (!agent::attach() || get_export_table == nullptr) return 0;
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  return callbacks != nullptr && agent::install_all(callbacks) ? 1 : 0;
}

// The payload extension: NCCL hands over rank and ranks with the pop of its init ranges.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  if (!agent::attach() || module == nullptr || module->moduleId != NVTX_EXT_PAYLOAD_MODULEID) return 0;
  if (module->segmentsCount == 0 || module->segments->slotCount <= NVTX3EXT_CBID_nvtxRangePopPayload) return 0;
  intptr_t* slots = module->segments->functionSlots;
  slots[NVTX3EXT_CBID_nvtxRangePushPayload] = reinterpret_cast<intptr_t>(&agent::push_payload);
  slots[NVTX3EXT_CBID_nvtxRangePopPayload] = reinterpret_cast<intptr_t>(&agent::pop_payload);
  return 1;
}
