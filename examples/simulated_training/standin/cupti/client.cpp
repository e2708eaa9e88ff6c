#include <algorithm>
#include <cstdio>
#include <cstring>

#include "buffers.h"
#include "state.h"

namespace sim {
namespace {

constexpr std::size_t kMost = 64;
constexpr char kToldName[] = "CUPTI for tracetool";

std::atomic<Client*> s_clients[kMost];
std::atomic<std::size_t> s_count{0};
std::atomic<Client*> s_told{nullptr};

// Of a process that is the only client, until somebody subscribes.
Client& first() {
  static Client* const made = [] {
    auto* client = new Client;
    reset_attributes(*client);
    s_clients[0].store(client);
    s_told.store(client);
    s_count.store(1, std::memory_order_release);
    return client;
  }();
  return *made;
}

}  // namespace

Client& process_client() { return first(); }

Client& add_client(const char* name) {
  first();
  const std::size_t number = s_count.load();
  if (number == kMost) break_off("there were too many subscribers for this stand-in");
  auto* made = new Client;
  reset_attributes(*made);
  made->number = number;
  made->all_sync = false;
  std::snprintf(made->name, sizeof(made->name), "CUPTI for %.53s", name != nullptr ? name : "");
  s_clients[number].store(made);
  s_count.store(number + 1, std::memory_order_release);
  return *made;
}

void tell_of(Client& client) {
  const bool named = &client == &process_client() || std::strcmp(client.name, kToldName) == 0;
  if (named) s_told.store(&client, std::memory_order_release);
}

Client& told() {
  first();
  return *s_told.load(std::memory_order_acquire);
}

std::size_t client_count() {
  first();
  return s_count.load(std::memory_order_acquire);
}

Client& client(std::size_t number) { return *s_clients[number].load(std::memory_order_acquire); }

Client* subscriber_of(CUpti_SubscriberHandle handle) {
  for (std::size_t i = 1; i < client_count(); ++i) {
    if (reinterpret_cast<CUpti_SubscriberHandle>(&client(i)) == handle)
      return client(i).is_subscribed ? &client(i) : nullptr;
  }
  return nullptr;
}

bool has_subscribers() {
  bool any = false;
  each_client([&](const Client& each) { any |= each.number != 0 && each.is_subscribed; });
  return any;
}

std::size_t live_clients() {
  std::size_t live = 0;
  each_client([&](const Client& each) { live += each.is_subscribed; });
  return live;
}

}  // namespace sim
