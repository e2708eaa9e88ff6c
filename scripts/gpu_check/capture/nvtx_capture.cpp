// NVTX's side of libraw_capture.so: pushes, pops and marks of every domain with their bytes. Strings and domains are
// numbered by the places in which they are kept.
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "scripts/gpu_check/capture/capture_writer.h"

namespace raw_capture {
namespace {

constexpr std::size_t kMostBytes = 4096;  // of one message or payload

// Names that handles stand for: the handle is the address of the name.
template <std::size_t Count, std::size_t Bytes>
class Names {
 public:
  void* keep(const char* name) {
    const std::size_t at = used_.fetch_add(1, std::memory_order_relaxed);
    if (at >= Count || name == nullptr) return nullptr;
    snprintf(names_[at], Bytes, "%s", name);
    return names_[at];
  }
  const char* of(const void* handle) const {
    const auto* at = static_cast<const char*>(handle);
    return at >= names_[0] && at < names_[0] + sizeof(names_) ? at : "";
  }

 private:
  std::atomic<std::size_t> used_{0};
  char names_[Count][Bytes]{};
};
constinit Names<64, sizeof(NvtxPart::domain)> s_domains{};
constinit Names<512, 64> s_strings{};

Part message_of(const nvtxEventAttributes_t& attributes) {
  const char* text = "";
  if (attributes.messageType == NVTX_MESSAGE_TYPE_ASCII) text = attributes.message.ascii;
  if (attributes.messageType == NVTX_MESSAGE_TYPE_REGISTERED) text = s_strings.of(attributes.message.registered);
  return {text, text != nullptr ? strnlen(text, kMostBytes) : 0};
}

const nvtxPayloadData_t* payload_of(const nvtxEventAttributes_t& attributes) {
  const bool extended = attributes.payloadType == NVTX_PAYLOAD_TYPE_EXT && attributes.reserved0 >= 1;
  return extended ? reinterpret_cast<const nvtxPayloadData_t*>(attributes.payload.ullValue) : nullptr;
}

void keep(NvtxPart& part, nvtxDomainHandle_t domain, Part attributes, Part message, const nvtxPayloadData_t* data) {
  if (!is_open()) return;
  const Part payload = data != nullptr && data->payload != nullptr && data->size <= kMostBytes
                           ? Part{data->payload, data->size}
                           : Part{"", 0};
  part.attributes_bytes = static_cast<std::uint32_t>(attributes.bytes);
  part.message_bytes = static_cast<std::uint32_t>(message.bytes);
  part.payload_bytes = static_cast<std::uint32_t>(payload.bytes);
  part.schema = data != nullptr ? data->schemaId : 0;
  snprintf(part.domain, sizeof(part.domain), "%s", s_domains.of(domain));
  const std::size_t bytes = sizeof(part) + attributes.bytes + message.bytes + payload.bytes + sizeof(Section) + 8;
  const bool room = has_room(SectionType::nvtx, bytes);
  __atomic_fetch_add(room ? &totals().nvtx : &totals().nvtx_left_out, 1, __ATOMIC_RELAXED);
  if (room) write_section(SectionType::nvtx, {{&part, sizeof(part)}, attributes, message, payload});
}

void keep_attributes(NvtxCall call, nvtxDomainHandle_t domain, const nvtxEventAttributes_t* given) {
  if (given == nullptr) return;
  NvtxPart part{};
  part.call = call;
  nvtxEventAttributes_t whole{};
  const std::size_t bytes = std::min<std::size_t>(given->size != 0 ? given->size : sizeof(whole), sizeof(whole));
  std::memcpy(&whole, given, bytes);
  keep(part, domain, {&whole, bytes}, message_of(whole), payload_of(whole));
}

void keep_call(NvtxCall call, nvtxDomainHandle_t domain, const char* name, const nvtxPayloadData_t* data = nullptr) {
  NvtxPart part{};
  part.call = call;
  keep(part, domain, {"", 0}, {name, name != nullptr ? strnlen(name, kMostBytes) : 0}, data);
}

int domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  keep_attributes(NvtxCall::push, domain, attributes);
  return NVTX_NO_PUSH_POP_TRACKING;
}
int domain_pop(nvtxDomainHandle_t domain) {
  keep_call(NvtxCall::pop, domain, nullptr);
  return NVTX_NO_PUSH_POP_TRACKING;
}
void domain_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  keep_attributes(NvtxCall::mark, domain, attributes);
}
int push_ex(const nvtxEventAttributes_t* attributes) { return domain_push(nullptr, attributes); }
int push_a(const char* name) {
  keep_call(NvtxCall::push, nullptr, name);
  return NVTX_NO_PUSH_POP_TRACKING;
}
int pop() { return domain_pop(nullptr); }
void mark_ex(const nvtxEventAttributes_t* attributes) { domain_mark(nullptr, attributes); }
void mark_a(const char* name) { keep_call(NvtxCall::mark, nullptr, name); }

