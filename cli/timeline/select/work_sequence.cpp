#include "cli/timeline/select/work_sequence.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

namespace cli {
namespace {

bool is_before(const LaunchedWork& a, const LaunchedWork& b) {
  return std::tie(a.order, a.node, a.arrival) < std::tie(b.order, b.node, b.arrival);
}

// They mostly are in order.
void put_in_order(std::vector<LaunchedWork>& work) {
  if (!std::is_sorted(work.begin(), work.end(), is_before)) std::sort(work.begin(), work.end(), is_before);
}

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
  if (arrivals_ == 0) held_.reserve(std::min(most_, expected_));
  work.arrival = arrivals_++;
  held_.push_back(work);
  if (!decided_) {
    if (held_.size() == most_) decide(most_ - most_ / 16);
    return;
  }
  if (held_.size() <= most_ / 8) return;
  put_in_order(held_);
  const auto sure = held_.end() - static_cast<std::ptrdiff_t>(most_ / 16);
  std::for_each(held_.begin(), sure, [this](const LaunchedWork& each) { cutter_->add(each); });
  held_.erase(held_.begin(), sure);
}

// Of the held ones so many are in order for sure.
void WorkSequence::decide(std::size_t sure) {
  decided_ = true;
  put_in_order(held_);
  const std::span<const LaunchedWork> known(held_.data(), sure);
  period_ = find_period(known);
  if (period_.is_accepted()) {
    cutter_.emplace(known, period_);
    for (const LaunchedWork& work : known) cutter_->add(work);
  }
  std::vector<LaunchedWork> rest;
  if (cutter_) rest.assign(held_.begin() + static_cast<std::ptrdiff_t>(sure), held_.end());
  held_ = std::move(rest);
}

void WorkSequence::finish(ProcessSteps& of) {
  if (!decided_) decide(held_.size());
  of.period = period_;
  if (!cutter_) return;
  put_in_order(held_);
  for (const LaunchedWork& work : held_) cutter_->add(work);
  cutter_->finish(of);
}

}  // namespace cli
