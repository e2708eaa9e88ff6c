// Which activity kinds and API functions produce records. A kind that a program of this simulation never causes can be
// enabled and stays empty.
#include <algorithm>
#include <iterator>

#include "buffers.h"
#include "state.h"

namespace sim {
namespace {

std::atomic<bool> s_kinds[CUPTI_ACTIVITY_KIND_COUNT];
std::atomic<bool> s_driver[CUPTI_DRIVER_TRACE_CBID_SIZE];
std::atomic<bool> s_runtime[CUPTI_RUNTIME_TRACE_CBID_SIZE];

std::atomic<bool> s_all_sync{true};

// cuptiGetVersion of the releases that brought a function: 12.5 and 12.8.
constexpr std::uint32_t kCallsOneByOne = 23, kSyncChoice = 26;

bool is_kind(CUpti_ActivityKind kind) { return kind > CUPTI_ACTIVITY_KIND_INVALID && kind < CUPTI_ACTIVITY_KIND_COUNT; }

template <std::size_t Count>
void set_all(std::atomic<bool> (&flags)[Count], bool on) {
  for (auto& flag : flags) flag.store(on, std::memory_order_relaxed);
}

// A whole kind overrides what was said per function before.
void set_kind(CUpti_ActivityKind kind, bool on) {
  s_kinds[kind].store(on, std::memory_order_relaxed);
  if (kind == CUPTI_ACTIVITY_KIND_DRIVER) set_all(s_driver, on);
  if (kind == CUPTI_ACTIVITY_KIND_RUNTIME) set_all(s_runtime, on);
}

CUptiResult change_kind(CUpti_ActivityKind kind, bool on) {
  SIM_NEED_DRIVER();
  if (is_taken()) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  if (!is_kind(kind)) return CUPTI_ERROR_INVALID_KIND;
  set_kind(kind, on);
  return CUPTI_SUCCESS;
}

template <std::size_t Count>
CUptiResult change_api(std::atomic<bool> (&flags)[Count], CUpti_CallbackId cbid, bool on) {
  SIM_NEED_DRIVER();
  if (behaviour().version < kCallsOneByOne) return CUPTI_ERROR_NOT_SUPPORTED;  // has no such function
  if (is_taken()) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  if (cbid == 0 || cbid >= Count) return CUPTI_ERROR_INVALID_PARAMETER;
  flags[cbid].store(on, std::memory_order_relaxed);
  return CUPTI_SUCCESS;
}

}  // namespace

bool kind_enabled(CUpti_ActivityKind kind) { return is_kind(kind) && s_kinds[kind].load(std::memory_order_relaxed); }

bool anything_enabled() {
  const auto any = [](const auto& flags) {
    return std::any_of(std::begin(flags), std::end(flags), [](const auto& flag) { return flag.load(); });
  };
  return any(s_kinds) || any(s_driver) || any(s_runtime);
}

bool all_sync_records() { return s_all_sync.load(std::memory_order_relaxed); }

bool api_enabled(CUpti_CallbackDomain domain, std::uint32_t cbid) {
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) return s_driver[cbid].load(std::memory_order_relaxed);
  return s_runtime[cbid].load(std::memory_order_relaxed);
}

void forget_kinds() {
  for (int kind = 1; kind < CUPTI_ACTIVITY_KIND_COUNT; ++kind) set_kind(static_cast<CUpti_ActivityKind>(kind), false);
  set_all(s_driver, false);
  set_all(s_runtime, false);
}

}  // namespace sim

using namespace sim;

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) { return change_kind(kind, true); }

// What exists already is told too: devices, contexts, streams.
CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind kind) {
  const CUptiResult result = change_kind(kind, true);
  if (result != CUPTI_SUCCESS || !callbacks_registered()) return result;
  if (kind == CUPTI_ACTIVITY_KIND_DEVICE) driver()->each(NoteKind::device, emit);
  if (kind == CUPTI_ACTIVITY_KIND_CONTEXT) driver()->each(NoteKind::context, emit);
  if (kind == CUPTI_ACTIVITY_KIND_STREAM) driver()->each(NoteKind::stream, emit);
  return result;
}

// Since CUDA 12.8; older headers do not have it.
extern "C" __attribute__((visibility("default"))) CUptiResult cuptiActivityEnableAllSyncRecords(std::uint8_t enable) {
  SIM_NEED_DRIVER();
  if (behaviour().version < kSyncChoice) return CUPTI_ERROR_NOT_SUPPORTED;
  s_all_sync.store(enable != 0);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) { return change_kind(kind, false); }

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, std::uint8_t enable) {
  return change_api(s_driver, cbid, enable != 0);
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, std::uint8_t enable) {
  return change_api(s_runtime, cbid, enable != 0);
}
