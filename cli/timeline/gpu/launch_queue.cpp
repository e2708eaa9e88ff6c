#include "cli/timeline/gpu/launch_queue.h"

#include <algorithm>
#include <limits>

namespace cli {

bool WaitingLaunches::add(const LaunchRow& row, std::uint64_t correlation, std::uint64_t place) {
  if ((used_ + 1) * 4 > slots_.size() * 3) grow(row);
  Slot& slot = slots_[find(row, correlation)];
  if (slot != 0) return false;
  slot = static_cast<Slot>(place % LaunchRow::kMost + 1);
  ++used_;
  return true;
}

std::optional<std::uint64_t> WaitingLaunches::take(const LaunchRow& row, std::uint64_t correlation) {
  const std::size_t at = find(row, correlation);
  if (slots_[at] == 0) return std::nullopt;
  const std::uint64_t place = row.first_place + index(row, slots_[at]);
  --used_;
  close_hole(row, at);
  return place;
}

void WaitingLaunches::clear() {
  slots_.assign(slots_.size(), 0);
  used_ = 0;
}

// Returns the slot of the launch, or the free slot for it.
std::size_t WaitingLaunches::find(const LaunchRow& row, std::uint64_t id) const {
  std::size_t at = home(id);
  while (slots_[at] != 0 && correlation(row, slots_[at]) != id) at = (at + 1) & mask();
  return at;
}

// Moves back entries that probed past the hole.
void WaitingLaunches::close_hole(const LaunchRow& row, std::size_t hole) {
  for (std::size_t at = (hole + 1) & mask(); slots_[at] != 0; at = (at + 1) & mask()) {
    const std::size_t distance = (at - home(correlation(row, slots_[at]))) & mask();
    if (distance < ((at - hole) & mask())) continue;
    slots_[hole] = slots_[at];
    hole = at;
  }
  slots_[hole] = 0;
}

void WaitingLaunches::grow(const LaunchRow& row) {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot slot : old) {
    if (slot != 0) slots_[find(row, correlation(row, slot))] = slot;
  }
}

void LaunchQueue::launch(std::int64_t ns, std::uint64_t correlation) {
  if (!waiting_.add(row_, correlation, row_.first_place + row_.launches.size())) return;
  row_.launches.push_back({ns, correlation, nullptr});
  if (row_.launches.size() <= kMostWaiting) return;
  waiting_.take(row_, row_.launches.front().correlation);
  row_.drop_first();
  ++given_up_;
  settle();
}

bool LaunchQueue::work(std::int64_t ns, std::uint64_t correlation, Changes& counter) {
  const auto place = waiting_.take(row_, correlation);
  if (!place) return false;
  row_.launches[*place - row_.first_place].counter = &counter;
  starts_.emplace_back(ns, &counter);
  if (*place == row_.first_place) settle();
  return true;
}

// Up to the first launch that waits.
void LaunchQueue::settle() {
  for (; !row_.launches.empty() && row_.launches.front().counter != nullptr; row_.drop_first()) {
    const QueuedLaunch& first = row_.launches.front();
    start_before(first.ns);
    first.counter->add(first.ns, 1);
  }
  start_before(row_.launches.empty() ? std::numeric_limits<std::int64_t>::max() : row_.launches.front().ns);
}

void LaunchQueue::start_before(std::int64_t ns) {
  for (; !starts_.empty() && starts_.front().first < ns; starts_.pop_front()) {
    starts_.front().second->add(starts_.front().first, -1);
  }
}

void LaunchQueue::cut(std::int64_t at_ns) {
  LaunchRow rest;
  for (const QueuedLaunch& launch : row_.launches) {
    if (launch.counter == nullptr || launch.ns >= at_ns) {
      rest.launches.push_back({std::max(launch.ns, at_ns), launch.correlation, launch.counter});
      continue;
    }
    start_before(launch.ns);
    launch.counter->add(launch.ns, 1);
  }
  start_before(at_ns);
  std::swap(row_, rest);
  waiting_.clear();
  for (std::size_t i = 0; i < row_.launches.size(); ++i) {
    if (row_.launches[i].counter == nullptr) waiting_.add(row_, row_.launches[i].correlation, i);
  }
  settle();
}

void LaunchQueue::finish() {
  std::erase_if(row_.launches, [](const QueuedLaunch& launch) { return launch.counter == nullptr; });
  settle();
}

}  // namespace cli
