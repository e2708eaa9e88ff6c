#include "cli/timeline/collectives/statistics.h"

namespace cli {

void ExchangeTest::add(const std::vector<std::int64_t>& starts_ns, std::size_t chosen, std::int64_t cost_ns,
                       bool ends_block) {
  const std::size_t ranks = starts_ns.size();
  if (chosen > 0 && chosen < ranks && starts_ns[0] > starts_ns[chosen]) {
    Meeting meeting{outcomes_.size(), 0, 1};
    double log_all = 0;  // probability that the `last` latest ranks are in the set
    for (std::size_t last = 0; last <= chosen; ++last) {
      const double next = static_cast<double>(ranks - last);
      outcomes_.push_back({log_all + std::log(static_cast<double>(ranks - chosen) / next),
                           static_cast<double>(std::min(most_ns_, starts_ns[0] - starts_ns[last]))});
      log_all += last < chosen ? std::log(static_cast<double>(chosen - last) / next) : 0;
    }
    meeting.count = outcomes_.size() - meeting.first;
    meetings_.push_back(meeting);
    block_cost_ns_ += static_cast<double>(std::clamp<std::int64_t>(cost_ns, 0, most_ns_));
  }
  if (ends_block) end_block();
}

void ExchangeTest::end_block() {
  double sum_ns = 0;
  const auto most_ns = [&](const Meeting& each) { return outcomes_[each.first + each.count - 1].cost_ns; };
  for (std::size_t at = block_; at < meetings_.size(); ++at) sum_ns += most_ns(meetings_[at]);
  if (sum_ns > 0) blocks_.push_back({sum_ns, block_cost_ns_});
  cost_ns_ += std::exchange(block_cost_ns_, 0);
  for (; block_ < meetings_.size(); ++block_) {
    Meeting& meeting = meetings_[block_];
    meeting.share = most_ns(meeting) / sum_ns;
    for (std::size_t i = 0; i < meeting.count; ++i) outcomes_[meeting.first + i].cost_ns /= meeting.share;
  }
}

// For any `per_ns` > 0: log P(sum of costs >= cost_ns_) <= log E[exp(per_ns * sum of costs)] - per_ns * cost_ns_.
double ExchangeTest::log_bound(double per_ns) const {
  double bound = -per_ns * cost_ns_;
  for (const Meeting& meeting : meetings_) {
    const Outcome* const first = &outcomes_[meeting.first];
    const auto exponent = [&](std::size_t i) { return first[i].log_probability + per_ns * first[i].cost_ns; };
    double most = exponent(0), sum = 0;
    for (std::size_t i = 1; i < meeting.count; ++i) most = std::max(most, exponent(i));
    for (std::size_t i = 0; i < meeting.count; ++i) sum += std::exp(exponent(i) - most);
    bound += meeting.share * (most + std::log(sum));
  }
  return bound;
}

// With the correlation r between successive values, the variance of the sum is larger by (1 + r) / (1 - r).
double ExchangeTest::meetings_of_a_delay() const {
  double all = 0, late = 0, pairs = 0, changes = 0;
  const auto is_late = [](const BlockCost& each) { return 2 * each.cost_ns > each.most_ns; };
  for (std::size_t at = 0; at < blocks_.size(); ++at) {
    all += blocks_[at].most_ns;
    late += is_late(blocks_[at]) ? blocks_[at].most_ns : 0;
    if (at == 0) continue;
    const double both = (blocks_[at].most_ns + blocks_[at - 1].most_ns) / 2;
    pairs += both;
    changes += is_late(blocks_[at]) != is_late(blocks_[at - 1]) ? both : 0;
  }
  const double alike = late / all * (1 - late / all);
  if (pairs <= 0 || alike <= 0) return 1;
  const double r = std::clamp(1 - changes / (2 * pairs * alike), 0.0, 1.0 / 3);
  return (1 + r) / (1 - r);
}

bool ExchangeTest::is_beyond(double log_limit) const {
  double most_ns = 0;
  for (const Outcome& each : outcomes_) most_ns = std::max(most_ns, each.cost_ns);
  if (most_ns <= 0 || cost_ns_ <= 0) return false;
  log_limit *= meetings_of_a_delay();
  // The bound is convex in per_ns: golden section search over its logarithm.
  constexpr double kGolden = 0.6180339887498949;
  double low = std::log(1e-2 / most_ns), high = std::log(1e4 / most_ns);
  const auto bound = [&](double log_per_ns) { return log_bound(std::exp(log_per_ns)); };
  double left = high - kGolden * (high - low), right = low + kGolden * (high - low);
  double at_left = bound(left), at_right = bound(right);
  for (int i = 0; i < 40; ++i) {
    if (std::min(at_left, at_right) <= log_limit) return true;
    if (at_left < at_right) {
      high = right, right = left, at_right = at_left;
      left = high - kGolden * (high - low), at_left = bound(left);
    } else {
      low = left, left = right, at_left = at_right;
      right = low + kGolden * (high - low), at_right = bound(right);
    }
  }
  return std::min(at_left, at_right) <= log_limit;
}

}  // namespace cli
