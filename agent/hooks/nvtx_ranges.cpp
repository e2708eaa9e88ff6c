// NVTX hooks for ranges, marks and names.
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "agent/hooks/nvtx_hooks.h"
#include "agent/nccl/nccl.h"
#include "agent/nvtx/nvtx_names.h"

namespace agent {

// Hooks for domains, registered strings and names.

namespace {

using trace::ResourceKind;

std::uint64_t number(const void* handle) { return reinterpret_cast<std::uint64_t>(handle); }

// Under a Guard, because a signal handler may call it while this thread is already inside the agent.
nvtxDomainHandle_t create_domain(std::string_view name) {
  const Guard guard;
  return guard ? reinterpret_cast<nvtxDomainHandle_t>(const_cast<Domain*>(make_domain(name))) : nullptr;
}
nvtxStringHandle_t register_string(std::string_view text) {
  const Guard guard;
  return guard ? make_registered_string(text) : nullptr;
}
nvtxDomainHandle_t domain_create_a(const char* name) { return create_domain(text_of(name)); }
nvtxDomainHandle_t domain_create_w(const wchar_t* name) {
  char converted[kConverted];
  return create_domain(narrow(name, converted));
}
// Does nothing: recorded events and other domains with the same name still use it.
void domain_destroy(nvtxDomainHandle_t) {}

nvtxStringHandle_t register_a(nvtxDomainHandle_t, const char* text) { return register_string(text_of(text)); }
nvtxStringHandle_t register_w(nvtxDomainHandle_t, const wchar_t* text) {
  char converted[kConverted];
  return register_string(narrow(text, converted));
}

void name_category(const Domain* domain, std::uint32_t category, std::string_view text) {
  const Guard guard;
  if (guard) nvtx_name(guard, NvtxName{domain, category, {}, text});
}
void domain_category_a(nvtxDomainHandle_t domain, std::uint32_t category, const char* name) {
  name_category(domain_of(domain), category, text_of(name));
}
void domain_category_w(nvtxDomainHandle_t domain, std::uint32_t category, const wchar_t* name) {
  char converted[kConverted];
  name_category(domain_of(domain), category, narrow(name, converted));
}
void category_a(std::uint32_t category, const char* name) { name_category(nullptr, category, text_of(name)); }
void category_w(std::uint32_t category, const wchar_t* name) { domain_category_w(nullptr, category, name); }

void name_resource(const NvtxResource& resource, std::string_view text) {
  const Guard guard;
  if (guard) nvtx_name(guard, NvtxName{nullptr, 0, resource, text});
}

// Two functions for each kind of object: its name as char and as wchar_t. `Id` is a number or a handle.
template <ResourceKind Kind, typename Id>
NvtxResource resource_of(Id id) {
  if constexpr (std::is_pointer_v<Id>) return {Kind, kUnknownId, number(id)};
  if constexpr (!std::is_pointer_v<Id>) return {Kind, static_cast<std::uint32_t>(id), 0};
}
template <ResourceKind Kind, typename Id>
void name_a(Id id, const char* name) {
  name_resource(resource_of<Kind>(id), text_of(name));
}
template <ResourceKind Kind, typename Id>
void name_w(Id id, const wchar_t* name) {
  char converted[kConverted];
  name_resource(resource_of<Kind>(id), narrow(name, converted));
}

// Sets the resource for an identifier of nvtxDomainResourceCreate. Returns false if the format has no such kind.
bool resource_of(const nvtxResourceAttributes_t& attributes, NvtxResource& resource) {
  const std::uint64_t value = attributes.identifier.ullValue;
  const auto id = static_cast<std::uint32_t>(value);
  switch (attributes.identifierType) {
    case NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE:
      resource = {ResourceKind::thread, id, 0};
      return true;
    case NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX:
      resource = {ResourceKind::thread, kUnknownId, value};
      return true;
    case NVTX_RESOURCE_TYPE_CUDA_DEVICE:
    case NVTX_RESOURCE_TYPE_CUDART_DEVICE:
      resource = {ResourceKind::device, id, 0};
      return true;
    case NVTX_RESOURCE_TYPE_CUDA_CONTEXT:
      resource = {ResourceKind::context, kUnknownId, value};
      return true;
    case NVTX_RESOURCE_TYPE_CUDA_STREAM:
    case NVTX_RESOURCE_TYPE_CUDART_STREAM:
      resource = {ResourceKind::stream, kUnknownId, value};
      return true;
    case NVTX_RESOURCE_TYPE_CUDA_EVENT:
    case NVTX_RESOURCE_TYPE_CUDART_EVENT:
      resource = {ResourceKind::event, kUnknownId, value};
      return true;
    default:
      return false;
  }
}

nvtxResourceHandle_t resource_create(nvtxDomainHandle_t, nvtxResourceAttributes_t* given) {
  nvtxResourceAttributes_t attributes;
  if (!read_attributes(given, attributes)) return nullptr;
  NvtxResource resource;
  char converted[kConverted];
  if (resource_of(attributes, resource)) {
    name_resource(resource, message_of(attributes.messageType, attributes.message, converted));
  }
  return nullptr;
}
void resource_destroy(nvtxResourceHandle_t) {}

void initialize(const void*) {}

void install_cuda_hooks(const NvtxExportTableCallbacks* callbacks) {
  const Hook cuda[] = {
      hook(NVTX_CBID_CUDA_NameCuDeviceA, name_a<ResourceKind::device, int>),
      hook(NVTX_CBID_CUDA_NameCuDeviceW, name_w<ResourceKind::device, int>),
      hook(NVTX_CBID_CUDA_NameCuContextA, name_a<ResourceKind::context, void*>),
      hook(NVTX_CBID_CUDA_NameCuContextW, name_w<ResourceKind::context, void*>),
      hook(NVTX_CBID_CUDA_NameCuStreamA, name_a<ResourceKind::stream, void*>),
      hook(NVTX_CBID_CUDA_NameCuStreamW, name_w<ResourceKind::stream, void*>),
      hook(NVTX_CBID_CUDA_NameCuEventA, name_a<ResourceKind::event, void*>),
      hook(NVTX_CBID_CUDA_NameCuEventW, name_w<ResourceKind::event, void*>),
  };
  const Hook cudart[] = {
      hook(NVTX_CBID_CUDART_NameCudaDeviceA, name_a<ResourceKind::device, int>),
      hook(NVTX_CBID_CUDART_NameCudaDeviceW, name_w<ResourceKind::device, int>),
      hook(NVTX_CBID_CUDART_NameCudaStreamA, name_a<ResourceKind::stream, void*>),
      hook(NVTX_CBID_CUDART_NameCudaStreamW, name_w<ResourceKind::stream, void*>),
      hook(NVTX_CBID_CUDART_NameCudaEventA, name_a<ResourceKind::event, void*>),
      hook(NVTX_CBID_CUDART_NameCudaEventW, name_w<ResourceKind::event, void*>),
  };
  install(callbacks, NVTX_CB_MODULE_CUDA, cuda);
  install(callbacks, NVTX_CB_MODULE_CUDART, cudart);
}

}  // namespace

bool install_name_hooks(const NvtxExportTableCallbacks* callbacks) noexcept {
  const Hook core[] = {
      hook(NVTX_CBID_CORE_NameCategoryA, category_a),
      hook(NVTX_CBID_CORE_NameCategoryW, category_w),
      hook(NVTX_CBID_CORE_NameOsThreadA, name_a<ResourceKind::thread, std::uint32_t>),
      hook(NVTX_CBID_CORE_NameOsThreadW, name_w<ResourceKind::thread, std::uint32_t>),
  };
  const Hook core2[] = {
      hook(NVTX_CBID_CORE2_DomainResourceCreate, resource_create),
      hook(NVTX_CBID_CORE2_DomainResourceDestroy, resource_destroy),
      hook(NVTX_CBID_CORE2_DomainNameCategoryA, domain_category_a),
      hook(NVTX_CBID_CORE2_DomainNameCategoryW, domain_category_w),
      hook(NVTX_CBID_CORE2_DomainRegisterStringA, register_a),
      hook(NVTX_CBID_CORE2_DomainRegisterStringW, register_w),
      hook(NVTX_CBID_CORE2_DomainCreateA, domain_create_a),
      hook(NVTX_CBID_CORE2_DomainCreateW, domain_create_w),
      hook(NVTX_CBID_CORE2_DomainDestroy, domain_destroy),
      hook(NVTX_CBID_CORE2_Initialize, initialize),
  };
  install_cuda_hooks(callbacks);
  return install(callbacks, NVTX_CB_MODULE_CORE, core) && install(callbacks, NVTX_CB_MODULE_CORE2, core2);
}

// Hooks for ranges and marks.

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

// Copies only the value's own bytes; the bytes after a 32-bit value are undefined.
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
void domain_end(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
  emit(trace::NvtxEndRecord::kKind, domain_of(domain), {}, id);
}
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

// Extended payloads are not recorded, only the range.
int push_with_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t*, std::size_t) {
  emit(trace::NvtxPushRecord::kKind, domain_of(domain), {});
  return NVTX_NO_PUSH_POP_TRACKING;
}

// At the end of its init ranges, NCCL describes the communicator it has made.
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
      hook(NVTX_CBID_CORE2_DomainMarkEx, domain_mark),  hook(NVTX_CBID_CORE2_DomainRangeStartEx, domain_start),
      hook(NVTX_CBID_CORE2_DomainRangeEnd, domain_end), hook(NVTX_CBID_CORE2_DomainRangePushEx, domain_push),
      hook(NVTX_CBID_CORE2_DomainRangePop, domain_pop),
  };
  return install(callbacks, NVTX_CB_MODULE_CORE, core) && install(callbacks, NVTX_CB_MODULE_CORE2, core2);
}

}  // namespace agent
