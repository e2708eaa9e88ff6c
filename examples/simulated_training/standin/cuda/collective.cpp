#include "collective.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "../collective_area.h"
#include "../work.h"
#include "exports.h"

namespace sim {
namespace {

constexpr std::uint64_t kGiveUpNs = 2'000'000'000;

std::atomic<CollectiveArea*> s_area{nullptr};
std::uint32_t s_rank = 0;  // written before s_area
std::atomic<std::uint32_t> s_own_wakes{0};

CollectiveArea* area() { return s_area.load(std::memory_order_acquire); }

std::atomic<std::uint32_t>& wakes_of(CollectiveArea* in, std::uint32_t rank) {
  return in != nullptr ? in->wakes[rank] : s_own_wakes;
}

void wake(std::atomic<std::uint32_t>& word) {
  word.fetch_add(1, std::memory_order_release);
  syscall(SYS_futex, &word, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

bool has_come(const CollectiveArea& in, std::uint64_t number, std::uint32_t rank) {
  const Arrival& arrival = in.arrivals[number % kCollectiveSlots][rank];
  return arrival.number.load(std::memory_order_acquire) >= number || in.gone[rank].load() != 0;
}

bool all_have_come(const CollectiveArea& in, std::uint64_t number) {
  for (std::uint32_t rank = 0; rank < in.ranks; ++rank) {
    if (!has_come(in, number, rank)) return false;
  }
  return true;
}

void give_up_waiting(CollectiveArea& in, std::uint64_t number) {
  for (std::uint32_t rank = 0; rank < in.ranks; ++rank) {
    if (!has_come(in, number, rank)) in.gone[rank].store(1);
  }
}

}  // namespace

void arrive(std::uint64_t number, std::uint64_t start_ns) {
  CollectiveArea* in = area();
  if (in == nullptr) return;
  Arrival& own = in->arrivals[number % kCollectiveSlots][s_rank];
  own.start_ns.store(start_ns, std::memory_order_relaxed);
  own.number.store(number, std::memory_order_release);
  if (!all_have_come(*in, number)) return;
  for (std::uint32_t rank = 0; rank < in->ranks; ++rank) {
    if (rank != s_rank) wake(in->wakes[rank]);
  }
}

bool latest_arrival(std::uint64_t number, std::uint64_t now, std::uint64_t& latest_ns) {
  CollectiveArea* in = area();
  if (in == nullptr) return true;
  if (now > latest_ns + kGiveUpNs) give_up_waiting(*in, number);
  if (!all_have_come(*in, number)) return false;
  for (std::uint32_t rank = 0; rank < in->ranks; ++rank) {
    const Arrival& arrival = in->arrivals[number % kCollectiveSlots][rank];
    if (arrival.number.load(std::memory_order_acquire) != number) continue;
    latest_ns = std::max(latest_ns, arrival.start_ns.load(std::memory_order_relaxed));
  }
  return true;
}

std::uint32_t wake_ticket() { return wakes_of(area(), s_rank).load(std::memory_order_acquire); }
void wake_executor() { wake(wakes_of(area(), s_rank)); }

void sleep_until_woken(std::uint32_t ticket, std::uint64_t ns) {
  const timespec timeout{static_cast<time_t>(ns / 1'000'000'000), static_cast<long>(ns % 1'000'000'000)};
  syscall(SYS_futex, &wakes_of(area(), s_rank), FUTEX_WAIT, ticket, &timeout, nullptr, 0);
}

}  // namespace sim

SIM_EXPORT void simulated_join(void* area, std::uint32_t rank) {
  sim::s_rank = rank;
  sim::s_area.store(static_cast<sim::CollectiveArea*>(area), std::memory_order_release);
  sim::wake(sim::s_own_wakes);
}
