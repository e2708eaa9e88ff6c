#include "cli/answers/compare/run_profile.h"

#include <algorithm>

namespace cli {

void StepSums::add(std::size_t step, std::int64_t ns, std::int64_t count) {
  constexpr std::size_t kNear = 4;
  for (std::size_t back = 1; back <= std::min(kNear, entries_.size()); ++back) {
    Entry& entry = entries_[entries_.size() - back];
    if (entry.step != step) continue;
    entry.ns += ns;
    entry.count += count;
    return;
  }
  entries_.push_back({step, ns, count});
}

std::vector<std::int64_t> StepSums::all(std::size_t steps, std::int64_t Entry::*what) const {
  std::vector<std::int64_t> values(steps);
  for (const Entry& entry : entries_) values[entry.step] += entry.*what;
  return values;
}

}  // namespace cli
