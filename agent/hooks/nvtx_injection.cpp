// NVTX's hooks: the tables of functions that NVTX calls in every library that uses it. The agent's own injection is
// used instead of CUPTI's, because it works without CUPTI and without a GPU, on every thread, and includes NCCL's
// payloads.
#include "agent/base/life.h"
#include "agent/hooks/nvtx_hooks.h"
#include "agent/nvtx/injection_paths.h"

namespace agent {

bool install(const NvtxExportTableCallbacks* callbacks, NvtxCallbackModule module,
             std::span<const Hook> hooks) noexcept {
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks->GetModuleFunctionTable(module, &table, &size) == 0 || table == nullptr) return false;
  for (const Hook& each : hooks) {
    if (each.id < size && table[each.id] != nullptr) *table[each.id] = each.function;
  }
  return true;
}

}  // namespace agent

// Called once in every shared object that uses NVTX, at its first NVTX call, on any thread.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_export_table) {
  if (void* first = agent::find_in_first_copy("InitializeInjectionNvtx2"))
    return reinterpret_cast<int (*)(NvtxGetExportTableFunc_t)>(first)(get_export_table);
  if (!agent::attach() || get_export_table == nullptr) return 0;
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->GetModuleFunctionTable == nullptr) return 0;
  if (!agent::install_range_hooks(callbacks) || !agent::install_name_hooks(callbacks)) return 0;
  agent::nvtx_has_called();
  return 1;
}

// The payload extension: NCCL passes rank and number of ranks with the pop of its init ranges.
extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(nvtxExtModuleInfo_t* module) {
  if (void* first = agent::find_in_first_copy("InitializeInjectionNvtxExtension"))
    return reinterpret_cast<int (*)(nvtxExtModuleInfo_t*)>(first)(module);
  if (!agent::attach() || module == nullptr || module->moduleId != NVTX_EXT_PAYLOAD_MODULEID) return 0;
  if (module->segmentsCount == 0 || module->segments == nullptr || module->segments->functionSlots == nullptr) return 0;
  if (module->segments->slotCount <= NVTX3EXT_CBID_nvtxRangePopPayload) return 0;
  intptr_t* slots = module->segments->functionSlots;
  slots[NVTX3EXT_CBID_nvtxRangePushPayload] = reinterpret_cast<intptr_t>(&agent::push_with_payload);
  slots[NVTX3EXT_CBID_nvtxRangePopPayload] = reinterpret_cast<intptr_t>(&agent::pop_with_payload);
  return 1;
}
