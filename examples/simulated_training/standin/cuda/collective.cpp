#include "collective.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <vector>

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

// Calls f(rank) for each member; false as soon as it does.
template <typename F>
bool all_members(const CollectiveArea& in, const Meeting& meeting, F&& f) {
  const std::uint32_t count = meeting.count != 0 ? meeting.count : in.ranks;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (!f(meeting.first + i * meeting.stride)) return false;
  }
  return true;
}

const Arrival& arrival_of(const CollectiveArea& in, const Meeting& meeting, std::uint32_t rank) {
  return in.arrivals[meeting.lane][meeting.number % kCollectiveSlots][rank];
}

bool has_come(const CollectiveArea& in, const Meeting& meeting, std::uint32_t rank) {
  const Arrival& arrival = arrival_of(in, meeting, rank);
  return arrival.number.load(std::memory_order_acquire) >= meeting.number || in.gone[rank].load() != 0;
}

bool all_have_come(const CollectiveArea& in, const Meeting& meeting) {
  return all_members(in, meeting, [&](std::uint32_t rank) { return has_come(in, meeting, rank); });
}

void give_up_waiting(CollectiveArea& in, const Meeting& meeting) {
  all_members(in, meeting, [&](std::uint32_t rank) {
    if (!has_come(in, meeting, rank)) in.gone[rank].store(1);
    return true;
  });
}

void wake_others(CollectiveArea& in) {
  for (std::uint32_t rank = 0; rank < in.ranks; ++rank) {
    if (rank != s_rank) wake(in.wakes[rank]);
  }
}

}  // namespace

void arrive(const Meeting& meeting, std::uint64_t start_ns) {
  CollectiveArea* in = area();
  if (in == nullptr) return;
  Arrival& own = in->arrivals[meeting.lane][meeting.number % kCollectiveSlots][s_rank];
  own.start_ns.store(start_ns, std::memory_order_relaxed);
  own.number.store(meeting.number, std::memory_order_release);
  if (all_have_come(*in, meeting)) wake_others(*in);
}

bool latest_arrival(const Meeting& meeting, std::uint64_t now, std::uint64_t& latest_ns) {
  CollectiveArea* in = area();
  if (in == nullptr) return true;
  if (now > latest_ns + kGiveUpNs && in->waits_for_ever.load() == 0) give_up_waiting(*in, meeting);
  if (!all_have_come(*in, meeting)) return false;
  all_members(*in, meeting, [&](std::uint32_t rank) {
    const Arrival& arrival = arrival_of(*in, meeting, rank);
    const bool is_this = arrival.number.load(std::memory_order_acquire) == meeting.number;
    if (is_this) latest_ns = std::max(latest_ns, arrival.start_ns.load(std::memory_order_relaxed));
    return true;
  });
  return true;
}

std::int64_t lateness_ns(const Meeting& meeting, std::uint64_t start_ns) {
  CollectiveArea* in = area();
  if (in == nullptr) return 0;
  std::vector<std::uint64_t> starts;
  all_members(*in, meeting, [&](std::uint32_t rank) {
    const Arrival& arrival = arrival_of(*in, meeting, rank);
    if (arrival.number.load(std::memory_order_acquire) == meeting.number)
      starts.push_back(arrival.start_ns.load(std::memory_order_relaxed));
    return true;
  });
  if (starts.empty()) return 0;
  const auto middle = starts.begin() + static_cast<std::ptrdiff_t>((starts.size() - 1) / 2);
  std::nth_element(starts.begin(), middle, starts.end());
  return static_cast<std::int64_t>(start_ns) - static_cast<std::int64_t>(*middle);
}

std::uint64_t next_collective(std::uint32_t lane) {
  static std::atomic<std::uint64_t> s_last[kLanes];
  return ++s_last[lane];
}

void leave_collectives() {
  CollectiveArea* in = area();
  if (in == nullptr) return;
  in->gone[s_rank].store(1);
  wake_others(*in);
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

SIM_EXPORT std::uint64_t simulated_next_collective(std::uint32_t lane) { return sim::next_collective(lane); }
