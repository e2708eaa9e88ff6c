#include "cli/show/export/cut_plan.h"

#include <algorithm>

namespace cli {

void CutPlan::note(std::int64_t start_ns, std::uint64_t bytes) {
  noted_bytes_ = bytes;
  if (seen_ == Seen::nothing) {
    while (step_ < step_starts_.size() && step_starts_[step_] <= start_ns) ++step_;
    last_ns_ = start_ns;
    seen_ = Seen::one_event;
    return;
  }
  if (seen_ == Seen::one_event) {
    head_bytes_ = bytes;
    seen_ = Seen::more;
  }
  if (start_ns == last_ns_) return;
  last_ns_ = start_ns;
  if (step_ < step_starts_.size() && step_starts_[step_] <= start_ns) {
    while (step_ + 1 < step_starts_.size() && step_starts_[step_ + 1] <= start_ns) ++step_;
    add(step_starts_[step_++], bytes, true);
  } else if (bytes - (candidates_.empty() ? 0 : candidates_.back().bytes) >= limit_bytes_ / 256) {
    add(start_ns, bytes, false);
  }
}

void CutPlan::add(std::int64_t at_ns, std::uint64_t bytes, bool at_step) { candidates_.push_back({at_ns, bytes, at_step}); }

// Of the candidates from index `from` on, for a part that begins at `begin_bytes`.
const CutPlan::Candidate& CutPlan::choose(std::size_t from, std::uint64_t begin_bytes, std::uint64_t most_bytes) const {
  const Candidate* best = &candidates_[from];
  const Candidate* step = nullptr;
  for (std::size_t i = from; i < candidates_.size() && candidates_[i].bytes - begin_bytes <= most_bytes; ++i) {
    best = &candidates_[i];
    if (best->at_step && best->bytes - begin_bytes >= most_bytes / 2) step = best;
  }
  return step != nullptr ? *step : *best;
}

std::vector<CutPlan::Cut> CutPlan::cuts(std::uint64_t total_bytes) const {
  const std::uint64_t end = std::max(total_bytes, noted_bytes_);
  const double growth = static_cast<double>(end) / static_cast<double>(std::max<std::uint64_t>(total_bytes, 1));
  const auto limit = static_cast<std::uint64_t>(static_cast<double>(limit_bytes_) * growth);
  // For what a part has besides: names that it says again, tracks opened again, counters begun again, its end.
  const std::uint64_t room = limit - limit / 16;
  const std::uint64_t most = room > 2 * head_bytes_ ? room - head_bytes_ : std::max<std::uint64_t>(room / 2, 1);
  std::vector<Cut> cuts;
  std::uint64_t begin = head_bytes_;
  for (std::size_t from = 0; from < candidates_.size() && end - begin > most;) {
    const Candidate& candidate = choose(from, begin, most);
    cuts.push_back({candidate.at_ns, candidate.at_step});
    begin = candidate.bytes;
    from = static_cast<std::size_t>(&candidate - candidates_.data()) + 1;
  }
  return cuts;
}

}  // namespace cli
