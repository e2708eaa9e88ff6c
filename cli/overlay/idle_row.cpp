#include "cli/overlay/idle_row.h"

#include <algorithm>

namespace cli {

void IdleRow::work(std::int64_t start_ns, std::int64_t end_ns) {
  if (free_ns_ != kNever && start_ns > free_ns_) gap(start_ns);
  at_last_work_ = sums_;
  free_ns_ = std::max(free_ns_, end_ns);
}

void IdleRow::cut(std::int64_t at_ns) {
  if (free_ns_ == kNever || at_ns <= free_ns_) return;
  gap(at_ns);
  free_ns_ = at_ns;
}

void IdleRow::gap(std::int64_t end_ns) {
  const std::int64_t length_ns = end_ns - free_ns_;
  sums_.idle_ns += length_ns;
  if (length_ns < kShortest_ns) {
    sums_.short_ns += length_ns, ++sums_.short_gaps;
    short_ns_ += length_ns, ++short_gaps_;
    return;
  }
  DerivedFacts facts;
  facts.length_ns = length_ns, facts.short_gaps = short_gaps_, facts.short_gaps_ns = short_ns_;
  out_.slice(DerivedRow::idle, free_ns_, end_ns, facts);
  short_ns_ = 0, short_gaps_ = 0;
}

void IdleRow::add_totals(DeviceTotals& totals) const {
  totals.idle_ns = at_last_work_.idle_ns;
  totals.short_idle_ns = at_last_work_.short_ns;
  totals.short_idle_gaps = at_last_work_.short_gaps;
}

}  // namespace cli
