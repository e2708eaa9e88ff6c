// NVTX hooks for ranges, marks and names.
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <optional>

#include "agent/hooks/nvtx_hooks.h"
#include "agent/nccl/nccl.h"
#include "agent/nvtx/nvtx_names.h"

namespace agent {

// Hooks for domains, registered strings and names.

namespace {

using trace::ResourceKind;

std::uint64_t number(const void* handle) { return reinterpret_cast<std::uint64_t>(handle); }

// A text that the program passes as char or as wchar_t.
struct GivenText {
  explicit GivenText(const char* text) : view(text_of(text)) {}
  explicit GivenText(const wchar_t* text) : view(narrow(text, converted)) {}
  char converted[kConverted];
  std::string_view view;
};

// Under a Guard, because a signal handler may call it while this thread is already inside the agent.
template <typename Char>
nvtxDomainHandle_t domain_create(const Char* name) {
  const GivenText text(name);
  const Guard guard;
  return guard ? reinterpret_cast<nvtxDomainHandle_t>(const_cast<Domain*>(make_domain(text.view))) : nullptr;
}
// Does nothing: recorded events and other domains with the same name still use it.
void domain_destroy(nvtxDomainHandle_t) {}

template <typename Char>
nvtxStringHandle_t register_string(nvtxDomainHandle_t, const Char* given) {
  const GivenText text(given);
  const Guard guard;
  return guard ? make_registered_string(text.view) : nullptr;
}

template <typename Char>
void domain_category(nvtxDomainHandle_t domain, std::uint32_t category, const Char* name) {
  const GivenText text(name);
  const Guard guard;
  if (guard) nvtx_name(guard, NvtxName{domain_of(domain), category, {}, text.view});
}
template <typename Char>
void default_category(std::uint32_t category, const Char* name) {
  domain_category(nullptr, category, name);
}

void name_resource(const NvtxResource& resource, std::string_view text) {
  const Guard guard;
  if (guard) nvtx_name(guard, NvtxName{nullptr, 0, resource, text});
}

// `Id` is a number or a handle.
template <ResourceKind Kind, typename Id>
NvtxResource resource_of(Id id) {
  if constexpr (std::is_pointer_v<Id>) return {Kind, kUnknownId, number(id)};
  if constexpr (!std::is_pointer_v<Id>) return {Kind, static_cast<std::uint32_t>(id), 0};
}
template <ResourceKind Kind, typename Id, typename Char>
void name(Id id, const Char* text) {
  name_resource(resource_of<Kind>(id), GivenText(text).view);
}

// Returns the resource for an identifier of nvtxDomainResourceCreate; nullopt if the format has no such kind.
std::optional<NvtxResource> resource_of(const nvtxResourceAttributes_t& attributes) {
  const std::uint64_t value = attributes.identifier.ullValue;
  const auto id = static_cast<std::uint32_t>(value);
  switch (attributes.identifierType) {
    case NVTX_RESOURCE_TYPE_GENERIC_THREAD_NATIVE:
      return NvtxResource{ResourceKind::thread, id, 0};
    case NVTX_RESOURCE_TYPE_GENERIC_THREAD_POSIX:
      return NvtxResource{ResourceKind::thread, kUnknownId, value};
    case NVTX_RESOURCE_TYPE_CUDA_DEVICE:
    case NVTX_RESOURCE_TYPE_CUDART_DEVICE:
      return NvtxResource{ResourceKind::device, id, 0};
    case NVTX_RESOURCE_TYPE_CUDA_CONTEXT:
      return NvtxResource{ResourceKind::context, kUnknownId, value};
    case NVTX_RESOURCE_TYPE_CUDA_STREAM:
    case NVTX_RESOURCE_TYPE_CUDART_STREAM:
      return NvtxResource{ResourceKind::stream, kUnknownId, value};
    case NVTX_RESOURCE_TYPE_CUDA_EVENT:
    case NVTX_RESOURCE_TYPE_CUDART_EVENT:
      return NvtxResource{ResourceKind::event, kUnknownId, value};
    default:
      return {};
  }
}

nvtxResourceHandle_t resource_create(nvtxDomainHandle_t, nvtxResourceAttributes_t* given) {
  nvtxResourceAttributes_t attributes;
  if (!read_attributes(given, attributes)) return nullptr;
  char converted[kConverted];
  if (const auto resource = resource_of(attributes))
    name_resource(*resource, message_of(attributes.messageType, attributes.message, converted));
  return nullptr;
}
void resource_destroy(nvtxResourceHandle_t) {}

void initialize(const void*) {}

void install_cuda_hooks(const NvtxExportTableCallbacks* callbacks) {
  const Hook cuda[] = {
      hook(NVTX_CBID_CUDA_NameCuDeviceA, name<ResourceKind::device, int, char>),
      hook(NVTX_CBID_CUDA_NameCuDeviceW, name<ResourceKind::device, int, wchar_t>),
      hook(NVTX_CBID_CUDA_NameCuContextA, name<ResourceKind::context, void*, char>),
      hook(NVTX_CBID_CUDA_NameCuContextW, name<ResourceKind::context, void*, wchar_t>),
      hook(NVTX_CBID_CUDA_NameCuStreamA, name<ResourceKind::stream, void*, char>),
      hook(NVTX_CBID_CUDA_NameCuStreamW, name<ResourceKind::stream, void*, wchar_t>),
      hook(NVTX_CBID_CUDA_NameCuEventA, name<ResourceKind::event, void*, char>),
      hook(NVTX_CBID_CUDA_NameCuEventW, name<ResourceKind::event, void*, wchar_t>),
  };
  const Hook cudart[] = {
      hook(NVTX_CBID_CUDART_NameCudaDeviceA, name<ResourceKind::device, int, char>),
      hook(NVTX_CBID_CUDART_NameCudaDeviceW, name<ResourceKind::device, int, wchar_t>),
      hook(NVTX_CBID_CUDART_NameCudaStreamA, name<ResourceKind::stream, void*, char>),
      hook(NVTX_CBID_CUDART_NameCudaStreamW, name<ResourceKind::stream, void*, wchar_t>),
      hook(NVTX_CBID_CUDART_NameCudaEventA, name<ResourceKind::event, void*, char>),
      hook(NVTX_CBID_CUDART_NameCudaEventW, name<ResourceKind::event, void*, wchar_t>),
  };
  install(callbacks, NVTX_CB_MODULE_CUDA, cuda);
  install(callbacks, NVTX_CB_MODULE_CUDART, cudart);
}

}  // namespace

bool install_name_hooks(const NvtxExportTableCallbacks* callbacks) noexcept {
  const Hook core[] = {
      hook(NVTX_CBID_CORE_NameCategoryA, default_category<char>),
      hook(NVTX_CBID_CORE_NameCategoryW, default_category<wchar_t>),
      hook(NVTX_CBID_CORE_NameOsThreadA, name<ResourceKind::thread, std::uint32_t, char>),
      hook(NVTX_CBID_CORE_NameOsThreadW, name<ResourceKind::thread, std::uint32_t, wchar_t>),
  };
  const Hook core2[] = {
      hook(NVTX_CBID_CORE2_DomainResourceCreate, resource_create),
      hook(NVTX_CBID_CORE2_DomainResourceDestroy, resource_destroy),
      hook(NVTX_CBID_CORE2_DomainNameCategoryA, domain_category<char>),
      hook(NVTX_CBID_CORE2_DomainNameCategoryW, domain_category<wchar_t>),
      hook(NVTX_CBID_CORE2_DomainRegisterStringA, register_string<char>),
      hook(NVTX_CBID_CORE2_DomainRegisterStringW, register_string<wchar_t>),
      hook(NVTX_CBID_CORE2_DomainCreateA, domain_create<char>),
      hook(NVTX_CBID_CORE2_DomainCreateW, domain_create<wchar_t>),
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
  NvtxEvent event{.kind = kind, .domain = domain, .name = name, .range_id = range_id};
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
  NvtxEvent event{.kind = kind, .domain = domain, .category = attributes.category, .range_id = range_id};
  event.name = message_of(attributes.messageType, attributes.message, converted);
  if (kind == trace::NvtxPushRecord::kKind && is_nccl_call(guard, domain, event.name, attributes)) return;
  if (attributes.colorType == NVTX_COLOR_ARGB) event.color_argb = attributes.color;
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
template <typename Char>
int push(const Char* name) {
  emit(trace::NvtxPushRecord::kKind, nullptr, GivenText(name).view);
  return NVTX_NO_PUSH_POP_TRACKING;
}
int pop() { return domain_pop(nullptr); }

nvtxRangeId_t start_ex(const nvtxEventAttributes_t* attributes) { return domain_start(nullptr, attributes); }
template <typename Char>
nvtxRangeId_t start(const Char* name) {
  const GivenText text(name);
  const std::uint64_t id = new_range();
  emit(trace::NvtxStartRecord::kKind, nullptr, text.view, id);
  return id;
}
void end(nvtxRangeId_t id) { domain_end(nullptr, id); }

void mark_ex(const nvtxEventAttributes_t* attributes) { domain_mark(nullptr, attributes); }
template <typename Char>
void mark(const Char* name) {
  emit(trace::NvtxMarkRecord::kKind, nullptr, GivenText(name).view);
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
      hook(NVTX_CBID_CORE_MarkEx, mark_ex),
      hook(NVTX_CBID_CORE_MarkA, mark<char>),
      hook(NVTX_CBID_CORE_MarkW, mark<wchar_t>),
      hook(NVTX_CBID_CORE_RangeStartEx, start_ex),
      hook(NVTX_CBID_CORE_RangeStartA, start<char>),
      hook(NVTX_CBID_CORE_RangeStartW, start<wchar_t>),
      hook(NVTX_CBID_CORE_RangeEnd, end),
      hook(NVTX_CBID_CORE_RangePushEx, push_ex),
      hook(NVTX_CBID_CORE_RangePushA, push<char>),
      hook(NVTX_CBID_CORE_RangePushW, push<wchar_t>),
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
