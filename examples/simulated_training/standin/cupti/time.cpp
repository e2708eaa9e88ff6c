// CUPTI's clock: the simulated host's CLOCK_REALTIME, or the client's own.
#include "../true_clock.h"
#include "buffers.h"
#include "state.h"

namespace sim {
namespace {

// A client's clock, and what it said when it was registered. Never deleted: a thread may still read with it.
struct ClientClock {
  CUpti_TimestampCallbackFunc callback;
  std::uint64_t true_ns, value;
};

std::atomic<const ClientClock*> s_client{nullptr};
std::atomic<bool> s_system_ids{false};

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
  const double ticks = static_cast<double>(now.value - client.value) / static_cast<double>(now.true_ns - client.true_ns);
  return now.value - static_cast<std::uint64_t>(static_cast<std::int64_t>(
                         static_cast<double>(static_cast<std::int64_t>(now.true_ns - ns)) * ticks));
}

}  // namespace

std::uint64_t to_cupti(std::uint64_t ns) {
  if (const ClientClock* client = s_client.load(std::memory_order_acquire)) return in_clients_clock(*client, ns);
  return simulated_host_real_ns != nullptr ? simulated_host_real_ns(ns) : ns;
}

bool system_thread_ids() { return s_system_ids.load(std::memory_order_relaxed); }

}  // namespace sim

using namespace sim;

CUptiResult cuptiGetTimestamp(std::uint64_t* timestamp) {
  check_not_torn_down(__func__);
  if (timestamp == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const ClientClock* client = s_client.load(std::memory_order_acquire);
  *timestamp = client != nullptr ? client->callback() : to_cupti(true_ns());
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc callback) {
  SIM_NEED_DRIVER();
  if (callback == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  s_client.store(new ClientClock(read_together(callback)), std::memory_order_release);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  SIM_NEED_DRIVER();
  if (type > CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM) return CUPTI_ERROR_NOT_SUPPORTED;
  const bool system = type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
  if (callbacks_registered() && system != system_thread_ids())
    break_off("the thread id type was changed during a profiling session");
  s_system_ids.store(system);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType* type) {
  if (type == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  *type = system_thread_ids() ? CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM : CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT;
  return CUPTI_SUCCESS;
}
