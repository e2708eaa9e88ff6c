// Ranges and marks, as NVTX calls them.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "agent/hooks/nvtx_hooks.h"
#include "agent/nccl/nccl.h"

namespace agent {
namespace {

using trace::RecordKind;

constinit std::atomic<std::uint64_t> s_next_range{1};

std::uint64_t new_range() { return s_next_range.fetch_add(1, std::memory_order_relaxed); }

void emit(RecordKind kind, const Domain* domain, std::string_view name, std::uint64_t range_id = 0) {
  const Guard guard;
  if (!guard) return;
  NvtxEvent event;
  event.kind = kind;
  event.domain = domain;
  event.name = name;
  event.range_id = range_id;
  nvtx_event(guard, event);
}

// Copies the description of the first payload. A payload that cannot be read counts as none. Payloads of NCCL have at most 36 bytes.
bool read_payload(const nvtxPayloadData_t* given, nvtxPayloadData_t& data) {
  constexpr std::size_t kLongest = 36;
  if (given == nullptr || !read_guarded(given, data)) return false;
  if (data.payload != nullptr && was_readable(data.payload, std::min<std::size_t>(data.size, kLongest))) return true;
  data.payload = nullptr;
  return false;
}

// The value's own bytes; those beyond a 32-bit value are whatever lay there.
void take_payload(NvtxEvent& event, const nvtxEventAttributes_t& attributes) {
  const std::int32_t type = attributes.payloadType;
  if (type < NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 || type > NVTX_PAYLOAD_TYPE_FLOAT) return;
  event.payload_type = static_cast<std::uint8_t>(type);
  std::memcpy(&event.payload, &attributes.payload, type <= NVTX_PAYLOAD_TYPE_DOUBLE ? 8 : 4);
}

bool is_nccl_call(const Guard& guard, const Domain* domain, std::string_view name,
                  const nvtxEventAttributes_t& attributes) {
  if (domain == nullptr || !domain->is_nccl) return false;
  const bool extended = attributes.payloadType == NVTX_PAYLOAD_TYPE_EXT && attributes.reserved0 >= 1;
  const auto* given = extended ? reinterpret_cast<const nvtxPayloadData_t*>(attributes.payload.ullValue) : nullptr;
  nvtxPayloadData_t data;
  if (!read_payload(given, data)) return nccl_push(guard, domain, name, nullptr, 0);
  return nccl_push(guard, domain, name, data.payload, data.size);
}

void emit_ex(RecordKind kind, const Domain* domain, const nvtxEventAttributes_t* given, std::uint64_t range_id = 0) {
  const Guard guard;
  nvtxEventAttributes_t attributes;
  if (!guard || !read_attributes(given, attributes)) return;
  char converted[kConverted];
  NvtxEvent event;
  event.kind = kind;
  event.domain = domain;
  event.name = message_of(attributes.messageType, attributes.message, converted);
  if (kind == trace::NvtxPushRecord::kKind && is_nccl_call(guard, domain, event.name, attributes)) return;
  if (attributes.colorType == NVTX_COLOR_ARGB) event.color_argb = attributes.color;
  event.category = attributes.category;
  event.range_id = range_id;
  take_payload(event, attributes);
  nvtx_event(guard, event);
}

int domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  emit_ex(trace::NvtxPushRecord::kKind, domain_of(domain), attributes);
  return NVTX_NO_PUSH_POP_TRACKING;
}
int domain_pop(nvtxDomainHandle_t domain) {
  emit(trace::NvtxPopRecord::kKind, domain_of(domain), {});
  return NVTX_NO_PUSH_POP_TRACKING;
}
nvtxRangeId_t domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  const std::uint64_t id = new_range();
  emit_ex(trace::NvtxStartRecord::kKind, domain_of(domain), attributes, id);
  return id;
}
void domain_end(nvtxDomainHandle_t domain, nvtxRangeId_t id) { emit(trace::NvtxEndRecord::kKind, domain_of(domain), {}, id); }
void domain_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  emit_ex(trace::NvtxMarkRecord::kKind, domain_of(domain), attributes);
}

