#include "cli/select/work_sequence.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

namespace cli {
namespace {

bool is_before(const LaunchedWork& a, const LaunchedWork& b) {
  return std::tie(a.order, a.node, a.arrival) < std::tie(b.order, b.node, b.arrival);
}
bool is_behind(const LaunchedWork& a, const LaunchedWork& b) { return is_before(b, a); }

}  // namespace

// The numbers have 32 bits and begin again in a long run; larger ones are another tool's, and as they are.
std::int64_t WorkSequence::continued(std::int64_t number) {
  if (number > UINT32_MAX || last_order_ > INT64_MAX / 2) return number;
  const auto ahead = static_cast<std::int32_t>(static_cast<std::uint32_t>(number) - static_cast<std::uint32_t>(last_order_));
  return arrivals_ == 0 ? number : last_order_ + ahead;
}

void WorkSequence::add(LaunchedWork work) {
  if (decided_ && !cutter_) return;
  work.order = last_order_ = continued(work.order);
  work.arrival = arrivals_++;
  held_.push_back(work);
  if (!decided_) {
    if (held_.size() == most_) decide(most_ - most_ / 16);
    return;
  }
  std::push_heap(held_.begin(), held_.end(), is_behind);
  if (held_.size() <= most_ / 16) return;
  std::pop_heap(held_.begin(), held_.end(), is_behind);
  cutter_->add(held_.back());
  held_.pop_back();
}

// Of the held ones so many are in order for sure.
void WorkSequence::decide(std::size_t sure) {
  decided_ = true;
  std::sort(held_.begin(), held_.end(), is_before);
  const std::span<const LaunchedWork> known(held_.data(), sure);
  period_ = find_period(known);
  if (period_.is_accepted()) {
    cutter_.emplace(known, period_);
    for (const LaunchedWork& work : known) cutter_->add(work);
  }
  std::vector<LaunchedWork> rest;
  if (cutter_) rest.assign(held_.begin() + static_cast<std::ptrdiff_t>(sure), held_.end());
  held_ = std::move(rest);  // ascending: a heap
}

void WorkSequence::finish(ProcessSteps& of) {
  if (!decided_) decide(held_.size());
  of.period = period_;
  if (!cutter_) return;
  std::sort(held_.begin(), held_.end(), is_before);
  for (const LaunchedWork& work : held_) cutter_->add(work);
  cutter_->finish(of);
}

}  // namespace cli
