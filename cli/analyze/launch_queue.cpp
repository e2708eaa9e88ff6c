#include "cli/analyze/launch_queue.h"

#include <algorithm>
#include <limits>

namespace cli {

void LaunchQueue::launch(std::int64_t ns, std::uint64_t correlation) {
  if (!waiting_.add(correlation, first_place_ + launches_.size())) return;
  launches_.push_back({ns, correlation, nullptr});
  if (launches_.size() <= kMostWaiting) return;
  waiting_.take(launches_.front().correlation);
  launches_.pop_front();
  ++first_place_;
  ++given_up_;
  settle();
}

bool LaunchQueue::work(std::int64_t ns, std::uint64_t correlation, Changes& counter) {
  const auto place = waiting_.take(correlation);
  if (!place) return false;
  launches_[*place - first_place_].counter = &counter;
  starts_.emplace_back(ns, &counter);
  if (*place == first_place_) settle();
  return true;
}

// Up to the first launch that waits.
void LaunchQueue::settle() {
  for (; !launches_.empty() && launches_.front().counter != nullptr; launches_.pop_front(), ++first_place_) {
    start_before(launches_.front().ns);
    launches_.front().counter->add(launches_.front().ns, 1);
  }
  start_before(launches_.empty() ? std::numeric_limits<std::int64_t>::max() : launches_.front().ns);
}

void LaunchQueue::start_before(std::int64_t ns) {
  for (; !starts_.empty() && starts_.front().first < ns; starts_.pop_front()) {
    starts_.front().second->add(starts_.front().first, -1);
  }
}

void LaunchQueue::cut(std::int64_t at_ns) {
  std::deque<Launch> rest;
  for (const Launch& launch : launches_) {
    if (launch.counter == nullptr || launch.ns >= at_ns) {
      rest.push_back({std::max(launch.ns, at_ns), launch.correlation, launch.counter});
      continue;
    }
    start_before(launch.ns);
    launch.counter->add(launch.ns, 1);
  }
  start_before(at_ns);
  launches_.swap(rest);
  waiting_.clear();
  first_place_ = 0;
  for (std::size_t i = 0; i < launches_.size(); ++i) {
    if (launches_[i].counter == nullptr) waiting_.add(launches_[i].correlation, i);
  }
  settle();
}

void LaunchQueue::finish() {
  std::erase_if(launches_, [](const Launch& launch) { return launch.counter == nullptr; });
  settle();
}

}  // namespace cli
