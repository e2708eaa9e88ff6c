// Loads libcupti at run time and never unloads it (dlclose crashes 13.0 and 13.1). The copy is, in this order:
// TRACETOOL_CUPTI; the one that the process has loaded; the one next to the process's cudart or PyTorch; the toolkit's.
// Loading a second copy is worse than having none.
#pragma once
#include <cupti.h>
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>

namespace agent {

// Callback ids of calls, as numbered by CUPTI, that are used in more than one place.

// The driver's kernel and graph launches. Functions that an older driver lacks are never called.
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

// Finds a function of a loaded library by name.

// Returns false if the library has no such function; `function` is null then.
template <typename Function>
bool find_function(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  return function != nullptr;
}

// The functions that are used; null if the library lacks them. Filled once by load_cupti(). There are two tables: of
// CUPTI's version 1, whose buffers, kinds and clock belong to the process, and of version 2, whose belong to the
// subscriber.
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
  // Optional, depending on the version.
  CUptiResult (*get_attribute)(CUpti_ActivityAttribute, std::size_t*, void*);
  CUptiResult (*subscribe_v2)(CUpti_SubscriberHandle*, CUpti_CallbackFunc, void*, void* params);  // CUDA 13.0
  CUptiResult (*enable_runtime_api)(CUpti_CallbackId, std::uint8_t);
  CUptiResult (*enable_driver_api)(CUpti_CallbackId, std::uint8_t);
  CUptiResult (*enable_all_sync_records)(std::uint8_t);  // CUDA 12.8
  CUptiResult (*activity_enable_and_dump)(CUpti_ActivityKind);
  CUptiResult (*get_graph_node_id)(CUgraphNode, std::uint64_t*);
  CUptiResult (*get_stream_id_ex)(CUcontext, CUstream, std::uint8_t, std::uint32_t*);

  bool is_shared;         // version 2: there may be other subscribers (subscriber_functions.h)
  std::uint32_t version;  // 0 if unknown (13.5 before the driver is loaded)
  char path[256];
};

// Returns false if there is no usable library; a line has reported the reason. Called once, by one thread.
bool load_cupti() noexcept;
// Returns the table in use, at first that of version 1.
const CuptiLibrary& cupti() noexcept;
// Changes the table, while CUPTI is not ours. If this library lacks a function for it, returns the name of the function
// and changes nothing; otherwise null.
const char* use_cupti_version(int version) noexcept;
// Queries the version again. Returns the result of cuptiGetVersion.
CUptiResult ask_cupti_version() noexcept;
// Returns the "CUPTI_ERROR_..." name of a result, never null.
const char* cupti_result_name(CUptiResult result) noexcept;

}  // namespace agent
