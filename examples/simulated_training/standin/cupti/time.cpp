// CUPTI's clock: the simulated host's CLOCK_REALTIME, or each client's own.
#include "../true_clock.h"
#include "buffers.h"
#include "state.h"

namespace sim {

// A client's clock, and what it said when it was registered. Never deleted: a thread may still read with it.
struct ClientClock {
  CUpti_TimestampCallbackFunc callback;
  std::uint64_t true_ns, value;
};

namespace {

// The client's clock and the true one, as good as at once.
ClientClock read_together(CUpti_TimestampCallbackFunc callback) {
  constexpr std::uint64_t kClose_ns = 5'000;
  ClientClock read{callback, 0, 0};
  std::uint64_t between_ns = 0;
  for (int tries = 0; tries < 10 && (tries == 0 || between_ns > kClose_ns); ++tries) {
    const std::uint64_t before_ns = true_ns();
    read.value = callback();
    between_ns = true_ns() - before_ns;
    read.true_ns = before_ns + between_ns / 2;
  }
  return read;
}

// On the line through now and the moment of the registration: the client's clock may count anything.
std::uint64_t in_clients_clock(const ClientClock& client, std::uint64_t ns) {
  constexpr std::uint64_t kLong_ns = 1'000'000;
  ClientClock now = read_together(client.callback);
  while (now.true_ns < client.true_ns + kLong_ns) now = read_together(client.callback);
  const double ticks =
      static_cast<double>(now.value - client.value) / static_cast<double>(now.true_ns - client.true_ns);
  return now.value - static_cast<std::uint64_t>(static_cast<std::int64_t>(
                         static_cast<double>(static_cast<std::int64_t>(now.true_ns - ns)) * ticks));
}

}  // namespace

std::uint64_t to_cupti(const Client& client, std::uint64_t ns) {
  if (const ClientClock* clock = client.clock.load(std::memory_order_acquire)) return in_clients_clock(*clock, ns);
  return simulated_host_real_ns != nullptr ? simulated_host_real_ns(ns) : ns;
}

std::uint64_t now_of(const Client& client) {
  const ClientClock* clock = client.clock.load(std::memory_order_acquire);
  return clock != nullptr ? clock->callback() : to_cupti(client, true_ns());
}

CUptiResult set_clock(Client& client, CUpti_TimestampCallbackFunc callback) {
  client.clock.store(callback != nullptr ? new ClientClock(read_together(callback)) : nullptr,
                     std::memory_order_release);
  return CUPTI_SUCCESS;
}

CUptiResult set_thread_ids(Client& client, std::uint32_t type) {
  if (type > CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM) return CUPTI_ERROR_NOT_SUPPORTED;
  const bool system = type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
  if (callbacks_registered(client) && system != client.system_ids)
    break_off("the thread id type was changed during a profiling session");
  client.system_ids.store(system);
  return CUPTI_SUCCESS;
}

}  // namespace sim

using namespace sim;

CUptiResult cuptiGetTimestamp(std::uint64_t* timestamp) {
  check_not_torn_down(__func__);
  if (timestamp == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  SIM_NEED_VERSION_1(false);
  *timestamp = now_of(process_client());
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc callback) {
  SIM_NEED_DRIVER();
  if (callback == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  SIM_NEED_VERSION_1(true);
  return set_clock(process_client(), callback);
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  SIM_NEED_DRIVER();
  if (has_subscribers()) return CUPTI_ERROR_NOT_SUPPORTED;
  return set_thread_ids(process_client(), type);
}

CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType* type) {
  if (type == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (has_subscribers()) return CUPTI_ERROR_NOT_SUPPORTED;
  *type = process_client().system_ids ? CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM : CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT;
  return CUPTI_SUCCESS;
}
