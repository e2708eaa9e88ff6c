#include "cli/timeline/gpu/launch_queue.h"

#include <algorithm>
#include <limits>

namespace cli {

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
