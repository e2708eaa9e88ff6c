// Subscription and callbacks: only what each client enabled. Several subscribers: version_2.cpp.
#include <cstdio>
#include <mutex>
#include <span>

#include "state.h"

namespace sim {
namespace {

std::mutex s_mutex;

// Empty: no such domain.
std::span<std::atomic<bool>> flags_of(Client& client, CUpti_CallbackDomain domain) {
  switch (domain) {
    case CUPTI_CB_DOMAIN_DRIVER_API:
      return client.on_driver;
    case CUPTI_CB_DOMAIN_RUNTIME_API:
      return client.on_runtime;
    case CUPTI_CB_DOMAIN_RESOURCE:
      return client.on_resource;
    case CUPTI_CB_DOMAIN_SYNCHRONIZE:
      return client.on_synchronize;
#if CUPTI_API_VERSION >= 21
    case CUPTI_CB_DOMAIN_STATE:
      return client.on_state;
#endif
    default:
      return {};
  }
}

void set_all(Client& client, CUpti_CallbackDomain domain, bool on) {
  for (std::atomic<bool>& flag : flags_of(client, domain)) flag.store(on);
}

void set_all_domains(Client& client, bool on) {
  for (int domain = CUPTI_CB_DOMAIN_DRIVER_API; domain < CUPTI_CB_DOMAIN_SIZE; ++domain) {
    set_all(client, static_cast<CUpti_CallbackDomain>(domain), on);
  }
}

// cupti_callbacks.h: "a subscriber must serialize access to cuptiGetCallbackState, cuptiEnableCallback,
// cuptiEnableDomain, and cuptiEnableAllDomains".
constexpr char kSerialize[] = "two threads were in functions of cuptiEnableCallback's family at once";

// Whose handle it is, of whichever version; null: nobody's.
Client* client_of(CUpti_SubscriberHandle handle) {
  if (is_dead() || handle == nullptr) return nullptr;
  if (reinterpret_cast<Client*>(handle) != &process_client()) return subscriber_of(handle);
  return process_client().is_subscribed ? &process_client() : nullptr;
}

}  // namespace

CUptiResult subscribe_alone(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* user, const char* name) {
  if (handle == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const std::lock_guard lock(s_mutex);
  Client& process = process_client();
  if (is_taken() || process.is_subscribed || has_subscribers()) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  process.callback = callback;
  process.user = user;
  std::snprintf(process.name, sizeof(process.name), "CUPTI for %.53s", name != nullptr ? name : "");
  process.is_subscribed.store(true, std::memory_order_release);
  tell_of(process);
  *handle = reinterpret_cast<CUpti_SubscriberHandle>(&process);
  return CUPTI_SUCCESS;
}

std::uint32_t callback_count(CUpti_CallbackDomain domain) {
  return static_cast<std::uint32_t>(flags_of(process_client(), domain).size());
}

bool callback_enabled(const Client& client, CUpti_CallbackDomain domain, std::uint32_t cbid) {
  const auto flags = flags_of(const_cast<Client&>(client), domain);
  return cbid < flags.size() && flags[cbid].load(std::memory_order_relaxed);
}

void forget_subscriber(Client& client) {
  client.is_subscribed.store(false, std::memory_order_release);
  set_all_domains(client, false);
}

}  // namespace sim

using namespace sim;

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* user) {
  SIM_NEED_DRIVER();
  return subscribe_alone(handle, callback, user, nullptr);
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle) {
  check_not_torn_down(__func__);
  Client* client = client_of(handle);
  if (client == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  client->number == 0 ? forget_subscriber(*client) : end_subscriber(*client);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
                                CUpti_CallbackId cbid) {
  check_not_torn_down(__func__);
  Client* client = client_of(handle);
  if (client == nullptr || cbid == 0 || cbid >= callback_count(domain)) return CUPTI_ERROR_INVALID_PARAMETER;
  const OneAtATime alone(client->occupied, kSerialize);
  flags_of(*client, domain)[cbid].store(enable != 0);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableDomain(std::uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain) {
  check_not_torn_down(__func__);
  Client* client = client_of(handle);
  if (client == nullptr || callback_count(domain) == 0) return CUPTI_ERROR_INVALID_PARAMETER;
  const OneAtATime alone(client->occupied, kSerialize);
  set_all(*client, domain, enable != 0);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableAllDomains(std::uint32_t enable, CUpti_SubscriberHandle handle) {
  check_not_torn_down(__func__);
  Client* client = client_of(handle);
  if (client == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  const OneAtATime alone(client->occupied, kSerialize);
  set_all_domains(*client, enable != 0);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackState(std::uint32_t* enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
                                  CUpti_CallbackId cbid) {
  check_not_torn_down(__func__);
  Client* client = client_of(handle);
  if (enable == nullptr || client == nullptr || cbid >= callback_count(domain)) return CUPTI_ERROR_INVALID_PARAMETER;
  const OneAtATime alone(client->occupied, kSerialize);
  *enable = callback_enabled(*client, domain, cbid) ? 1 : 0;
  return CUPTI_SUCCESS;
}
