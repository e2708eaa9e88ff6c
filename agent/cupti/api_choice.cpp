#include "agent/cupti/api_choice.h"

#include <atomic>
#include <cstddef>

#include "agent/base/agent_settings.h"
#include "agent/cupti/cupti_library.h"

namespace agent {
namespace {

constexpr std::uint32_t kMostNamed = 2048;  // CUPTI 13.0 has 806 driver calls

// The texts belong to CUPTI, which is never unloaded.
struct Names {
  const char* by_id[kMostNamed];
  bool learnt;
};
constinit Names s_runtime{}, s_driver{};

void learn(Names& names, CUpti_CallbackDomain domain) {
  if (names.learnt || cupti().get_callback_name == nullptr) return;
  names.learnt = true;
  for (std::uint32_t id = 1; id < kMostNamed; ++id) {
    const char* name = nullptr;
    if (cupti().get_callback_name(domain, id, &name) == CUPTI_SUCCESS) names.by_id[id] = name;
  }
}

// A number stands for a name that the headers of CUDA 11.8 lack.
constexpr CUpti_CallbackId kRuntimeNoise[] = {
    CUPTI_RUNTIME_TRACE_CBID_cudaGetDevice_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaSetDevice_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaGetLastError_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaPeekAtLastError_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaDeviceGetAttribute_v5000,
    CUPTI_RUNTIME_TRACE_CBID_cudaFuncGetAttributes_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaFuncSetAttribute_v9000,
    CUPTI_RUNTIME_TRACE_CBID_cudaGetFuncBySymbol_v11000,
    CUPTI_RUNTIME_TRACE_CBID_cudaGetDriverEntryPoint_v11030,
    CUPTI_RUNTIME_TRACE_CBID_cudaGetDriverEntryPoint_ptsz_v11030,
    468,  // cudaGetDriverEntryPointByVersion, CUDA 12.5
    469,  // cudaGetDriverEntryPointByVersion_ptsz
    CUPTI_RUNTIME_TRACE_CBID_cudaThreadExchangeStreamCaptureMode_v10010,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamIsCapturing_v10000,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamIsCapturing_ptsz_v10000,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamGetCaptureInfo_v10010,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamGetCaptureInfo_ptsz_v10010,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamGetCaptureInfo_v2_v11030,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamGetCaptureInfo_v2_ptsz_v11030,
    461,  // cudaStreamGetCaptureInfo_v3, CUDA 12.3
    462,  // cudaStreamGetCaptureInfo_v3_ptsz
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamQuery_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaStreamQuery_ptsz_v7000,
    CUPTI_RUNTIME_TRACE_CBID_cudaEventQuery_v3020,
};

// Calls that show when a CUDA event was recorded: CUPTI's records of events have no time.
constexpr CUpti_CallbackId kEventRecords[] = {
    CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_ptsz_v7000,
    CUPTI_RUNTIME_TRACE_CBID_cudaEventRecordWithFlags_v11010,
    CUPTI_RUNTIME_TRACE_CBID_cudaEventRecordWithFlags_ptsz_v11010,
};

// In addition to kDriverLaunches.
constexpr CUpti_CallbackId kOtherDriverCalls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemFree_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync,
    CUPTI_DRIVER_TRACE_CBID_cuMemAllocAsync_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync,
    CUPTI_DRIVER_TRACE_CBID_cuMemFreeAsync_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemCreate,
    CUPTI_DRIVER_TRACE_CBID_cuMemMap,
    CUPTI_DRIVER_TRACE_CBID_cuMemUnmap,
    CUPTI_DRIVER_TRACE_CBID_cuMemRelease,
    CUPTI_DRIVER_TRACE_CBID_cuModuleLoadData,
    CUPTI_DRIVER_TRACE_CBID_cuModuleLoadDataEx,
    CUPTI_DRIVER_TRACE_CBID_cuModuleLoadFatBinary,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoD_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoH_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoD_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyPeerAsync_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD32Async_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize,
    CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize_ptsz,
    CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize,
    CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize,
};

constexpr CUpti_CallbackId kDriverQueries[] = {
    CUPTI_DRIVER_TRACE_CBID_cuEventQuery,
    CUPTI_DRIVER_TRACE_CBID_cuStreamQuery,
    CUPTI_DRIVER_TRACE_CBID_cuStreamQuery_ptsz,
};

bool switch_driver_calls(std::uint8_t on) {
  if (cupti().enable_driver_api == nullptr) return false;
  int switched = 0;
  for (const CUpti_CallbackId id : kDriverLaunches) switched += cupti().enable_driver_api(id, on) == CUPTI_SUCCESS;
  for (const CUpti_CallbackId id : kOtherDriverCalls) switched += cupti().enable_driver_api(id, on) == CUPTI_SUCCESS;
  for (const CUpti_CallbackId id : kDriverQueries) {
    if (has_to_find_queries()) cupti().enable_driver_api(id, on);
  }
  return switched > 0;
}

// A bit for each callback id; no CUPTI has that many calls.
class Ids {
 public:
  template <std::size_t... Counts>
  constexpr explicit Ids(const CUpti_CallbackId (&... lists)[Counts]) {
    (add(lists), ...);
  }
  constexpr bool has(CUpti_CallbackId id) const { return id < kIds && (words_[id / 64] >> id % 64 & 1) != 0; }