nvtxDomainHandle_t create_domain(const char* name) { return static_cast<nvtxDomainHandle_t>(s_domains.keep(name)); }
nvtxStringHandle_t register_string(nvtxDomainHandle_t, const char* text) {
  return static_cast<nvtxStringHandle_t>(s_strings.keep(text));
}

int push_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data, std::size_t count) {
  keep_call(NvtxCall::push_payload, domain, nullptr, count > 0 ? data : nullptr);
  return NVTX_NO_PUSH_POP_TRACKING;
}
int pop_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data, std::size_t count) {
  keep_call(NvtxCall::pop_payload, domain, nullptr, count > 0 ? data : nullptr);
  return NVTX_NO_PUSH_POP_TRACKING;
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
  const Hook core[] = {hook(NVTX_CBID_CORE_MarkEx, mark_ex), hook(NVTX_CBID_CORE_MarkA, mark_a),
                       hook(NVTX_CBID_CORE_RangePushEx, push_ex), hook(NVTX_CBID_CORE_RangePushA, push_a),
                       hook(NVTX_CBID_CORE_RangePop, pop)};
  const Hook core2[] = {
      hook(NVTX_CBID_CORE2_DomainMarkEx, domain_mark), hook(NVTX_CBID_CORE2_DomainRangePushEx, domain_push),
      hook(NVTX_CBID_CORE2_DomainRangePop, domain_pop), hook(NVTX_CBID_CORE2_DomainRegisterStringA, register_string),
      hook(NVTX_CBID_CORE2_DomainCreateA, create_domain)};
  return install(callbacks, NVTX_CB_MODULE_CORE, core) && install(callbacks, NVTX_CB_MODULE_CORE2, core2);
}

}  // namespace
}  // namespace raw_capture

// Called once in every shared object that uses NVTX. The file is there only where CUDA called first (cuInit): what NVTX
// says before that is not captured, but handles must mean the same all the time.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_export_table) {
  if (get_export_table == nullptr || std::getenv("RAW_CAPTURE_DIR") == nullptr) return 0;
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->GetModuleFunctionTable == nullptr) return 0;
  return raw_capture::install_all(callbacks) ? 1 : 0;
}

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  if (module == nullptr || module->moduleId != NVTX_EXT_PAYLOAD_MODULEID) return 0;
  if (module->segmentsCount == 0 || module->segments == nullptr || module->segments->functionSlots == nullptr) return 0;
  if (module->segments->slotCount <= NVTX3EXT_CBID_nvtxRangePopPayload) return 0;
  intptr_t* slots = module->segments->functionSlots;
  slots[NVTX3EXT_CBID_nvtxRangePushPayload] = reinterpret_cast<intptr_t>(&raw_capture::push_payload);
  slots[NVTX3EXT_CBID_nvtxRangePopPayload] = reinterpret_cast<intptr_t>(&raw_capture::pop_payload);
  return 1;
}
