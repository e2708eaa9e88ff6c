// Domains, registered strings and names of things, as NVTX calls them.
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>

#include "agent/hooks/nvtx_hooks.h"
#include "agent/nvtx/nvtx_names.h"

namespace agent {
namespace {

using trace::ResourceKind;

std::uint64_t number(const void* handle) { return reinterpret_cast<std::uint64_t>(handle); }

// Under a Guard, because a signal handler may come here while this thread is already inside.
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
// Its name is still in use by what was recorded, and by whoever made a domain of the same name.
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

// One pair of functions per thing: its name as char and as wchar_t. `Id` is a number or a handle.
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

// What an identifier of nvtxDomainResourceCreate names, in this format's kinds; false: a kind that it does not have.
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

}  // namespace agent
