#include "rules.h"

#include <cstdio>

#include "buffers.h"

namespace sim {
namespace {

thread_local Inside t_inside = Inside::nothing;
std::atomic<bool> s_torn_down{false};

}  // namespace

InsideClient::InsideClient(Inside where) noexcept : before_(t_inside) { t_inside = where; }
InsideClient::~InsideClient() { t_inside = before_; }

void begin_teardown() { s_torn_down.store(true, std::memory_order_release); }

void check_not_torn_down(const char* name) {
  if (!s_torn_down.load(std::memory_order_acquire)) return;
  char rule[128];
  std::snprintf(rule, sizeof(rule), "%s was called after the driver had begun to leave", name);
  break_off(rule);
}

void check_may_flush() {
  if (t_inside == Inside::buffer_callback) break_off("cuptiActivityFlushAll was called from a buffer callback");
  if (t_inside == Inside::other_callback)
    break_off("cuptiActivityFlushAll was called from a callback that is not of an API call");
}

void check_may_read() {
  if (t_inside != Inside::buffer_callback) check_not_torn_down("cuptiActivityGetNextRecord");
}

OneAtATime::OneAtATime(std::atomic<bool>& occupied, const char* rule) noexcept : occupied_(occupied) {
  if (occupied_.exchange(true, std::memory_order_acquire)) break_off(rule);
}
OneAtATime::~OneAtATime() { occupied_.store(false, std::memory_order_release); }

}  // namespace sim
