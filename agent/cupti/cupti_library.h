// libcupti, loaded at run time and never unloaded (dlclose crashes 13.0 and 13.1). Which copy: TRACETOOL_CUPTI; else
// the one that the process has; else the one beside the process's cudart or PyTorch; else the toolkit's. A second copy
// is worse than none.
#pragma once
#include <cupti.h>
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>

namespace agent {

// Callback ids of calls that more than one place chooses by, as CUPTI numbers them.

// The driver's kernel and graph launches. What an older driver lacks is never called.
inline constexpr CUpti_CallbackId kDriverLaunches[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel,
    CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
    CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz,
};

// A function of a loaded library, by its name.

// Returns false where the library has none of that name; `function` is null then.
template <typename Function>
bool find_function(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

// The functions that we use; null where the library lacks it. Filled once by load_cupti(): two tables, of CUPTI's version
// 1, whose buffers, kinds and clock are the process's, and of version 2, whose are the subscriber's.
struct CuptiLibrary {
  CUptiResult (*get_version)(std::uint32_t*);
  CUptiResult (*get_timestamp)(std::uint64_t*);
  CUptiResult (*get_result_string)(CUptiResult, const char**);
  CUptiResult (*subscribe)(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*);
  CUptiResult (*unsubscribe)(CUpti_SubscriberHandle);
  CUptiResult (*enable_callback)(std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain, CUpti_CallbackId);
  CUptiResult (*get_callback_name)(CUpti_CallbackDomain, std::uint32_t, const char**);
  CUptiResult (*register_callbacks)(CUpti_BuffersCallbackRequestFunc, CUpti_BuffersCallbackCompleteFunc);
  CUptiResult (*activity_enable)(CUpti_ActivityKind);
  CUptiResult (*activity_disable)(CUpti_ActivityKind);
  CUptiResult (*get_next_record)(std::uint8_t*, std::size_t, CUpti_Activity**);
  CUptiResult (*get_dropped)(CUcontext, std::uint32_t, std::size_t*);
  CUptiResult (*flush_all)(std::uint32_t);
  CUptiResult (*set_attribute)(CUpti_ActivityAttribute, std::size_t*, void*);
  CUptiResult (*set_thread_id_type)(CUpti_ActivityThreadIdType);
  // Optional, by version.
  CUptiResult (*get_attribute)(CUpti_ActivityAttribute, std::size_t*, void*);
  CUptiResult (*subscribe_v2)(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*, void* params);  // CUDA 13.0
  CUptiResult (*enable_runtime_api)(CUpti_CallbackId, std::uint8_t);
  CUptiResult (*enable_driver_api)(CUpti_CallbackId, std::uint8_t);
  CUptiResult (*enable_all_sync_records)(std::uint8_t);  // CUDA 12.8
  CUptiResult (*activity_enable_and_dump)(CUpti_ActivityKind);
  CUptiResult (*get_graph_node_id)(CUgraphNode, std::uint64_t*);
  CUptiResult (*get_stream_id_ex)(CUcontext, CUstream, std::uint8_t, std::uint32_t*);

  bool is_shared;         // version 2: others may have subscribed as well (subscriber_functions.h)
  std::uint32_t version;  // 0: it does not say (13.5 before the driver is there)
  char path[256];
};

// False: no usable library, and a line said why. Call once, not from several threads.
bool load_cupti() noexcept;
// The table that is in use: at first that of version 1.
const CuptiLibrary& cupti() noexcept;
// Changes the table, while CUPTI is not ours. Returns the name of a function that this library lacks for it, and changes
// nothing then; else null.
const char* use_cupti_version(int version) noexcept;
// Asks for its version again; what cuptiGetVersion answers.
CUptiResult ask_cupti_version() noexcept;
// "CUPTI_ERROR_..." of a result, never null.
const char* cupti_result_name(CUptiResult result) noexcept;

}  // namespace agent