int push_ex(const nvtxEventAttributes_t* attributes) { return domain_push(nullptr, attributes); }
int push_a(const char* name) {
  emit(trace::NvtxPushRecord::kKind, nullptr, text_of(name));
  return NVTX_NO_PUSH_POP_TRACKING;
}
int push_w(const wchar_t* name) {
  char converted[kConverted];
  emit(trace::NvtxPushRecord::kKind, nullptr, narrow(name, converted));
  return NVTX_NO_PUSH_POP_TRACKING;
}
int pop() { return domain_pop(nullptr); }

nvtxRangeId_t start_ex(const nvtxEventAttributes_t* attributes) { return domain_start(nullptr, attributes); }
nvtxRangeId_t start_named(std::string_view name) {
  const std::uint64_t id = new_range();
  emit(trace::NvtxStartRecord::kKind, nullptr, name, id);
  return id;
}
nvtxRangeId_t start_a(const char* name) { return start_named(text_of(name)); }
nvtxRangeId_t start_w(const wchar_t* name) {
  char converted[kConverted];
  return start_named(narrow(name, converted));
}
void end(nvtxRangeId_t id) { domain_end(nullptr, id); }

void mark_ex(const nvtxEventAttributes_t* attributes) { domain_mark(nullptr, attributes); }
void mark_a(const char* name) { emit(trace::NvtxMarkRecord::kKind, nullptr, text_of(name)); }
void mark_w(const wchar_t* name) {
  char converted[kConverted];
  emit(trace::NvtxMarkRecord::kKind, nullptr, narrow(name, converted));
}

}  // namespace

// Extended payloads are not kept: the range is.
int push_with_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t*, std::size_t) {
  emit(trace::NvtxPushRecord::kKind, domain_of(domain), {});
  return NVTX_NO_PUSH_POP_TRACKING;
}

// NCCL says with the end of its init ranges what it has made.
int pop_with_payload(nvtxDomainHandle_t handle, const nvtxPayloadData_t* given, std::size_t count) {
  const Domain* domain = domain_of(handle);
  nvtxPayloadData_t data;
  if (domain != nullptr && domain->is_nccl && count > 0 && read_payload(given, data)) {
    const Guard guard;
    if (guard) nccl_pop_payload(guard, data.schemaId, data.payload, data.size);
  }
  return domain_pop(handle);
}

bool install_range_hooks(const NvtxExportTableCallbacks* callbacks) noexcept {
  const Hook core[] = {
      hook(NVTX_CBID_CORE_MarkEx, mark_ex),      hook(NVTX_CBID_CORE_MarkA, mark_a),
      hook(NVTX_CBID_CORE_MarkW, mark_w),        hook(NVTX_CBID_CORE_RangeStartEx, start_ex),
      hook(NVTX_CBID_CORE_RangeStartA, start_a), hook(NVTX_CBID_CORE_RangeStartW, start_w),
      hook(NVTX_CBID_CORE_RangeEnd, end),        hook(NVTX_CBID_CORE_RangePushEx, push_ex),
      hook(NVTX_CBID_CORE_RangePushA, push_a),   hook(NVTX_CBID_CORE_RangePushW, push_w),
      hook(NVTX_CBID_CORE_RangePop, pop),
  };
  const Hook core2[] = {
      hook(NVTX_CBID_CORE2_DomainMarkEx, domain_mark), hook(NVTX_CBID_CORE2_DomainRangeStartEx, domain_start),
      hook(NVTX_CBID_CORE2_DomainRangeEnd, domain_end), hook(NVTX_CBID_CORE2_DomainRangePushEx, domain_push),
      hook(NVTX_CBID_CORE2_DomainRangePop, domain_pop),
  };
  return install(callbacks, NVTX_CB_MODULE_CORE, core) && install(callbacks, NVTX_CB_MODULE_CORE2, core2);
}

}  // namespace agent
