#include "cli/formats/kineto/implausible_times.h"

#include <algorithm>

namespace cli::kineto {

namespace {

bool are_near(std::int64_t before_ns, std::int64_t after_ns, std::uint64_t most_ns) {
  return after_ns <= before_ns ||
         static_cast<std::uint64_t>(after_ns) - static_cast<std::uint64_t>(before_ns) <= most_ns;
}

void join(TimeClusters::Span& to, const TimeClusters::Span& more) {
  to.events += more.events;
  to.first_ns = std::min(to.first_ns, more.first_ns);
  to.last_ns = std::max(to.last_ns, more.last_ns);
  to.first_unclamped_ns = std::min(to.first_unclamped_ns, more.first_unclamped_ns);
}

}  // namespace

void TimeClusters::find_day(std::int64_t ns) {
  const auto day_length = static_cast<std::int64_t>(kDay_ns);
  const std::int64_t number = ns / day_length - (ns % day_length < 0);
  const auto known = days_.find(number);
  if (known == days_.end() && days_.size() == kMostDays) {  // days cannot be used then
    day_ = &days_.begin()->second;
  } else {
    day_ = &days_[number];
  }
  day_begin_ =
      std::max(number, INT64_MIN / day_length) *
      day_length;  // the first day begins before INT64_MIN: the next one stands in, and the day is searched for again
}

TimeClusters::Span TimeClusters::span(std::uint64_t& strays) const {
  std::vector<Span> clusters;
  for (const auto& [number, day] : days_) {
    if (clusters.empty() || !are_near(clusters.back().last_ns, day.first_ns, kDay_ns)) clusters.emplace_back();
    join(clusters.back(), day);
  }
  strays = 0;
  Span all;
  const auto more = [](const Span& a, const Span& b) { return a.events < b.events; };
  const auto largest = std::max_element(clusters.begin(), clusters.end(), more);
  for (const Span& cluster : clusters) {
    if (cluster.events * 2 < largest->events ||
        !are_near(std::min(all.first_ns, cluster.first_ns), std::max(all.last_ns, cluster.last_ns), INT64_MAX)) {
      strays += cluster.events;
    } else {
      join(all, cluster);
    }
  }
  std::vector<std::int64_t> ends = long_ends_;
  std::sort(ends.begin(), ends.end());
  for (const std::int64_t end_ns : ends) {
    if (are_near(all.last_ns, end_ns, kDay_ns) && are_near(all.first_ns, end_ns, INT64_MAX))
      all.last_ns = std::max(all.last_ns, end_ns);
    else
      ++strays;
  }
  return all;
}

}  // namespace cli::kineto