 private:
  template <std::size_t Count>
  constexpr void add(const CUpti_CallbackId (&ids)[Count]) {
    for (const CUpti_CallbackId id : ids) words_[id / 64] |= std::uint64_t{1} << id % 64;
  }

  static constexpr std::size_t kIds = 2048;
  std::uint64_t words_[kIds / 64]{};
};
constexpr Ids kChosen(kDriverLaunches, kOtherDriverCalls), kNoise(kRuntimeNoise), kRecorded(kEventRecords);

// More than the number of calls in one buffer.
constexpr std::size_t kQuerySlots = 1u << 14;

constinit std::atomic<bool> s_find{false};
constinit std::uint32_t s_queries[kQuerySlots]{};  // correlation ids, each in the slot of its low bits

}  // namespace

void learn_api_names() noexcept {
  learn(s_runtime, CUPTI_CB_DOMAIN_RUNTIME_API);
  learn(s_driver, CUPTI_CB_DOMAIN_DRIVER_API);
}

const char* api_name(trace::RecordKind domain, std::uint32_t cbid) noexcept {
  const Names& names = domain == trace::DriverRecord::kKind ? s_driver : s_runtime;
  const char* name = cbid < kMostNamed ? names.by_id[cbid] : nullptr;
  return name != nullptr ? name : "";
}

bool choose_driver_calls() noexcept { return switch_driver_calls(1); }
bool leave_driver_calls() noexcept { return switch_driver_calls(0); }

void deny_runtime_noise() noexcept {
  if (cupti().enable_runtime_api == nullptr) return;
  for (const CUpti_CallbackId id : kRuntimeNoise) {
    if (has_to_find_queries() && is_query_call(CUPTI_ACTIVITY_KIND_RUNTIME, id)) continue;
    cupti().enable_runtime_api(id, 0);
  }
  for (const CUpti_CallbackId id : kEventRecords) {
    if (!wants(trace::CudaEventRecord::kKind)) cupti().enable_runtime_api(id, 0);
  }
}

bool is_left_out(const CUpti_Activity* activity) noexcept {
  const CUpti_CallbackId id = reinterpret_cast<const CUpti_ActivityAPI*>(activity)->cbid;
  if (activity->kind == CUPTI_ACTIVITY_KIND_DRIVER) return !kChosen.has(id);
  if (activity->kind != CUPTI_ACTIVITY_KIND_RUNTIME) return false;
  return kNoise.has(id) || (kRecorded.has(id) && !wants(trace::CudaEventRecord::kKind));
}

void leave_out_queries() noexcept {
  if (!wants(trace::SyncRecord::kKind)) return;
  const auto all = cupti().enable_all_sync_records;
  s_find.store(all == nullptr || all(0) != CUPTI_SUCCESS);
}

void leave_in_queries() noexcept {
  if (wants(trace::SyncRecord::kKind) && cupti().enable_all_sync_records != nullptr) cupti().enable_all_sync_records(1);
}

bool has_to_find_queries() noexcept { return s_find.load(std::memory_order_relaxed); }

bool is_query_call(CUpti_ActivityKind kind, CUpti_CallbackId id) noexcept {
  if (kind == CUPTI_ACTIVITY_KIND_DRIVER) {
    return id == CUPTI_DRIVER_TRACE_CBID_cuEventQuery || id == CUPTI_DRIVER_TRACE_CBID_cuStreamQuery ||
           id == CUPTI_DRIVER_TRACE_CBID_cuStreamQuery_ptsz;
  }
  return kind == CUPTI_ACTIVITY_KIND_RUNTIME &&
         (id == CUPTI_RUNTIME_TRACE_CBID_cudaEventQuery_v3020 || id == CUPTI_RUNTIME_TRACE_CBID_cudaStreamQuery_v3020 ||
          id == CUPTI_RUNTIME_TRACE_CBID_cudaStreamQuery_ptsz_v7000);
}

void find_query(const CUpti_Activity* activity) noexcept {
  if (activity->kind != CUPTI_ACTIVITY_KIND_DRIVER && activity->kind != CUPTI_ACTIVITY_KIND_RUNTIME) return;
  const auto& call = *reinterpret_cast<const CUpti_ActivityAPI*>(activity);
  if (is_query_call(activity->kind, call.cbid)) s_queries[call.correlationId % kQuerySlots] = call.correlationId;
}

bool is_query_wait(const CUpti_Activity* activity) noexcept {
  if (activity->kind != CUPTI_ACTIVITY_KIND_SYNCHRONIZATION || !has_to_find_queries()) return false;
  const std::uint32_t id = reinterpret_cast<const CUpti_ActivitySynchronization*>(activity)->correlationId;
  return id != 0 && s_queries[id % kQuerySlots] == id;
}

}  // namespace agent
