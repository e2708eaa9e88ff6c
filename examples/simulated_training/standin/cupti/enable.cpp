// Which activity kinds and API functions produce records, for whom. A kind that a program of this simulation never causes can be
// enabled and stays empty.
#include <algorithm>
#include <iterator>

#include "buffers.h"
#include "state.h"

namespace sim {
namespace {

// cuptiGetVersion of the releases that brought a function: 12.5 and 12.8.
constexpr std::uint32_t kCallsOneByOne = 23, kSyncChoice = 26;

bool is_kind(CUpti_ActivityKind kind) { return kind > CUPTI_ACTIVITY_KIND_INVALID && kind < CUPTI_ACTIVITY_KIND_COUNT; }

template <std::size_t Count>
void set_all(std::atomic<bool> (&flags)[Count], bool on) {
  for (auto& flag : flags) flag.store(on, std::memory_order_relaxed);
}

// A whole kind overrides what was said per function before.
void set_kind(Client& client, CUpti_ActivityKind kind, bool on) {
  client.kinds[kind].store(on, std::memory_order_relaxed);
  if (kind == CUPTI_ACTIVITY_KIND_DRIVER) set_all(client.driver_calls, on);
  if (kind == CUPTI_ACTIVITY_KIND_RUNTIME) set_all(client.runtime_calls, on);
}

template <std::size_t Count>
CUptiResult change_api(std::atomic<bool> (&flags)[Count], CUpti_CallbackId cbid, bool on) {
  if (behaviour().version < kCallsOneByOne) return CUPTI_ERROR_NOT_SUPPORTED;  // has no such function
  if (is_taken()) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  if (cbid == 0 || cbid >= Count) return CUPTI_ERROR_INVALID_PARAMETER;
  flags[cbid].store(on, std::memory_order_relaxed);
  return CUPTI_SUCCESS;
}

}  // namespace

CUptiResult change_kind(Client& client, CUpti_ActivityKind kind, bool on) {
  if (is_taken()) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  if (!is_kind(kind)) return CUPTI_ERROR_INVALID_KIND;
  set_kind(client, kind, on);
  return CUPTI_SUCCESS;
}

// What exists already is told too: devices, contexts, streams.
CUptiResult enable_and_dump(Client& client, CUpti_ActivityKind kind) {
  const CUptiResult result = change_kind(client, kind, true);
  if (result != CUPTI_SUCCESS || !callbacks_registered(client)) return result;
  thread_local Client* t_client = nullptr;
  t_client = &client;
  const auto emit = [](Note& note) { emit_to(*t_client, note); };
  if (kind == CUPTI_ACTIVITY_KIND_DEVICE) driver()->each(NoteKind::device, emit);
  if (kind == CUPTI_ACTIVITY_KIND_CONTEXT) driver()->each(NoteKind::context, emit);
  if (kind == CUPTI_ACTIVITY_KIND_STREAM) driver()->each(NoteKind::stream, emit);
  return result;
}

CUptiResult change_driver_call(Client& client, CUpti_CallbackId cbid, bool on) {
  return change_api(client.driver_calls, cbid, on);
}
CUptiResult change_runtime_call(Client& client, CUpti_CallbackId cbid, bool on) {
  return change_api(client.runtime_calls, cbid, on);
}

bool kind_enabled(const Client& client, CUpti_ActivityKind kind) {
  return is_kind(kind) && client.kinds[kind].load(std::memory_order_relaxed);
}

bool anything_enabled(const Client& client) {
  const auto any = [](const auto& flags) {
    return std::any_of(std::begin(flags), std::end(flags), [](const auto& flag) { return flag.load(); });
  };
  return any(client.kinds) || any(client.driver_calls) || any(client.runtime_calls);
}

bool api_enabled(const Client& client, CUpti_CallbackDomain domain, std::uint32_t cbid) {
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) return client.driver_calls[cbid].load(std::memory_order_relaxed);
  return client.runtime_calls[cbid].load(std::memory_order_relaxed);
}

void forget_kinds(Client& client) {
  for (int kind = 1; kind < CUPTI_ACTIVITY_KIND_COUNT; ++kind) {
    set_kind(client, static_cast<CUpti_ActivityKind>(kind), false);
  }
  set_all(client.driver_calls, false);
  set_all(client.runtime_calls, false);
}

}  // namespace sim

using namespace sim;

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  SIM_NEED_DRIVER();
  SIM_NEED_VERSION_1(true);
  return change_kind(process_client(), kind, true);
}

CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind kind) {
  SIM_NEED_DRIVER();
  SIM_NEED_VERSION_1(true);
  return enable_and_dump(process_client(), kind);
}

// Since CUDA 12.8; older headers do not have it.
extern "C" __attribute__((visibility("default"))) CUptiResult cuptiActivityEnableAllSyncRecords(std::uint8_t enable) {
  SIM_NEED_DRIVER();
  SIM_NEED_VERSION_1(true);
  if (behaviour().version < kSyncChoice) return CUPTI_ERROR_NOT_SUPPORTED;
  process_client().all_sync.store(enable != 0);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  SIM_NEED_DRIVER();
  SIM_NEED_VERSION_1(true);
  return change_kind(process_client(), kind, false);
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, std::uint8_t enable) {
  SIM_NEED_DRIVER();
  SIM_NEED_VERSION_1(true);
  return change_driver_call(process_client(), cbid, enable != 0);
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, std::uint8_t enable) {
  SIM_NEED_DRIVER();
  SIM_NEED_VERSION_1(true);
  return change_runtime_call(process_client(), cbid, enable != 0);
}
